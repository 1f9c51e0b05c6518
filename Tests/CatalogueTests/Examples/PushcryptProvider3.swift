import Pushcrypt

/// A sealed picture: the file to store, and the reference for messages that show it.
struct SealedPicture: Sendable {
    let file: ContiguousArray<UInt8>
    let reference: AttachmentReference

    init(_ picture: ContiguousArray<UInt8>, at url: String, by sealer: Sealer) throws {
        var first = AttachmentSealer.FirstPass()
        first.update(picture.span)
        var second = first.sealer(for: sealer)
        var file: ContiguousArray<UInt8> = []
        try second.seal(picture.span, into: &file)
        let sealed = try second.finish(into: &file)
        self.file = file
        reference = try AttachmentReference(url: url, file: sealed, type: "public.jpeg", name: "table.jpg")
    }
}

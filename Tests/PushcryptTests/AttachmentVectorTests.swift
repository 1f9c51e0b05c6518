import Testing

@testable import Pushcrypt

/// Attachments, as `Tests/Vectors/attachments.json` has them.
@Suite struct AttachmentVectorTests {
    typealias Vectors = AttachmentVectors

    @Test(.vectors("attachments.json, seal"), arguments: try Vectors.file().seal)
    func aFileSealsToTheseBytes(_ vector: Vectors.Seal) throws {
        let sender = try SenderKey(seed: vector.senderSeed.bytes.span)
        let plain = vector.plain.bytes
        #expect(SHA256.digest(plain.span) == vector.plainSHA256.bytes)
        var first = AttachmentSealer.FirstPass()
        first.update(plain.span)
        var sealer = first.sealer(
            .key(sender), random: Ephemeral(copying: vector.r.bytes.span), header: vector.header.bytes)
        var sealed = Bytes()
        try sealer.seal(plain.span, into: &sealed)
        let file = try sealer.finish(into: &sealed)
        #expect(file.withKey { Bytes(copying: $0) } == vector.key.bytes)
        #expect(file.size == vector.size)
        #expect(file.sha256 == vector.sha256.bytes)
        #expect(UInt64(sealed.count) == vector.size)
        #expect(SHA256.digest(sealed.span) == vector.sha256.bytes)
        if let expected = vector.sealed { #expect(sealed == expected.bytes) }
    }

    /// In one piece; `AttachmentOpenerTests` has the others.
    @Test(.vectors("attachments.json, open"), arguments: try Vectors.file().open)
    func aSealedFileOpensOrNot(_ vector: Vectors.Open) throws {
        let (plain, code) = vector.opened(inPiecesOf: [max(1, vector.sealed.bytes.count)])
        #expect(code?.description ?? "opened" == vector.result.rawValue)
        guard vector.result == .opened else { return }
        #expect(plain.count == vector.plainSize)
        #expect(SHA256.digest(plain.span) == vector.plainSHA256?.bytes)
    }

    @Test(.vectors("attachments.json, references"), arguments: try Vectors.file().references)
    func aReferenceIsAcceptedOrNot(_ vector: Vectors.Reference) throws {
        do throws(AttachmentError) {
            let reference = try AttachmentReference(json: Bytes(vector.json.utf8))
            #expect(vector.result == .accepted)
            #expect(reference.url == vector.url)
            #expect(reference.type == vector.type)
            #expect(reference.name == vector.fileName)
            #expect(reference.file.size == vector.size)
            #expect(reference.file.sha256 == vector.sha256?.bytes)
            #expect(reference.file.withKey { Bytes(copying: $0) } == vector.key?.bytes)
        } catch {
            #expect(error.code.description == vector.result.rawValue, "\(error)")
        }
    }

    @Test(.vectors("attachments.json, lists"), arguments: try Vectors.file().lists)
    func aBadAttachmentDropsItselfOnly(_ vector: Vectors.List) throws {
        let list = AttachmentList(of: try JSONDocument(parsing: Bytes(vector.payload.utf8)).root)
        #expect(list.accepted.map(\.name) == vector.accepted)
        #expect(list.dropped.map(\.code.description) == vector.dropped)
    }
}

extension AttachmentVectors.Open {
    /// What its reference says of the file.
    var file: SealedFile { SealedFile(key: Ephemeral(copying: key.bytes.span), size: size, sha256: sha256.bytes) }

    /// The vector of this name.
    static func named(_ name: String) throws -> Self {
        try #require(AttachmentVectors.file().open.first { $0.name == name })
    }

    /// Opens the file in pieces of these sizes, over and over: what was given out, and the code of what was thrown.
    func opened(inPiecesOf sizes: [Int]) -> (plain: Bytes, code: AttachmentError.Code?) {
        let sealed = sealed.bytes
        var plain = Bytes()
        do throws(AttachmentError) {
            var opener = AttachmentOpener(file)
            var (position, number) = (0, 0)
            while position < sealed.count {
                let end = min(sealed.count, position + sizes[number % sizes.count])
                try opener.open(sealed.span.extracting(position..<end), into: &plain)
                (position, number) = (end, number + 1)
            }
            try opener.finish(into: &plain)
            return (plain, nil)
        } catch {
            return (plain, error.code)
        }
    }
}

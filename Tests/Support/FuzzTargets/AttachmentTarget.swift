@testable import Pushcrypt

/// A sealed file in pieces: however it is cut it gives the same, only the file that was sealed opens, and no byte comes out that
/// was not sealed.
///
/// Input: what the file is, and what its reference says; four lengths of pieces; then a file, edits of a genuine one, or the chunks
/// that the harness seals.
struct AttachmentTarget: FuzzTarget {
    static let name = "attachment"

    private static let key = Bytes(repeating: 0x44, count: SecretStream.keyLength)
    private static let otherKey = Bytes(repeating: 0x45, count: SecretStream.keyLength)
    private static let header = Bytes(repeating: 0x46, count: SecretStream.headerLength)
    private static let chunkLength = AttachmentFormat.chunkLength

    /// A file as it is before and after.
    private struct File {
        let plain: Bytes
        let sealed: Bytes

        /// - Parameter chunks: their plain lengths, and their tags.
        init(_ chunks: [(length: Int, tag: UInt8)]) {
            let (key, header, prefix) = (AttachmentTarget.key, AttachmentTarget.header, AttachmentFormat.prefix)
            let writer = SecretStream.Writer(key: key.span, header: header.span)
            var plain = Bytes()
            var sealed = prefix + header
            for (number, chunk) in chunks.enumerated() {
                let bytes = Bytes(repeating: UInt8(truncatingIfNeeded: number + 1), count: chunk.length)
                plain.append(contentsOf: bytes)
                let tag = SecretStream.Tag(rawValue: chunk.tag)
                sealed.append(contentsOf: writer.push(bytes.span, tag: tag, authenticating: prefix.span))
            }
            self.plain = plain
            self.sealed = sealed
        }
    }

    /// The outcome of a file.
    private struct Outcome {
        var plain = Bytes()
        var failure: AttachmentError.Code?
    }

    private let small = [0, 1, 100].map { File([($0, 3)]) }
    private let large =
        [File([(chunkLength - 1, 3)]), File([(chunkLength, 3)])]
        + [1, 40, chunkLength].map { File([(chunkLength, 0), ($0, 3)]) }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let (form, fault) = (choices.byte(), choices.byte() & 7)
        let cuts = choices.bytes(4)
        let file: File?
        var sealed: Bytes
        var isGenuine = false
        switch form & 3 {
        case 0:
            file = nil
            sealed = choices.rest()
        case 1, 2:
            let files = form & 3 == 1 ? small : large
            let original = files[Int(form >> 2) % files.count]
            file = original
            sealed = original.sealed
            sealed.edit(&choices)
            isGenuine = sealed.count == original.sealed.count && sealed.begins(with: original.sealed)
        default:
            let chunks = (0...(form >> 2) % 3).map { _ in
                let (length, tag) = (Int(choices.byte()), choices.byte())
                return (length: length == 0xff ? Self.chunkLength : length, tag: tag)
            }
            let made = File(chunks)
            file = made
            sealed = made.sealed
            isGenuine = Self.areLawful(chunks)
        }
        check(sealed, of: file, isGenuine: isGenuine && !(1...4).contains(fault), fault: fault, cuts)
    }

    /// Full chunks, and a last one that ends the file; it is empty in the empty file alone.
    private static func areLawful(_ chunks: [(length: Int, tag: UInt8)]) -> Bool {
        guard let last = chunks.last else { return false }
        return chunks.dropLast().allSatisfy { $0.length == chunkLength && $0.tag == 0 } && last.tag == 3
            && (last.length > 0 || chunks.count == 1)
    }

    private func check(_ sealed: Bytes, of file: File?, isGenuine: Bool, fault: UInt8, _ cuts: Bytes) {
        var hash = SHA256.digest(sealed.span)
        if fault == 1 { hash[31] ^= 1 }
        let size = UInt64(sealed.count) &+ (fault == 2 ? 1 : fault == 3 ? UInt64.max : 0)
        let key = fault == 4 ? Self.otherKey : Self.key
        let reference = SealedFile(key: Ephemeral(copying: key.span), size: size, sha256: hash)

        let whole = open(sealed, reference) { _ in sealed.count }
        let unit = sealed.count / 256 + 1
        let pieces = open(sealed, reference) { number in
            let cut = Int(cuts[number % cuts.count])
            return cut == 0xff && number % 2 == 1 ? 0 : max(1, sealed.count / 512) + cut * unit
        }
        require(
            whole.failure == pieces.failure, "attachment: a file in pieces fails as in one, \(whole.failure as Any)")
        require((whole.failure == nil) == isGenuine, "attachment: genuine files open, and no others")
        for outcome in [whole, pieces] {
            let plain = file?.plain ?? []
            require(plain.begins(with: outcome.plain), "attachment: no byte comes out that was not sealed")
            require(
                outcome.failure != nil || outcome.plain.count == plain.count,
                "attachment: all of an opened file comes out")
        }
    }

    private func open(_ sealed: Bytes, _ reference: SealedFile, pieceLength: (Int) -> Int) -> Outcome {
        var opener = AttachmentOpener(reference)
        var outcome = Outcome()
        do throws(AttachmentError) {
            var (position, number) = (0, 0)
            while position < sealed.count {
                let end = min(sealed.count, position + pieceLength(number))
                try opener.open(sealed.span.extracting(position..<end), into: &outcome.plain)
                (position, number) = (end, number + 1)
            }
            try opener.finish(into: &outcome.plain)
        } catch {
            outcome.failure = error.code
        }
        return outcome
    }
}

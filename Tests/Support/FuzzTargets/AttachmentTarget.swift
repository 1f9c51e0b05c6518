@testable import Pushcrypt

/// A sealed file in pieces: however it is cut it gives the same, only the file that was sealed opens, and no byte comes out that
/// was not sealed.
///
/// Input: what the file is, and what its reference says; four lengths of pieces; then a file, edits of a genuine one, or the chunks
/// that the harness seals.
struct AttachmentTarget: FuzzTarget {
    static let name = "attachment"

    private static let key = Bytes(repeating: 0x44, count: 32)
    private static let otherKey = Bytes(repeating: 0x45, count: 32)
    private static let header = Bytes("PCA2".utf8) + [0x10]
    private static let chunkLength = 65_536

    /// A file as it is before and after.
    private struct File {
        let plain: Bytes
        let sealed: Bytes

        /// - Parameter chunks: their plain lengths, and the last bytes of their nonces.
        init(_ chunks: [(length: Int, flag: UInt8)]) {
            let (key, header) = (AttachmentTarget.key, AttachmentTarget.header)
            var plain = Bytes()
            var sealed = header
            for (number, chunk) in chunks.enumerated() {
                let bytes = Bytes(repeating: UInt8(truncatingIfNeeded: number + 1), count: chunk.length)
                plain.append(contentsOf: bytes)
                let nonce = Bytes(repeating: 0, count: 10) + [UInt8(number), chunk.flag]
                KnownKeys.known { () throws(SodiumRefusal) in
                    try ChaCha20Poly1305.seal(
                        bytes.span, key: key.span, nonce: nonce.span, authenticating: header.span,
                        appendingTo: &sealed)
                }
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

    private let small = [0, 1, 100].map { File([($0, 1)]) }
    private let large =
        [File([(chunkLength - 1, 1)]), File([(chunkLength, 1)])]
        + [1, 40, chunkLength].map { File([(chunkLength, 0), ($0, 1)]) }

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
                let (length, flag) = (Int(choices.byte()), choices.byte())
                return (length: length == 0xff ? Self.chunkLength : length, flag: flag)
            }
            let made = File(chunks)
            file = made
            sealed = made.sealed
            isGenuine = Self.areLawful(chunks)
        }
        check(sealed, of: file, isGenuine: isGenuine && !(1...4).contains(fault), fault: fault, cuts)
    }

    /// Full chunks, and a last one that ends the file; it is empty in the empty file alone.
    private static func areLawful(_ chunks: [(length: Int, flag: UInt8)]) -> Bool {
        guard let last = chunks.last else { return false }
        return chunks.dropLast().allSatisfy { $0.length == chunkLength && $0.flag == 0 } && last.flag == 1
            && (last.length > 0 || chunks.count == 1)
    }

    private func check(_ sealed: Bytes, of file: File?, isGenuine: Bool, fault: UInt8, _ cuts: Bytes) {
        var hash = SHA256.digest(sealed.span)
        if fault == 1 { hash[31] ^= 1 }
        let size = UInt64(sealed.count) &+ (fault == 2 ? 1 : fault == 3 ? UInt64.max : 0)
        // No reference has the size of a file with an unfinished chunk, or with an empty one behind others.
        let rest = size < 5 ? 1 : (size - 5) % UInt64(Self.chunkLength + 16)
        let isPossible = size < 1 << 53 && (size == 21 || size > 21 && !(1...16).contains(rest))
        require(AttachmentFormat.isSize(size) == isPossible, "attachment: only the size of a file is one")
        guard isPossible else { return require(!isGenuine, "attachment: a genuine file has a possible size") }
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

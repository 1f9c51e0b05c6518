import Pushcrypt
import Testing

/// `Tests/Data/Vectors/attachments.json`.
struct AttachmentVectors: Codable {
    /// A file that is sealed; `sealed` is there when it is short.
    struct Seal: FormatVector {
        let name: String
        let signingSeed: Hex
        let hedgeKey: Hex
        let r: Hex
        let plain: Runs
        let plainSHA256: Hex
        let key: Hex
        let size: UInt64
        let sha256: Hex
        let sealed: Runs?
    }

    let seal: [Seal]

    static func file() throws -> AttachmentVectors { try FormatVectors.read("attachments.json") }
}

/// Bytes in hexadecimal digits; a long run of one byte is written as `00*65536`.
struct Runs: Codable, Sendable {
    let pieces: [String]
    let bytes: Bytes

    init(from decoder: any Decoder) throws {
        pieces = try decoder.singleValueContainer().decode([String].self)
        var bytes = Bytes()
        for piece in pieces {
            let parts = piece.split(separator: "*", omittingEmptySubsequences: false)
            let count = parts.count == 1 ? 1 : Int(parts[1])
            guard parts.count <= 2, let run = Hex(String(parts[0])), let count, parts.count == 1 || run.bytes.count == 1
            else { throw FormatVectors.Failure("not a run of bytes: \(piece)") }
            bytes.append(contentsOf: parts.count == 1 ? run.bytes : Bytes(repeating: run.bytes[0], count: count))
        }
        self.bytes = bytes
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(pieces)
    }
}

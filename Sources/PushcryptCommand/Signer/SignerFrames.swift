internal import Pushcrypt

/// The bytes between a client and a signer in another process. (`Docs/SignerProtocol.md`, Frames)
enum SignerFrames {
    static let maximumRequest = 4096
    static let maximumReply = 1024
    /// The id and the kind, or the status.
    static let overhead = 5
    /// What a request for the public key says.
    static let greeting = ContiguousArray("pushcrypt-signer/1".utf8)

    enum Kind: UInt8 {
        case publicKey = 0x01
        case sign = 0x02
    }

    enum Status: UInt8 {
        case done = 0x00
        case refused = 0x01
    }

    /// An answer as it came; nothing in it has been checked but its form.
    struct Reply: Equatable {
        let id: UInt32
        let status: Status
        let body: ContiguousArray<UInt8>
    }

    /// A reply that is none.
    struct Malformed: Error, Equatable {}

    /// Appends a request; the caller has checked that the body is 1…4091 bytes.
    static func append(
        _ kind: Kind, id: UInt32, _ body: ContiguousArray<UInt8>, to output: inout ContiguousArray<UInt8>
    ) {
        output.append(bigEndian: UInt32(overhead + body.count))
        output.append(bigEndian: id)
        output.append(kind.rawValue)
        output.append(contentsOf: body)
    }

    /// The reply that begins at `start`, and where it ends; nil when it is not all there yet.
    static func reply(in input: Span<UInt8>, at start: Int) throws(Malformed) -> (Reply, end: Int)? {
        let input = input.extracting(start...)
        guard input.count >= 4 else { return nil }
        let length = Int(number(input, at: 0))
        // Checked before the rest is waited for: a length is all that a false reply needs to hold a client up.
        guard (overhead...maximumReply).contains(length) else { throw Malformed() }
        guard input.count >= 4 + length else { return nil }
        guard let status = Status(rawValue: input[8]) else { throw Malformed() }
        let body = ContiguousArray(copying: input.extracting(9..<4 + length))
        return (Reply(id: number(input, at: 4), status: status, body: body), start + 4 + length)
    }

    private static func number(_ bytes: Span<UInt8>, at start: Int) -> UInt32 {
        (start..<start + 4).reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    }
}

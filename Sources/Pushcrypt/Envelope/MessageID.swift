/// Names one message, the same in every re-seal of it, so that a receiver shows it once; 16 bytes.
///
/// (`Docs/Format.md`, Randomness and Replay)
public struct MessageID: Hashable, Sendable, CustomStringConvertible {
    /// The length in bytes.
    public static let length = 16

    /// The 16 bytes.
    public let bytes: ContiguousArray<UInt8>

    /// Takes 16 bytes, or gives nil for another length.
    public init?(bytes: Span<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = ContiguousArray(copying: bytes)
    }

    /// The id of a message that the caller names, for example by the id of a row in its queue: the same name gives the
    /// same id, so that a retry is shown once. The name itself does not travel.
    public init(callerName name: String) {
        let hash = SHA256()
        hash.update("pushcrypt/1 caller id\0")
        hash.update(ContiguousArray(name.utf8).span)
        self.init(prefixOf: hash.finish())
    }

    init(prefixOf digest: ContiguousArray<UInt8>) {
        bytes = ContiguousArray(digest.prefix(Self.length))
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { bytes.hex }
}

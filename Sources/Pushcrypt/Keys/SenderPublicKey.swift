/// A provider's public key: what a device trusts. Ed25519, 32 bytes; as text `pcs1…`, 62 characters.
///
/// Every value of this type has passed the import check: canonical, on the curve, of prime order.
/// (`Docs/Format.md`, Keys as text)
public struct SenderPublicKey: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The length in bytes.
    public static let length = 32
    /// The length of a signature that it verifies, in bytes.
    package static let signatureLength = Ed25519.signatureLength

    /// The 32 bytes of the encoded point (RFC 8032).
    public let bytes: ContiguousArray<UInt8>

    /// The first 4 bytes of a hash of the key: a hint, not an identity.
    ///
    /// Kept, because every message asks each trusted key for it.
    public let id: KeyID

    /// Takes 32 bytes; throws `malformedKey` for another length, `weakKey` for a point that is not canonical, not on the
    /// curve, or not of prime order.
    public init(bytes: Span<UInt8>) throws(KeyError) {
        guard bytes.count == Self.length else {
            throw KeyError(.malformedKey, "a sender's public key has \(Self.length) bytes, this has \(bytes.count)")
        }
        guard Ed25519.isValidPublicKey(bytes) else {
            throw KeyError(.weakKey, "this public key is not one a sender makes: signatures under it could be forged")
        }
        self.init(checked: ContiguousArray(copying: bytes))
    }

    /// Takes what passed the import check before: computed from a seed, or read from an authenticated row.
    package init(checked bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
        id = KeyID(of: bytes.span, type: .ed25519)
    }

    /// Reads `pcs1…`, one trailing newline allowed; throws `malformedKey`, `wrongChecksum`, `wrongKind` or `weakKey`.
    public init(text: String) throws(KeyError) {
        let characters = ContiguousArray(text.utf8)
        let key = try Bech32.decode(characters.span, as: .senderPublic)
        self = try key.withSpan { (bytes) throws(KeyError) in try SenderPublicKey(bytes: bytes) }
    }

    /// Reads `pcs1…`, or gives nil.
    public init?(_ description: String) {
        guard let key = try? SenderPublicKey(text: description) else { return nil }
        self = key
    }

    /// The key as `pcs1…`.
    public var description: String { Bech32.string(bytes.span, as: .senderPublic) }
}

/// A device's secret key: what opens. An X25519 scalar of 32 bytes; as text `PCR-SECRET-1…`, 70 characters.
///
/// The scalar lies in guarded memory, is wiped when the last reference goes, and is never printed. A reference shares the
/// one copy. A key belongs to one device and never leaves it. (`Docs/Format.md`, Keys as text)
public final class DeviceKey: Sendable {
    /// The public half.
    public let publicKey: DevicePublicKey

    private let scalar: SecretBytes

    /// Makes a new key from the system's random source.
    public convenience init() {
        self.init(SecretBytes(randomCount: X25519.keyLength))
    }

    /// Reads the ASCII of `PCR-SECRET-1…`, one trailing newline allowed; the caller wipes the text.
    ///
    /// Bytes and not a `String`, because a string cannot be wiped. Throws `malformedKey`, `wrongChecksum` or `wrongKind`.
    public convenience init(text: Span<UInt8>) throws(KeyError) {
        let scalar = try Bech32.decode(text, as: .deviceSecret)
        self.init(scalar.withSpan { SecretBytes(copying: $0) })
    }

    /// Takes a copy of the 32 bytes of a scalar, which the caller wipes.
    package convenience init(scalar: Span<UInt8>) throws(KeyError) {
        guard scalar.count == X25519.keyLength else {
            throw KeyError(.malformedKey, "a device's secret key has \(X25519.keyLength) bytes")
        }
        self.init(SecretBytes(copying: scalar))
    }

    init(_ scalar: consuming SecretBytes) {
        // Clamping makes every 32-byte scalar a valid key, so nothing is refused here.
        guard let point = try? scalar.withSpan({ (bytes) throws(SodiumRefusal) in try X25519.publicKey(of: bytes) })
        else {
            preconditionFailure("libsodium refused a scalar of 32 bytes")
        }
        publicKey = DevicePublicKey(checked: point)
        self.scalar = scalar
        Sodium.wipeStack()
    }

    /// Gives the key's text to `body` and wipes it afterwards; what `body` keeps is the caller's to guard.
    public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let text = withScalar { Bech32.encode($0, as: .deviceSecret) }
        return try text.withSpan(body)
    }

    /// Reads the scalar; nothing that `body` returns may hold a copy of it.
    package func withScalar<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try scalar.withSpan(body)
    }
}

extension DeviceKey: CustomStringConvertible, CustomReflectable {
    /// The public key: a secret key prints nothing else.
    public var description: String { "DeviceKey(\(publicKey))" }

    /// The public key, and nothing below it.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

internal import Pushcrypt

/// A passphrase that opens a key store, in guarded memory; it prints nothing.
///
/// The caller wipes the bytes it came from: bytes and not a `String`, because a string cannot be wiped.
public final class StorePassphrase: Sendable {
    /// The longest passphrase in bytes.
    public static let maximumLength = 1024

    private let secret: SecretBytes

    /// Takes a copy of 1 to 1024 bytes, exactly as they are; throws `invalidPassphrase`.
    public init(_ bytes: Span<UInt8>) throws(KeyStoreError) {
        guard (1...Self.maximumLength).contains(bytes.count) else {
            throw KeyStoreError(
                .invalidPassphrase,
                bytes.isEmpty
                    ? "the passphrase is empty" : "the passphrase is longer than \(Self.maximumLength) bytes")
        }
        secret = SecretBytes(copying: bytes)
    }

    func storeKey(salt: Span<UInt8>, cost: StoreKDF.Cost) throws(SodiumRefusal) -> SecretBytes {
        try secret.withSpan { (text) throws(SodiumRefusal) in
            try StoreKDF.key(passphrase: text, salt: salt, cost: cost)
        }
    }
}

extension StorePassphrase: CustomStringConvertible, CustomReflectable {
    /// Says only that there is one.
    public var description: String { "StorePassphrase" }

    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

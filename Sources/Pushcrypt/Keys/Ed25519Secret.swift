/// An Ed25519 seed in guarded memory, with what is derived from it: the public half and the hedge key.
///
/// All references share the memory, which is wiped with the last one. It prints nothing.
package final class Ed25519Secret: Sendable {
    /// The public half, 32 bytes.
    package let publicKey: ContiguousArray<UInt8>

    /// libsodium's secret key (seed || public key), then HMAC's state under the hedge key.
    private let secret: SecretBytes

    private static let hedgeRange = Ed25519.secretKeyLength..<Ed25519.secretKeyLength + HMACSHA256.stateLength

    /// Takes a seed of 32 bytes.
    init(_ seed: consuming Ephemeral) {
        var secretKey = Ephemeral(count: Ed25519.secretKeyLength)
        secretKey.withMutableBytes { output in
            seed.withSpan { Ed25519.expand(seed: $0, into: &output) }
        }
        let hedgeKey = seed.withSpan { seed in
            let hmac = HMACSHA256(key: seed)
            hmac.update("pushcrypt/1 hedge\0")
            return hmac.finish()
        }
        let hedge = hedgeKey.withSpan { HMACSHA256(key: $0) }
        secret = SecretBytes(count: Self.hedgeRange.upperBound) { output in
            secretKey.withSpan { output.write($0, at: 0) }
            hedge.write(stateTo: &output, at: Self.hedgeRange.lowerBound)
        }
        publicKey = secret.withSpan { secret in
            ContiguousArray(copying: secret.extracting(Ed25519.seedLength..<Ed25519.secretKeyLength))
        }
    }

    /// Calls `body` with the seed; its result must not contain a copy.
    func withSeed<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSpan { (secret) throws(E) in try body(secret.extracting(0..<Ed25519.seedLength)) }
    }

    /// Returns an HMAC under the hedge key, for a hedged value. (`Docs/Format.md`, Randomness)
    func hedged() -> HMACSHA256 {
        secret.withSpan { HMACSHA256(state: $0.extracting(Self.hedgeRange)) }
    }

    /// Signs a message; returns 64 bytes.
    func signature(of message: Span<UInt8>) -> ContiguousArray<UInt8> {
        let signature = secret.withSpan {
            Ed25519.signature(of: message, secretKey: $0.extracting(0..<Ed25519.secretKeyLength))
        }
        Sodium.wipeStack()
        return signature
    }
}

extension Ed25519Secret: CustomStringConvertible, CustomReflectable {
    /// Nothing secret is printed.
    package var description: String { "Ed25519Secret" }

    /// Nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

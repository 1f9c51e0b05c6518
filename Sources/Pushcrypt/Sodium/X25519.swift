#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// X25519 (RFC 7748).
enum X25519 {
    static let keyLength = 32

    /// The public key of a scalar; libsodium clamps the scalar as RFC 7748 says.
    static func publicKey(of scalar: Span<UInt8>) throws(SodiumRefusal) -> ContiguousArray<UInt8> {
        guard scalar.count == keyLength else { throw SodiumRefusal() }
        _ = Sodium.started
        var code: Int32 = -1
        let point = unsafe ContiguousArray(count: keyLength) { output in
            code = unsafe scalar.withBase { n, _ in unsafe crypto_scalarmult_curve25519_base(output, n) }
        }
        guard code == 0 else { throw SodiumRefusal() }
        return point
    }

    /// The Diffie-Hellman result; refused when it is all zero (RFC 9180 7.1.4), by libsodium's return code.
    static func sharedSecret(
        scalar: Span<UInt8>, publicKey: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        guard scalar.count == keyLength, publicKey.count == keyLength else { throw SodiumRefusal() }
        _ = Sodium.started
        var secret = Ephemeral(count: keyLength)
        let code = secret.withMutableSpan { output in
            unsafe output.withMutableBase { base, _ in
                unsafe scalar.withBase { n, _ in
                    unsafe publicKey.withBase { p, _ in unsafe crypto_scalarmult_curve25519(base, n, p) }
                }
            }
        }
        guard code == 0 else { throw SodiumRefusal() }
        return secret
    }
}

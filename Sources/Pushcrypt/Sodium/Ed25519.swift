#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// Ed25519 (RFC 8032).
package enum Ed25519 {
    package static let seedLength = 32
    package static let publicKeyLength = 32
    package static let secretKeyLength = 64  // libsodium's form: seed || public key
    package static let signatureLength = 64

    /// (L + 1) / 2 for the prime order L of the base point, little-endian: half of a point of order L.
    private static let halfScalar: ContiguousArray<UInt8> = [
        0xf7, 0xe9, 0x7a, 0x2e, 0x8d, 0x31, 0x09, 0x2c, 0x6b, 0xce, 0x7b, 0x51, 0xef, 0x7c, 0x6f, 0x0a,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08,
    ]

    /// Writes the 64-byte secret key of a seed.
    package static func expand(seed: Span<UInt8>, into secretKey: inout MutableSpan<UInt8>) {
        precondition(seed.count == seedLength && secretKey.count == secretKeyLength)
        _ = Sodium.started
        // The public key comes out a second time; libsodium's secret key already ends with it.
        _ = unsafe ContiguousArray(count: publicKeyLength) { point in
            let code = unsafe secretKey.withMutableBase { secret, _ in
                unsafe seed.withBase { s, _ in unsafe crypto_sign_ed25519_seed_keypair(point, secret, s) }
            }
            Sodium.expectSuccess(code)
        }
    }

    /// Signs `message` with a 64-byte secret key into 64 bytes.
    package static func sign(
        _ message: Span<UInt8>, secretKey: Span<UInt8>, into signature: inout MutableSpan<UInt8>
    ) {
        precondition(secretKey.count == secretKeyLength && signature.count == signatureLength)
        _ = Sodium.started
        let code = unsafe signature.withMutableBase { output, _ in
            unsafe message.withBase { m, count in
                unsafe secretKey.withBase { key, _ in
                    unsafe crypto_sign_ed25519_detached(output, nil, m, UInt64(count), key)
                }
            }
        }
        Sodium.expectSuccess(code)
    }

    package static func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>, publicKey: Span<UInt8>) -> Bool {
        guard signature.count == signatureLength, publicKey.count == publicKeyLength else { return false }
        _ = Sodium.started
        return unsafe signature.withBase { s, _ in
            unsafe message.withBase { m, count in
                unsafe publicKey.withBase { p, _ in
                    unsafe crypto_sign_ed25519_verify_detached(s, m, UInt64(count), p) == 0
                }
            }
        }
    }

    /// Tells whether a public key is canonical, on the curve, and of prime order.
    ///
    /// libsodium 1.0.18's own check passes some points of mixed order (CVE-2025-69277), so the order is checked once more:
    /// for Q = [(L+1)/2]P, Q + Q equals P only if the order of P divides L.
    package static func isValidPublicKey(_ point: Span<UInt8>) -> Bool {
        guard point.count == publicKeyLength else { return false }
        _ = Sodium.started
        guard unsafe point.withBase({ p, _ in unsafe crypto_core_ed25519_is_valid_point(p) }) == 1 else { return false }
        var multiplied: Int32 = -1
        var added: Int32 = -1
        let half = unsafe ContiguousArray(count: publicKeyLength) { q in
            multiplied = unsafe halfScalar.span.withBase { n, _ in
                unsafe point.withBase { p, _ in unsafe crypto_scalarmult_ed25519_noclamp(q, n, p) }
            }
        }
        guard multiplied == 0 else { return false }
        let whole = unsafe ContiguousArray(count: publicKeyLength) { sum in
            added = unsafe half.span.withBase { q, _ in unsafe crypto_core_ed25519_add(sum, q, q) }
        }
        return added == 0 && Sodium.areEqual(whole.span, point)
    }
}

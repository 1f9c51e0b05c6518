#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// X25519 (RFC 7748).
enum X25519 {
    static let keyLength = 32

    /// Returns the public key of a scalar, which libsodium clamps as RFC 7748 requires.
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

    /// Returns the Diffie-Hellman result; throws if it is all zero (RFC 9180, section 7.1.4), as libsodium reports.
    static func sharedSecret(
        scalar: Span<UInt8>, publicKey: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        guard scalar.count == keyLength, publicKey.count == keyLength else { throw SodiumRefusal() }
        _ = Sodium.started
        var secret = Ephemeral(count: keyLength)
        let code = secret.withMutableBytes { output in
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

/// Ed25519 (RFC 8032).
enum Ed25519 {
    static let seedLength = 32
    static let publicKeyLength = 32
    static let secretKeyLength = 64  // libsodium's form: seed || public key
    static let signatureLength = 64

    /// 5L - 1 for the prime order L of the base point, little-endian: a multiple of 8 with bit 254 set and bit 255
    /// clear, so that clamping leaves it as it is, and -1 modulo L.
    private static let minusOne: ContiguousArray<UInt8> = [
        0xa0, 0x23, 0xcd, 0xd0, 0x83, 0xef, 0x5b, 0xb8, 0x2f, 0x10, 0xd6, 0x2e, 0x59, 0xe1, 0x5a, 0x68,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50,
    ]

    /// Writes the 64-byte secret key of a seed.
    static func expand(seed: Span<UInt8>, into secretKey: inout MutableBytes) {
        precondition(seed.count == seedLength && secretKey.count == secretKeyLength)
        _ = Sodium.started
        // The public key is written twice: libsodium's secret key already ends with it.
        _ = unsafe ContiguousArray(count: publicKeyLength) { point in
            let code = unsafe secretKey.withMutableBase { secret, _ in
                unsafe seed.withBase { s, _ in unsafe crypto_sign_ed25519_seed_keypair(point, secret, s) }
            }
            Sodium.expectSuccess(code)
        }
    }

    /// Signs `message` with a 64-byte secret key; returns 64 bytes.
    static func signature(of message: Span<UInt8>, secretKey: Span<UInt8>) -> ContiguousArray<UInt8> {
        precondition(secretKey.count == secretKeyLength)
        _ = Sodium.started
        return unsafe ContiguousArray(count: signatureLength) { output in
            let code = unsafe message.withBase { m, count in
                unsafe secretKey.withBase { key, _ in
                    unsafe crypto_sign_ed25519_detached(output, nil, m, UInt64(count), key)
                }
            }
            Sodium.expectSuccess(code)
        }
    }

    static func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>, publicKey: Span<UInt8>) -> Bool {
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

    /// Returns whether a public key is canonical, on the curve and of prime order.
    ///
    /// libsodium 1.0.18's own check of the order accepts some points of mixed order (CVE-2025-69277), so the order is
    /// checked again, on the Montgomery form of the point. Only functions of libsodium's minimal build are used,
    /// because swift-sodium contains that build.
    static func isValidPublicKey(_ point: Span<UInt8>) -> Bool {
        guard point.count == publicKeyLength, isCanonical(point) else { return false }
        _ = Sodium.started
        var converted: Int32 = -1
        // Refuses points off the curve, points of small order, and most points of mixed order.
        let u = unsafe ContiguousArray(count: X25519.keyLength) { output in
            converted = unsafe point.withBase { p, _ in unsafe crypto_sign_ed25519_pk_to_curve25519(output, p) }
        }
        return converted == 0 && hasPrimeOrder(montgomery: u.span)
    }

    /// Returns whether a point, given by its u-coordinate, has order L.
    ///
    /// Let P = Q + T with Q of order L and T of an order that divides 8. Then [5L - 1]P = -Q, which has the
    /// u-coordinate of P only if T is the identity.
    static func hasPrimeOrder(montgomery u: Span<UInt8>) -> Bool {
        guard let multiple = try? X25519.sharedSecret(scalar: minusOne.span, publicKey: u) else { return false }
        return multiple.withSpan { Sodium.areEqual($0, u) }
    }

    /// Whether the y-coordinate is below p = 2^255 - 19; bit 255 is the sign of x.
    private static func isCanonical(_ point: Span<UInt8>) -> Bool {
        guard point[31] & 0x7f == 0x7f, point[0] >= 0xed else { return true }
        for index in 1..<31 where point[index] != 0xff { return true }
        return false
    }
}

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

    /// The y-coordinates of the points of order 4, 1, 2 and 8, little-endian.
    private static let smallOrder: [ContiguousArray<UInt8>] = [
        ContiguousArray(repeating: 0, count: 32),
        [1] + ContiguousArray(repeating: 0, count: 31),
        [0xec] + ContiguousArray(repeating: 0xff, count: 30) + [0x7f],
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
            0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
            0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
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

    /// Returns whether a signature verifies. Libraries differ on an R of small order, which under a key of mixed order
    /// may fit. [K-9]
    static func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>, publicKey: Span<UInt8>) -> Bool {
        guard signature.count == signatureLength, publicKey.count == publicKeyLength else { return false }
        guard !hasSmallOrder(signature.extracting(0..<publicKeyLength)) else { return false }
        _ = Sodium.started
        return unsafe signature.withBase { s, _ in
            unsafe message.withBase { m, count in
                unsafe publicKey.withBase { p, _ in
                    unsafe crypto_sign_ed25519_verify_detached(s, m, UInt64(count), p) == 0
                }
            }
        }
    }

    /// Returns whether a public key is canonical and not of small order. One that is no point of the curve verifies nothing.
    /// [K-7]
    static func isValidPublicKey(_ point: Span<UInt8>) -> Bool {
        point.count == publicKeyLength && isCanonical(point) && !hasSmallOrder(point)
    }

    /// Whether the y-coordinate is that of a point of small order. Points are public: the time may tell which.
    private static func hasSmallOrder(_ point: Span<UInt8>) -> Bool {
        smallOrder.contains { y in
            for index in 0..<31 where point[index] != y[index] { return false }
            return point[31] & 0x7f == y[31]
        }
    }

    /// Whether the y-coordinate is below p = 2^255 - 19; bit 255 is the sign of x.
    private static func isCanonical(_ point: Span<UInt8>) -> Bool {
        guard point[31] & 0x7f == 0x7f, point[0] >= 0xed else { return true }
        for index in 1..<31 where point[index] != 0xff { return true }
        return false
    }
}

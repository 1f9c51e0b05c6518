import CSodium

/// The calls that a forged envelope is made of, libsodium's own: nothing here goes through the code that is tested.
enum Primitives {
    static func start() {
        guard sodium_init() >= 0 else { fatalError("libsodium does not start") }
    }

    // MARK: Hashes

    static func sha256(_ input: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe crypto_hash_sha256(&digest, input, UInt64(input.count))
        return digest
    }

    static func hmac(_ key: [UInt8], _ input: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var tag = [UInt8](repeating: 0, count: 32)
        unsafe crypto_auth_hmacsha256_init(&state, key, key.count)
        unsafe crypto_auth_hmacsha256_update(&state, input, UInt64(input.count))
        unsafe crypto_auth_hmacsha256_final(&state, &tag)
        return tag
    }

    static func sha512(_ input: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 64)
        unsafe crypto_hash_sha512(&digest, input, UInt64(input.count))
        return digest
    }

    // MARK: X25519

    static func x25519Base(_ scalar: [UInt8]) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: 32)
        unsafe crypto_scalarmult_curve25519_base(&point, scalar)
        return point
    }

    /// The Diffie-Hellman result, or nil when it is all zero.
    static func x25519(_ scalar: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: 32)
        return unsafe crypto_scalarmult_curve25519(&result, scalar, point) == 0 ? result : nil
    }

    // MARK: Ed25519

    /// Seed and public key, 64 bytes.
    static func ed25519(seed: [UInt8]) -> [UInt8] {
        var (publicKey, secretKey) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64))
        unsafe crypto_sign_ed25519_seed_keypair(&publicKey, &secretKey, seed)
        return secretKey
    }

    static func sign(_ message: [UInt8], _ secretKey: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        unsafe crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secretKey)
        return signature
    }

    /// The sum of two points of the curve, of whatever order, or nil for what is no point.
    static func add(_ a: [UInt8], _ b: [UInt8]) -> [UInt8]? {
        var sum = [UInt8](repeating: 0, count: 32)
        return unsafe crypto_core_ed25519_add(&sum, a, b) == 0 ? sum : nil
    }

    /// The base point times a scalar that is below its order.
    static func edwardsBase(_ scalar: [UInt8]) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: 32)
        unsafe crypto_scalarmult_ed25519_base_noclamp(&point, scalar)
        return point
    }

    /// 64 bytes modulo the order of the base point.
    static func reduce(_ wide: [UInt8]) -> [UInt8] {
        var scalar = [UInt8](repeating: 0, count: 32)
        unsafe crypto_core_ed25519_scalar_reduce(&scalar, wide)
        return scalar
    }

    static func multiply(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
        var product = [UInt8](repeating: 0, count: 32)
        unsafe crypto_core_ed25519_scalar_mul(&product, a, b)
        return product
    }

    // MARK: ChaCha20-Poly1305

    /// Ciphertext and tag; no associated data.
    static func encrypt(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: plaintext.count + 16)
        unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
            &output, nil, plaintext, UInt64(plaintext.count), nil, 0, nil, nonce, key)
        return output
    }

    /// The plaintext, or nil when the tag is wrong.
    static func decrypt(_ ciphertext: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: ciphertext.count - 16)
        let code = unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
            &output, nil, nil, ciphertext, UInt64(ciphertext.count), nil, 0, nonce, key)
        return code == 0 ? output : nil
    }
}

/// A big-endian number of so many bytes.
func bigEndian(_ value: UInt64, _ width: Int) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(width - 1 - $0))) }
}

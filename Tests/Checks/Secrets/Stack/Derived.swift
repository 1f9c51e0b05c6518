import CSodium

/// Values derived from a secret, by libsodium alone.
enum Derived {
    static func sha512(_ input: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 64)
        unsafe crypto_hash_sha512(&digest, input, UInt64(input.count))
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

    /// The Diffie-Hellman result, or nil when it is all zero.
    static func x25519(_ scalar: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: 32)
        return unsafe crypto_scalarmult_curve25519(&result, scalar, point) == 0 ? result : nil
    }

    static func subkey(of key: [UInt8]) -> [UInt8] {
        var subkey = [UInt8](repeating: 0, count: 32)
        unsafe crypto_kdf_derive_from_key(&subkey, 32, 1, "pcstore1", key)
        return subkey
    }

    static func opens(_ ciphertext: [UInt8], key: [UInt8], nonce: [UInt8]) -> Bool {
        var output = [UInt8](repeating: 0, count: ciphertext.count - 16)
        return unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
            &output, nil, nil, ciphertext, UInt64(ciphertext.count), nil, 0, nonce, key) == 0
    }

    // MARK: RFC 9180, base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305

    static func messageKey(
        _ point: [UInt8], enc: [UInt8], recipient: [UInt8], header: [UInt8], topic: String
    ) -> (key: [UInt8], nonce: [UInt8]) {
        let kem = Array("KEM".utf8) + [0x00, 0x20]
        let hpke = Array("HPKE".utf8) + [0x00, 0x20, 0x00, 0x01, 0x00, 0x03]
        let info = Array("pushcrypt/1 envelope\0".utf8) + header + [0, UInt8(topic.utf8.count)] + Array(topic.utf8)
        let prk = extract([], kem, "eae_prk", point)
        let shared = expand(prk, kem, "shared_secret", enc + recipient, 32)
        let context = [0x00] + extract([], hpke, "psk_id_hash", []) + extract([], hpke, "info_hash", info)
        let secret = extract(shared, hpke, "secret", [])
        return (expand(secret, hpke, "key", context, 32), expand(secret, hpke, "base_nonce", context, 12))
    }

    private static func extract(_ salt: [UInt8], _ suite: [UInt8], _ label: String, _ input: [UInt8]) -> [UInt8] {
        hmac(salt, Array("HPKE-v1".utf8) + suite + Array(label.utf8) + input)
    }

    /// At most one block.
    private static func expand(
        _ prk: [UInt8], _ suite: [UInt8], _ label: String, _ info: [UInt8], _ length: UInt8
    ) -> [UInt8] {
        let input = [0, length] + Array("HPKE-v1".utf8) + suite + Array(label.utf8) + info + [1]
        return Array(hmac(prk, input)[..<Int(length)])
    }
}

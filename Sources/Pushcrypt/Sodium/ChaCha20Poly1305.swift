#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// ChaCha20-Poly1305 (RFC 8439): the AEAD of HPKE suite 0x0003.
enum ChaCha20Poly1305 {
    static let keyLength = 32
    static let nonceLength = 12
    static let tagLength = 16

    /// Appends ciphertext and tag, `plaintext.count + 16` bytes.
    static func seal(
        _ plaintext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, authenticating data: Span<UInt8>,
        appendingTo output: inout ContiguousArray<UInt8>
    ) throws(SodiumRefusal) {
        guard key.count == keyLength, nonce.count == nonceLength else { throw SodiumRefusal() }
        _ = Sodium.started
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: plaintext.count + tagLength))
        let code = unsafe output.withUnsafeMutableBufferPointer { buffer in
            unsafe plaintext.withBase { m, mCount in
                unsafe data.withBase { ad, adCount in
                    unsafe nonce.withBase { n, _ in
                        unsafe key.withBase { k, _ in
                            guard let base = buffer.baseAddress else { return Int32(-1) }
                            return unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                                base + start, nil, m, UInt64(mCount), ad, UInt64(adCount), nil, n, k)
                        }
                    }
                }
            }
        }
        guard code == 0 else { throw SodiumRefusal() }
    }

    /// Opens ciphertext and tag; refused, with nothing of the plaintext, unless the tag is right.
    static func open(
        _ ciphertext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        guard key.count == keyLength, nonce.count == nonceLength else { throw SodiumRefusal() }
        return try unsafe openAEAD(
            ciphertext, tagLength: tagLength, key: key, nonce: nonce, authenticating: data,
            with: crypto_aead_chacha20poly1305_ietf_decrypt)
    }
}

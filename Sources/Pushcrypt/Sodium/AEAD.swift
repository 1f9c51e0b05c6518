#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// The common signature of libsodium's AEAD decryption functions: message, its length, nsec, ciphertext, data, nonce,
/// key.
typealias AEADDecryption = (
    UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>,
    UInt64, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>, UnsafePointer<UInt8>
) -> Int32

/// Opens ciphertext and tag; throws, and returns no part of the plaintext, unless the tag is right. The caller has
/// checked the lengths of key and nonce.
func openAEAD(
    _ ciphertext: Span<UInt8>, tagLength: Int, key: Span<UInt8>, nonce: Span<UInt8>, authenticating data: Span<UInt8>,
    with decrypt: AEADDecryption
) throws(SodiumRefusal) -> Ephemeral {
    guard ciphertext.count >= tagLength else { throw SodiumRefusal() }
    _ = Sodium.started
    var plaintext = Ephemeral(count: ciphertext.count - tagLength)
    let code = plaintext.withMutableBytes { output in
        unsafe output.withMutableBase { m, _ in
            unsafe ciphertext.withBase { c, cCount in
                unsafe data.withBase { ad, adCount in
                    unsafe nonce.withBase { n, _ in
                        unsafe key.withBase { k, _ in
                            unsafe decrypt(m, nil, nil, c, UInt64(cCount), ad, UInt64(adCount), n, k)
                        }
                    }
                }
            }
        }
    }
    guard code == 0 else { throw SodiumRefusal() }
    return plaintext
}

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

    /// Opens ciphertext and tag; throws, and returns no part of the plaintext, unless the tag is right.
    static func open(
        _ ciphertext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        guard key.count == keyLength, nonce.count == nonceLength else { throw SodiumRefusal() }
        return try unsafe openAEAD(
            ciphertext, tagLength: tagLength, key: key, nonce: nonce, authenticating: data,
            with: crypto_aead_chacha20poly1305_ietf_decrypt)
    }
}

/// XChaCha20-Poly1305, for single values at rest, such as the secret columns of a key store.
package enum XChaCha20Poly1305 {
    package static let keyLength = 32
    package static let nonceLength = 24
    package static let tagLength = 16

    /// Seals under a fresh random nonce: nonce || ciphertext || tag, 40 bytes more than the plaintext.
    package static func seal(
        _ plaintext: Span<UInt8>, key: Span<UInt8>, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> ContiguousArray<UInt8> {
        guard key.count == keyLength else { throw SodiumRefusal() }
        var output = Sodium.randomBytes(nonceLength)
        output.append(contentsOf: repeatElement(0, count: plaintext.count + tagLength))
        let code = unsafe output.withUnsafeMutableBufferPointer { buffer in
            unsafe plaintext.withBase { m, mCount in
                unsafe data.withBase { ad, adCount in
                    unsafe key.withBase { k, _ in
                        guard let base = buffer.baseAddress else { return Int32(-1) }
                        return unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                            base + nonceLength, nil, m, UInt64(mCount), ad, UInt64(adCount), nil, base, k)
                    }
                }
            }
        }
        guard code == 0 else { throw SodiumRefusal() }
        return output
    }

    /// Opens the output of `seal`.
    package static func open(
        _ sealed: Span<UInt8>, key: Span<UInt8>, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        guard key.count == keyLength, sealed.count >= nonceLength + tagLength else { throw SodiumRefusal() }
        return try open(
            sealed.extracting(nonceLength..<sealed.count), key: key, nonce: sealed.extracting(0..<nonceLength),
            authenticating: data)
    }

    /// Opens ciphertext and tag under a given nonce; used by tests with known answers.
    package static func open(
        _ ciphertext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, authenticating data: Span<UInt8>
    ) throws(SodiumRefusal) -> Ephemeral {
        guard key.count == keyLength, nonce.count == nonceLength else { throw SodiumRefusal() }
        return try unsafe openAEAD(
            ciphertext, tagLength: tagLength, key: key, nonce: nonce, authenticating: data,
            with: crypto_aead_xchacha20poly1305_ietf_decrypt)
    }
}

#if canImport(Clibsodium)
    internal import Clibsodium
#else
    internal import CSodium
#endif

/// The shape that libsodium's AEAD decryptions share: message, its length, nsec, ciphertext, data, nonce, key.
typealias AEADDecryption = (
    UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>,
    UInt64, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>, UnsafePointer<UInt8>
) -> Int32

/// Opens ciphertext and tag; refused, with nothing of the plaintext, unless the tag is right. The caller has checked the
/// lengths of key and nonce.
func openAEAD(
    _ ciphertext: Span<UInt8>, tagLength: Int, key: Span<UInt8>, nonce: Span<UInt8>, authenticating data: Span<UInt8>,
    with decrypt: AEADDecryption
) throws(SodiumRefusal) -> Ephemeral {
    guard ciphertext.count >= tagLength else { throw SodiumRefusal() }
    _ = Sodium.started
    var plaintext = Ephemeral(count: ciphertext.count - tagLength)
    let code = plaintext.withMutableSpan { output in
        unsafe output.withUnsafeMutableBufferPointer { m in
            unsafe ciphertext.withBase { c, cCount in
                unsafe data.withBase { ad, adCount in
                    unsafe nonce.withBase { n, _ in
                        unsafe key.withBase { k, _ in
                            unsafe decrypt(m.baseAddress, nil, nil, c, UInt64(cCount), ad, UInt64(adCount), n, k)
                        }
                    }
                }
            }
        }
    }
    guard code == 0 else { throw SodiumRefusal() }
    return plaintext
}

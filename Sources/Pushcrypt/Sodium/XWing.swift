internal import CXWing

/// X-Wing (draft-connolly-cfrg-xwing-kem): ML-KEM-768 and X25519 together. libsodium has it from 1.0.22 on.
enum XWing {
    static let publicKeyLength = mlkemPublicKeyLength + X25519.keyLength
    static let encLength = 1088 + X25519.keyLength
    /// The secret key is this seed.
    static let seedLength = 32
    /// The randomness of one encapsulation: ML-KEM's m, then X25519's scalar.
    static let randomnessLength = 64
    static let secretLength = 32

    /// 768 coefficients of 12 bits, then a seed of 32 bytes.
    static let mlkemPublicKeyLength = coefficientsLength + 32
    static let coefficientsLength = 1152

    /// Whether libsodium has it, in the headers of the build and in the library that runs.
    static let isAvailable: Bool = {
        _ = Sodium.started
        return pushcrypt_xwing_is_available() == 1
    }()

    static func publicKey(of seed: Span<UInt8>) throws(SodiumRefusal) -> ContiguousArray<UInt8> {
        guard isAvailable, seed.count == seedLength else { throw SodiumRefusal() }
        var code: Int32 = -1
        let key = unsafe ContiguousArray(count: publicKeyLength) { output in
            code = unsafe seed.withBase { s, _ in unsafe pushcrypt_xwing_public_key(output, s) }
        }
        wipeStack()
        guard code == 0 else { throw SodiumRefusal() }
        return key
    }

    /// Encapsulates to a public key; throws for a key that libsodium refuses.
    static func encapsulate(
        to publicKey: Span<UInt8>, randomness: Span<UInt8>
    ) throws(SodiumRefusal) -> Encapsulation {
        guard isAvailable, publicKey.count == publicKeyLength, randomness.count == randomnessLength else {
            throw SodiumRefusal()
        }
        var secret = Ephemeral(count: secretLength)
        var code: Int32 = -1
        let enc = unsafe ContiguousArray(count: encLength) { output in
            code = secret.withMutableBytes { secret in
                unsafe secret.withMutableBase { secret, _ in
                    unsafe publicKey.withBase { key, _ in
                        unsafe randomness.withBase { r, _ in
                            unsafe pushcrypt_xwing_encapsulate(output, secret, key, r)
                        }
                    }
                }
            }
        }
        wipeStack()
        guard code == 0 else { throw SodiumRefusal() }
        return Encapsulation(sharedSecret: secret, enc: enc)
    }

    /// Returns the shared secret; throws if the X25519 half of `enc` is of small order, as libsodium reports.
    static func decapsulate(_ enc: Span<UInt8>, seed: Span<UInt8>) throws(SodiumRefusal) -> Ephemeral {
        guard isAvailable, enc.count == encLength, seed.count == seedLength else { throw SodiumRefusal() }
        var secret = Ephemeral(count: secretLength)
        let code = secret.withMutableBytes { output in
            unsafe output.withMutableBase { output, _ in
                unsafe enc.withBase { enc, _ in
                    unsafe seed.withBase { s, _ in unsafe pushcrypt_xwing_decapsulate(output, enc, s) }
                }
            }
        }
        wipeStack()
        guard code == 0 else { throw SodiumRefusal() }
        return secret
    }

    /// ML-KEM keeps polynomials with the expanded key on the stack, far below what other calls use: measured with 1.0.22,
    /// the deepest call touches at most 28,456 bytes, 5,040 of a new thread's own included.
    private static func wipeStack() { Sodium.wipeStack(kibibytes: 48) }
}

/// A shared secret and its encapsulation.
struct Encapsulation: ~Copyable {
    let sharedSecret: Ephemeral
    let enc: ContiguousArray<UInt8>
}

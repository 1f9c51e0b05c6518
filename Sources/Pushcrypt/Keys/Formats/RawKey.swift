/// The bare bytes of a key in base64, which say nothing of what they are.
///
/// libsodium and PyNaCl keep a signing key as 64 bytes, the seed and then the public key; CryptoKit, `cryptography` and JWK keep
/// the seed.
enum RawKey {
    static func read(_ text: Span<UInt8>, as half: KeyHalf, of curve: KeyCurve?) throws(KeyError) -> ForeignKey {
        guard let curve else {
            throw KeyError(
                .wrongKind, "bare bytes do not say whether they are a device's key or a sender's: name the kind")
        }
        let length = KeyCurve.keyLength
        return try decode(text).withSpan { (bytes) throws(KeyError) in
            let isPair = bytes.count == 2 * length && half == .secret && curve == .ed25519
            guard bytes.count == length || isPair else {
                throw KeyError(.malformedKey, "this is the base64 of \(bytes.count) bytes; a key has \(length)")
            }
            let first = bytes.extracting(0..<length)
            return half == .secret
                ? ForeignKey(
                    curve: curve, secret: Ephemeral(copying: first),
                    publicHalf: Bytes(copying: bytes.extracting(length..<bytes.count)))
                : ForeignKey(curve: curve, secret: Ephemeral(count: 0), publicHalf: Bytes(copying: first))
        }
    }

    private static func decode(_ text: Span<UInt8>) throws(KeyError) -> Ephemeral {
        for base64 in SecretBase64.allCases {
            if let bytes = base64.decode(text) { return bytes }
        }
        throw KeyError(
            .malformedKey,
            "this is neither JWK nor PEM, nor a key's bytes in base64; of a binary file `openssl pkey -inform DER -in FILE` makes PEM if it is DER, and `base64 -w 0 FILE` text if it is the bare bytes"
        )
    }
}

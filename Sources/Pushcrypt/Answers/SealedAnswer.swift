/// A sealed answer as it travels: parsed, but not authenticated. (`Docs/FormatRecords.md`, Answer)
///
///     off   len  field
///     0     1    version: 0x01
///     1     16   answer id
///     17    4    recipient key id
///     21    16   salt
///     37    N    ciphertext: 128, 512, 2,048 or 4,098 bytes
///     37+N  16   Poly1305 tag
package struct SealedAnswer: Hashable, Sendable {
    private static let version: UInt8 = 0x01
    private static let answerID = 1..<1 + AnswerKey.idLength
    private static let saltLength = 16
    private static let salt = answerID.upperBound + KeyID.length..<headerLength
    private static let headerLength = answerID.upperBound + KeyID.length + saltLength
    /// The possible lengths of the plaintext.
    static let sizes = [128, 512, 2048, 4098]
    static let maximumJSONLength = 4096
    /// The maximum length of the text in characters.
    package static let maximumTextLength = Base64URL.encodedLength(
        headerLength + (sizes.last ?? 0) + ChaCha20Poly1305.tagLength)

    /// The bytes; the same bytes again are the same answer.
    package let bytes: Bytes

    /// The id of the key of the device that answers: a hint.
    package var recipientKeyID: KeyID { KeyID(value: bytes.span.bigEndian(at: Self.answerID.upperBound)) }
    var answerID: Bytes { Bytes(bytes[Self.answerID]) }

    /// Parses a text; throws `malformedEnvelope` or `unsupportedMessage`.
    package init(text: Span<UInt8>) throws(OpenError) {
        guard (1...Self.maximumTextLength).contains(text.count), let bytes = Base64URL.decode(text) else {
            throw Self.malformed
        }
        try self.init(bytes: bytes)
    }

    /// Reads the bytes; throws as `init(text:)`.
    package init(bytes: Bytes) throws(OpenError) {
        guard Self.sizes.contains(bytes.count - Self.headerLength - ChaCha20Poly1305.tagLength) else {
            throw Self.malformed
        }
        guard bytes[0] == Self.version else {
            throw OpenError(
                .unsupportedMessage,
                "the answer has version \(bytes[0]), this program supports version \(Self.version); update it")
        }
        self.bytes = bytes
    }

    private static let malformed = OpenError(
        .malformedEnvelope,
        "the answer was cut or encoded again, or has another length; pass on the app's text unchanged")

    /// base64url, as the app sends it.
    package var text: String { Base64URL.string(bytes.span) }
}

// MARK: Seal

extension SealedAnswer {
    /// Seals an answer with the key that the message gave; throws `invalidRequest` or `payloadTooLarge`.
    package init(_ answer: Answer, with key: AnswerKey) throws(SealError) {
        try self.init(answer, with: key, random: Sodium.randomBytes(Self.saltLength).span)
    }

    /// Seals with given random bytes, for tests with known answers.
    init(_ answer: Answer, with key: AnswerKey, random: Span<UInt8>) throws(SealError) {
        guard Answer.isAction(answer.action) else {
            throw SealError(.invalidRequest, "the action of an answer has 1 to \(Answer.maximumActionLength) bytes")
        }
        let json = answer.json
        guard let sealed = SealedAnswer(json: json, of: answer.device.id, with: key, random: random) else {
            throw SealError(
                .payloadTooLarge,
                "the answer has \(json.count) bytes, and at most \(Self.maximumJSONLength) fit; shorten its text by \(json.count - Self.maximumJSONLength)"
            )
        }
        self = sealed
    }

    /// Seals any text; nil if it is too long.
    init?(json: Bytes, of device: KeyID, with key: AnswerKey, random: Span<UInt8>) {
        guard let plaintext = Self.plaintext(json.span) else { return nil }
        defer { Sodium.wipeStack() }
        let salt = plaintext.withSpan { plaintext in
            let hmac = key.withKey { HMACSHA256(key: $0) }
            hmac.update("pushcrypt/1 answer salt\0")
            hmac.update(random)
            hmac.update(plaintext)
            return hmac.withTag { Bytes(copying: $0.extracting(0..<Self.saltLength)) }
        }
        var bytes: Bytes = [Self.version]
        bytes.append(contentsOf: key.id)
        bytes.append(bigEndian: device.value)
        bytes.append(contentsOf: salt)
        let header = bytes
        do throws(SodiumRefusal) {
            try plaintext.withSpan { (plaintext) throws(SodiumRefusal) in
                try Self.cipherKey(key, salt: salt.span).withSpan { (cipherKey) throws(SodiumRefusal) in
                    try ChaCha20Poly1305.seal(
                        plaintext, key: cipherKey, nonce: Self.nonce.span, authenticating: header.span,
                        appendingTo: &bytes)
                }
            }
        } catch {
            preconditionFailure("libsodium refused a key of 32 bytes")
        }
        self.bytes = bytes
    }

    /// Returns lp16(JSON) and zeros up to the smallest length; nil for a JSON that is too long.
    private static func plaintext(_ json: Span<UInt8>) -> Ephemeral? {
        guard let size = size(of: json.count) else { return nil }
        var plaintext = Ephemeral(count: size)
        plaintext.withMutableBytes { output in
            output.write(bigEndian: UInt16(json.count), at: 0)
            output.write(json, at: 2)
        }
        return plaintext
    }

    private static func size(of length: Int) -> Int? {
        length <= maximumJSONLength ? sizes.first { $0 >= 2 + length } : nil
    }

    private static var nonce: Bytes { Bytes(repeating: 0, count: ChaCha20Poly1305.nonceLength) }

    private static func cipherKey(_ key: AnswerKey, salt: Span<UInt8>) throws(SodiumRefusal) -> Ephemeral {
        let prk = key.withKey { key in HKDF.extract(salt: salt) { $0.update(key) } }
        return try prk.withSpan { (prk) throws(SodiumRefusal) in
            try HKDF.expand(prk: prk, length: ChaCha20Poly1305.keyLength) { $0.update("pushcrypt/1 answer message\0") }
        }
    }
}

// MARK: Open

extension SealedAnswer {
    /// Returns the plaintext if this key has sealed it, nil otherwise.
    func plaintext(with key: AnswerKey) -> Ephemeral? {
        let header = bytes.span.extracting(0..<Self.headerLength)
        let sealed = bytes.span.extracting(Self.headerLength..<bytes.count)
        guard let cipherKey = try? Self.cipherKey(key, salt: header.extracting(Self.salt)) else { return nil }
        return try? cipherKey.withSpan { (cipherKey) throws(SodiumRefusal) in
            try ChaCha20Poly1305.open(sealed, key: cipherKey, nonce: Self.nonce.span, authenticating: header)
        }
    }

    /// Returns an answer that this phone has sealed with this key; nil for another.
    package func answer(with key: AnswerKey, device: DevicePublicKey) -> Answer? {
        guard key.id == answerID, let plaintext = plaintext(with: key),
            let json = plaintext.withSpan({ Self.json(in: $0) })
        else { return nil }
        return try? Answer(json: json, device: device)
    }

    /// Returns the JSON of a plaintext; nil unless the length fits, the padding is zero and there is no more than needed.
    ///
    static func json(in plaintext: Span<UInt8>) -> Bytes? {
        let length = Int(plaintext.bigEndian(at: 0, as: UInt16.self))
        guard size(of: length) == plaintext.count,
            Sodium.isAllZero(plaintext.extracting(2 + length..<plaintext.count))
        else { return nil }
        return Bytes(copying: plaintext.extracting(2..<2 + length))
    }
}

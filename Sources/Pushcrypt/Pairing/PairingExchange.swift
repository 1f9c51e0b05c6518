/// The sealed request and the sealed reply of one pairing.
/// (`Docs/FormatRecords.md`, Pairing)
package struct PairingExchange: Sendable {
    static let idLength = 8
    private static let saltLength = 16
    private static let headerLength = idLength + saltLength
    /// The most bytes of a request or a reply.
    package static let maximumLength = 16_384

    private let secret: PairingSecret
    private let scene: ContiguousArray<UInt8>

    /// - Parameters:
    ///   - secret: The code's.
    ///   - url: The address in the code, byte for byte.
    ///   - topic: The app.
    ///   - fingerprint: The code's, of the provider key.
    package init(_ secret: PairingSecret, url: String, topic: Topic, fingerprint: ContiguousArray<UInt8>) {
        self.secret = secret
        var scene = ContiguousArray<UInt8>()
        scene.append(bigEndian: UInt16(truncatingIfNeeded: url.utf8.count))
        scene.append(contentsOf: url.utf8)
        scene.append(contentsOf: topic.lengthPrefixed)
        scene.append(contentsOf: fingerprint)
        self.scene = scene
    }

    // MARK: Requests

    /// Seals a phone's record; `salt` is given by tests with known answers alone.
    package func seal(
        record: ContiguousArray<UInt8>, salt: ContiguousArray<UInt8> = Sodium.randomBytes(16)
    ) -> ContiguousArray<UInt8> {
        precondition(salt.count == Self.saltLength, "a salt has 16 bytes")
        let header = secret.id + salt
        return header + seal(record, key: requestKey(salt: salt.span), authenticating: header)
    }

    /// Opens a request; nil if it was not made with this code, for this address, app and provider.
    package func open(request: Span<UInt8>) -> ContiguousArray<UInt8>? {
        guard request.count > Self.headerLength, request.count <= Self.maximumLength else { return nil }
        let header = ContiguousArray(copying: request.extracting(0..<Self.headerLength))
        return open(
            request.extracting(Self.headerLength..<request.count),
            key: requestKey(salt: request.extracting(Self.idLength..<Self.headerLength)), authenticating: header)
    }

    /// The id in a request, which names a code; nil if it is too short or too long for one.
    package static func id(ofRequest request: Span<UInt8>) -> ContiguousArray<UInt8>? {
        guard request.count > headerLength, request.count <= maximumLength else { return nil }
        return ContiguousArray(copying: request.extracting(0..<idLength))
    }

    private func requestKey(salt: Span<UInt8>) -> Ephemeral {
        secret.key(salt: salt, length: ChaCha20Poly1305.keyLength) { hmac in
            hmac.update("pushcrypt/1 pairing request\0")
            hmac.update(scene.span)
        }
    }

    // MARK: Replies

    /// Seals the reply to a request, which has opened: the same record always gives the same bytes.
    ///
    /// A request that comes again after a refusal may get another record, so the record is part of the salt.
    package func seal(reply: ContiguousArray<UInt8>, to request: Span<UInt8>) -> ContiguousArray<UInt8> {
        let digest = SHA256.digest(request)
        let hmac = secret.withSpan { HMACSHA256(key: $0) }
        hmac.update("pushcrypt/1 pairing reply salt\0")
        hmac.update(digest.span)
        hmac.update(reply.span)
        let salt = hmac.withTag { ContiguousArray(copying: $0.extracting(0..<Self.saltLength)) }
        return salt + seal(reply, key: replyKey(digest, salt: salt.span), authenticating: salt)
    }

    /// Opens the reply to a request; nil if it was changed, or is another request's.
    package func open(reply: Span<UInt8>, to request: Span<UInt8>) -> ContiguousArray<UInt8>? {
        guard reply.count > Self.saltLength, reply.count <= Self.maximumLength else { return nil }
        let salt = ContiguousArray(copying: reply.extracting(0..<Self.saltLength))
        return open(
            reply.extracting(Self.saltLength..<reply.count), key: replyKey(SHA256.digest(request), salt: salt.span),
            authenticating: salt)
    }

    private func replyKey(_ digest: ContiguousArray<UInt8>, salt: Span<UInt8>) -> Ephemeral {
        secret.key(salt: salt, length: ChaCha20Poly1305.keyLength) { hmac in
            hmac.update("pushcrypt/1 pairing reply\0")
            hmac.update(scene.span)
            hmac.update(digest.span)
        }
    }

    // MARK: AEAD

    /// Each key seals one text.
    private static let nonce = ContiguousArray<UInt8>(repeating: 0, count: ChaCha20Poly1305.nonceLength)

    private func seal(
        _ text: ContiguousArray<UInt8>, key: consuming Ephemeral, authenticating data: ContiguousArray<UInt8>
    ) -> ContiguousArray<UInt8> {
        var sealed = ContiguousArray<UInt8>()
        do throws(SodiumRefusal) {
            try key.withSpan { (key) throws(SodiumRefusal) in
                try ChaCha20Poly1305.seal(
                    text.span, key: key, nonce: Self.nonce.span, authenticating: data.span, appendingTo: &sealed)
            }
        } catch {
            preconditionFailure("libsodium refused a key of 32 bytes")
        }
        return sealed
    }

    private func open(
        _ sealed: Span<UInt8>, key: consuming Ephemeral, authenticating data: ContiguousArray<UInt8>
    ) -> ContiguousArray<UInt8>? {
        let text = try? key.withSpan { (key) throws(SodiumRefusal) in
            try ChaCha20Poly1305.open(sealed, key: key, nonce: Self.nonce.span, authenticating: data.span)
        }
        return text?.withSpan { ContiguousArray(copying: $0) }
    }
}

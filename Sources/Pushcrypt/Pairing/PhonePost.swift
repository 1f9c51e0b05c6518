/// The body of a post: exactly one of a signed record, a sealed request to pair, a sealed answer and a hello.
package enum PhonePost: Sendable {
    case record(SignedRecord)
    /// The bytes of a request to pair.
    case pairing(ContiguousArray<UInt8>)
    /// The text of an answer.
    case answer(String)
    /// Fresh bytes over which the server signs, before a phone says more to an address that a stranger may have.
    case hello(RecordNonce)

    /// The most bytes of a body.
    package static let maximumLength = 32_768

    /// Reads a body that came over a channel. [D-17]
    ///
    /// - Throws: `malformedRecord`, or the error of a key in the record.
    package init(json: ContiguousArray<UInt8>, over channel: SignedRecord.Channel) throws(KeyError) {
        guard json.count <= Self.maximumLength else { throw Self.malformed }
        let post = try KeyRecord(json)
        let (record, pairing) = (try post.text("record"), try post.text("pairing"))
        switch (record, pairing, try post.text("answer"), try post.text("hello")) {
        case (let record?, nil, nil, nil):
            guard let bytes = SignedText.decode(record, upTo: SignedRecord.maximumLength),
                let signature = try post.text("signature").flatMap(SignedText.signature)
            else { throw Self.malformed }
            self = .record(try SignedRecord(record: bytes, signature: signature, over: channel))
        case (nil, let pairing?, nil, nil):
            guard let bytes = SignedText.decode(pairing, upTo: PairingExchange.maximumLength) else {
                throw Self.malformed
            }
            self = .pairing(bytes)
        case (nil, nil, let answer?, nil): self = .answer(answer)
        case (nil, nil, nil, let hello?):
            guard let nonce = RecordNonce(hello) else { throw Self.malformed }
            self = .hello(nonce)
        default: throw Self.malformed
        }
    }

    private static let malformed = KeyError(
        .malformedRecord,
        "a phone's post has exactly one of record (with its signature), pairing, answer and hello, each in its form")

    /// The body.
    package var body: ContiguousArray<UInt8> {
        switch self {
        case .record(let record): record.body
        case .pairing(let bytes): Self.json("pairing", Base64URL.string(bytes.span))
        case .answer(let text): Self.json("answer", text)
        case .hello(let nonce): Self.json("hello", nonce.description)
        }
    }

    private static func json(_ name: String, _ text: String) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { $0.string(text, for: name) }
        return json.bytes
    }
}

/// A provider's reply with its signature, over what was asked.
///
///     signed   "pushcrypt/1 reply" || 0x00 || lp16(context) || provider public key || signing public key || epoch
///              || SHA-256(asked) || reply bytes
///
/// (`Docs/FormatRecords.md`, Posts)
package enum SignedReply {
    /// Signs a reply to a post; the reply names the signer's certificate.
    ///
    /// - Returns: The answer's body, JSON.
    package static func body(
        _ reply: RegistrationReply, to asked: ContiguousArray<UInt8>, by signer: EnvelopeSigner, for topic: Topic
    ) -> ContiguousArray<UInt8> {
        var reply = reply
        reply.certificate = signer.certificate
        let bytes = reply.json
        let message = message(
            bytes, to: asked, by: signer.providerKey, signer.publicKey, signer.epoch, topic)
        return SignedText.json(bytes, named: "reply", signer.signature(of: message.span))
    }

    /// Reads a reply, and believes it only if a message of its certificate, sent now, would open.
    ///
    /// - Parameters:
    ///   - body: The answer's body.
    ///   - asked: The record and its signature, the text of the hello, or what the pairing request holds.
    ///   - trust: What the account trusts.
    /// - Returns: nil for any other body.
    package static func open(
        _ body: ContiguousArray<UInt8>, to asked: ContiguousArray<UInt8>, trusting trust: ProviderTrust,
        for topic: Topic, at now: Timestamp
    ) -> RegistrationReply? {
        guard let (bytes, signature, reply) = reply(in: body) else { return nil }
        for pin in trust.pins {
            var (key, learned) = (pin.key.bytes, pin.learned)
            if let certificate = reply.certificate {
                guard (try? certificate.check(for: pin.key, topic: topic)) != nil else { continue }
                (key, learned) = (certificate.signingKey.bytes, learned.learning(certificate).0)
            }
            let epoch = reply.certificate?.epoch ?? 0
            let message = message(bytes, to: asked, by: pin.key, key, epoch, topic)
            guard learned.admits(epoch: epoch, under: reply.certificate, sentAt: now, at: now),
                Ed25519.isValid(signature.span, for: message.span, publicKey: key.span)
            else { continue }
            return reply
        }
        return nil
    }

    /// The provider key that a body names, which is not verified; nil for anything but a signed reply.
    static func provider(in body: ContiguousArray<UInt8>) -> ProviderPublicKey?? {
        reply(in: body).map { $0.reply.provider }
    }

    private static func reply(
        in body: ContiguousArray<UInt8>
    ) -> (bytes: ContiguousArray<UInt8>, signature: ContiguousArray<UInt8>, reply: RegistrationReply)? {
        guard body.count <= PhonePost.maximumLength, let parts = try? KeyRecord(body),
            let text = try? parts.text("reply"),
            let bytes = SignedText.decode(text, upTo: SignedRecord.maximumLength),
            let signature = (try? parts.text("signature")).flatMap(SignedText.signature),
            let reply = try? RegistrationReply(json: bytes), reply.certificateFault == nil
        else { return nil }
        return (bytes, signature, reply)
    }

    private static func message(
        _ reply: ContiguousArray<UInt8>, to asked: ContiguousArray<UInt8>, by provider: ProviderPublicKey,
        _ key: ContiguousArray<UInt8>, _ epoch: UInt32, _ topic: Topic
    ) -> ContiguousArray<UInt8> {
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 reply\0")
        message.append(contentsOf: topic.lengthPrefixed)
        message.append(contentsOf: provider.bytes)
        message.append(contentsOf: key)
        message.append(bigEndian: epoch)
        message.append(contentsOf: SHA256.digest(asked.span))
        message.append(contentsOf: reply)
        return message
    }
}

extension DeviceRegistration {
    /// Reads the record in what a phone posts for the session of its user; the signature is not verified.
    ///
    /// A server that keeps devices in a store of its own verifies nothing else: the session says whose the record is. It refuses
    /// one whose `sequence` is not above the last one's.
    ///
    /// - Throws: `malformedRecord`, or the error of a key in the record.
    public init(post: ContiguousArray<UInt8>) throws(KeyError) {
        guard case .record(let record) = try PhonePost(json: post, over: .session),
            case .registration(let registration) = record.content
        else { throw KeyError(.malformedRecord, "the post is not a registration") }
        self = registration
    }
}

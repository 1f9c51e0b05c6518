/// A phone's record as it signs and posts it: a registration, or the end of its device.
///
///     signed   "pushcrypt/1 record" || 0x00 || channel || lp16(context) || provider public key || record bytes
///
/// (`Docs/FormatRecords.md`, Posts)
public struct SignedRecord: Hashable, Sendable {
    /// The channel that a signature is for, so that a record of one is no use on the other.
    package enum Channel: UInt8, Sendable {
        /// In the session of the account's user, or before that of the operator.
        case session = 1
        /// Without a session.
        case open = 2
    }

    /// The record.
    package enum Content: Hashable, Sendable {
        case registration(DeviceRegistration)
        case end(DeviceEnd)
    }

    package let content: Content
    /// The record as it was signed.
    package let bytes: ContiguousArray<UInt8>
    private let signature: ContiguousArray<UInt8>

    /// The most bytes of a record.
    static let maximumLength = 16_384

    /// Signs a registration, which has its device id, update key, sequence and nonce.
    package init(
        _ registration: DeviceRegistration, by key: SigningKey, over channel: Channel, for topic: Topic
    ) {
        self.init(.registration(registration), registration.json, key, channel, topic)
    }

    /// Signs the end of a device.
    package init(_ end: DeviceEnd, by key: SigningKey, for topic: Topic) {
        self.init(.end(end), end.json, key, .open, topic)
    }

    private init(
        _ content: Content, _ bytes: ContiguousArray<UInt8>, _ key: SigningKey, _ channel: Channel, _ topic: Topic
    ) {
        let signed = Self.message(bytes, by: content.provider, channel, topic)
        (self.content, self.bytes, signature) = (content, bytes, key.signature(of: signed.span))
    }

    /// Reads a record and its signature, which is not verified yet. [D-38] [D-41]
    ///
    /// - Throws: `malformedRecord`, or the error of a key in the record.
    init(
        record bytes: ContiguousArray<UInt8>, signature: ContiguousArray<UInt8>, over channel: Channel
    ) throws(KeyError) {
        let record = try KeyRecord(bytes)
        if try record.isEnd() {
            content = .end(try DeviceEnd(record))
        } else {
            let registration = try DeviceRegistration(record)
            guard registration.deviceID != nil, registration.updateKey != nil, registration.sequence != nil,
                registration.nonce != nil, channel == .session || registration.pinnedProvider != nil
            else {
                throw KeyError(
                    .malformedRecord,
                    "a signed record has device, update_key, sequence, nonce and, without a session, provider")
            }
            content = .registration(registration)
        }
        (self.bytes, self.signature) = (bytes, signature)
    }

    /// The device that the record is about.
    package var device: String {
        switch content {
        case .registration(let registration): registration.deviceID ?? ""
        case .end(let end): end.device
        }
    }

    /// The record's place among those of its device.
    package var sequence: UInt64 {
        switch content {
        case .registration(let registration): registration.sequence ?? 0
        case .end: DeviceEnd.sequence
        }
    }

    /// The provider key that the record names, which its signature covers.
    package var provider: ProviderPublicKey? { content.provider }

    /// Whether the key has signed the record for this channel and app. [D-43]
    package func isSigned(by key: SigningPublicKey, over channel: Channel, for topic: Topic) -> Bool {
        let (signed, key) = (Self.message(bytes, by: provider, channel, topic), key.bytes)
        return Ed25519.isValid(signature.span, for: signed.span, publicKey: key.span)
    }

    private static func message(
        _ record: ContiguousArray<UInt8>, by provider: ProviderPublicKey?, _ channel: Channel, _ topic: Topic
    ) -> ContiguousArray<UInt8> {
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 record\0")
        message.append(channel.rawValue)
        message.append(contentsOf: topic.lengthPrefixed)
        message.append(contentsOf: provider?.bytes ?? ContiguousArray(repeating: 0, count: ProviderPublicKey.length))
        message.append(contentsOf: record)
        return message
    }

    /// The body of the post, minified JSON.
    public var body: ContiguousArray<UInt8> {
        SignedText.json(bytes, named: "record", signature)
    }
}

extension SignedRecord.Content {
    fileprivate var provider: ProviderPublicKey? {
        switch self {
        case .registration(let registration): registration.pinnedProvider
        case .end(let end): end.provider
        }
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

/// The last record of a device, which ends it: `{"device","provider","nonce","sequence","ended"}`. Nothing outranks it.
package struct DeviceEnd: Hashable, Sendable {
    /// Above that of any other record.
    package static let sequence = Timestamp.maximum.milliseconds

    package let device: String
    package let provider: ProviderPublicKey
    package let nonce: RecordNonce

    package init(of device: String, at provider: ProviderPublicKey) {
        (self.device, self.provider, nonce) = (device, provider, RecordNonce())
    }

    fileprivate init(_ record: KeyRecord) throws(KeyError) {
        guard let device = try record.deviceID(), let text = try record.text("provider"),
            let nonce = try record.nonce(), try record.number("sequence") == Self.sequence
        else {
            throw KeyError(
                .malformedRecord, "an end has device, provider, nonce and the sequence \(Self.sequence)")
        }
        (self.device, provider, self.nonce) = (device, try ProviderPublicKey(text: text), nonce)
    }

    fileprivate var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(device, for: "device")
            json.string(provider.description, for: "provider")
            json.string(nonce.description, for: "nonce")
            json.integer(Self.sequence, for: "sequence")
            json.bool(true, for: "ended")
        }
        return json.bytes
    }
}

/// 16 fresh bytes of a record, so that no two are the same; as text 22 characters of base64url.
package struct RecordNonce: Hashable, Sendable, LosslessStringConvertible {
    package let description: String

    package init() { description = Base64URL.string(Sodium.randomBytes(16).span) }

    /// Parses the text; returns nil for anything else.
    package init?(_ description: String) {
        let text = ContiguousArray(description.utf8)
        guard Base64URL.decode(text.span)?.count == 16 else { return nil }
        self.description = description
    }
}

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

    /// Reads a body that came over a channel. [D-40]
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

    /// The body of a post that is not a record.
    package var body: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            switch self {
            case .record: break
            case .pairing(let bytes): json.string(Base64URL.string(bytes.span), for: "pairing")
            case .answer(let text): json.string(text, for: "answer")
            case .hello(let nonce): json.string(nonce.description, for: "hello")
            }
        }
        if case .record(let record) = self { return record.body }
        return json.bytes
    }
}

/// A provider's reply with its signature, over what was asked.
///
///     signed   "pushcrypt/1 reply" || 0x00 || lp16(context) || provider public key || signing public key || epoch
///              || SHA-256(record bytes) || reply bytes
///
/// (`Docs/FormatRecords.md`, Posts)
package enum SignedReply {
    /// Signs a reply to a record, or to the text of a hello; the reply names the signer's certificate.
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
    ///   - asked: The bytes of the record, or the text of the hello.
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

/// The form of signed records and replies: base64url of the bytes, and of the signature.
private enum SignedText {
    static func json(
        _ bytes: ContiguousArray<UInt8>, named name: String, _ signature: ContiguousArray<UInt8>
    ) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(Base64URL.string(bytes.span), for: name)
            json.string(Base64URL.string(signature.span), for: "signature")
        }
        return json.bytes
    }

    static func decode(_ text: String, upTo length: Int) -> ContiguousArray<UInt8>? {
        let text = ContiguousArray(text.utf8)
        guard let bytes = Base64URL.decode(text.span), bytes.count <= length else { return nil }
        return bytes
    }

    static func signature(_ text: String) -> ContiguousArray<UInt8>? {
        decode(text, upTo: Ed25519.signatureLength).flatMap { $0.count == Ed25519.signatureLength ? $0 : nil }
    }
}

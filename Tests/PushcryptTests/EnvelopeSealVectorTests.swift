import Testing

@testable import Pushcrypt

/// Sealing, as `Tests/Data/Vectors/envelopes.json` has it: the same inputs, randomness included, give the same bytes.
@Suite struct EnvelopeSealVectorTests {
    typealias Vector = EnvelopeVectors.Seal

    /// Through the public rules, up to the request.
    @Test(.vectors("envelopes.json, seal"), arguments: try EnvelopeVectors.file().seal)
    func aPayloadSealsToTheseBytes(_ vector: Vector) throws {
        let sealer = try sealer(vector)
        let message = try message(vector)
        let isRounded = message.sealedTimeToLive(at: Timestamp(milliseconds: vector.sentAt)) != message.timeToLive
        let sealed = try seal(vector, by: sealer, message)
        #expect(try clearPart(of: sealed) == vector.clear)
        #expect(sealed.json.count == vector.length)
        #expect(sealed.maximumReencodedLength == vector.widestLength)
        let request = try sealer.request(for: sealed, device: vector.device, collapseName: vector.collapseName)
        #expect(request.pushType.description == vector.pushType)

        // A time to live that the sealer rounds is sealed below it.
        let envelope = isRounded ? try unrounded(vector, by: sealer) : sealed.envelope
        #expect(envelope.bytes == vector.envelope.bytes)
        let text = try vector.text
        #expect(envelope.text == text)
        #expect(envelope.recipientKeyID.description == vector.recipientKeyID.bytes.hex)
        #expect(envelope.enc == vector.enc.bytes)
        #expect(envelope.innerLength == vector.inner.bytes.count)
        let recipient = try DevicePublicKey(bytes: vector.devicePublic.bytes.span)
        let device = vector.device.map(CollapseID.Device.named) ?? .key(recipient)
        let idBytes = vector.messageID.bytes
        let named = MessageID(bytes: idBytes.span)
        let id = try #require(named)
        let collapseID = try sealer.collapseID(for: device, vector.collapseName.map { .named($0) } ?? .message(id))
        #expect(collapseID == vector.collapseID)
        if !isRounded {
            #expect(sealed.messageID == id && request.collapseID == vector.collapseID)
        }
        #expect(vector.push == push(vector.clear, try vector.text))
        if !isRounded { #expect(String(decoding: sealed.json, as: UTF8.self) == vector.push) }
    }

    private func message(_ vector: Vector) throws -> Sealer.Message {
        var message = Sealer.Message(vector.payload.utf8)
        message.pushType = try PushType(vector.pushType)
        message.name = vector.callerID
        message.timeToLive = .seconds(UInt64(vector.ttl))
        return message
    }

    private func seal(_ vector: Vector, by sealer: Sealer, _ message: Sealer.Message) throws -> SealedPayload {
        try sealer.seal(
            message, to: DevicePublicKey(bytes: vector.devicePublic.bytes.span),
            at: Timestamp(milliseconds: vector.sentAt), randomness(vector))
    }

    private func unrounded(_ vector: Vector, by sealer: Sealer) throws -> Envelope {
        let body = vector.body.bytes
        let random = randomness(vector)
        let sentAt = Timestamp(milliseconds: vector.sentAt)
        let id =
            vector.callerID.map(MessageID.init(callerName:)) ?? sealer.hedgedID(of: body.span, at: sentAt, random)
        let inner = InnerPlaintext(
            body.span, bucket: vector.inner.bytes.count, try PushType(vector.pushType).sealableClass(), id,
            sentAt: sentAt, timeToLive: .seconds(UInt64(vector.ttl)), by: sealer.signer)
        return try sealer.envelope(
            of: inner, to: DevicePublicKey(bytes: vector.devicePublic.bytes.span), random)
    }

    private func clearPart(of sealed: SealedPayload) throws -> String {
        let json = String(decoding: sealed.json, as: UTF8.self)
        return json.replacing(",\"ENCRYPTED_DATA\":\"\(sealed.envelope.text)\"", with: "")
    }

    private func push(_ clear: String, _ envelope: String) -> String {
        clear.dropLast() + ",\"ENCRYPTED_DATA\":\"\(envelope)\"}"
    }

    /// Each value in between, so that a disagreement is seen where it begins.
    @Test(arguments: try EnvelopeVectors.file().seal)
    func eachStepGivesTheseBytes(_ vector: Vector) throws {
        let provider = try ProviderKey(seed: vector.providerSeed.bytes.span)
        let device = try DeviceKey(scalar: vector.deviceSecret.bytes.span)
        #expect(device.publicKey.bytes == vector.devicePublic.bytes)
        #expect(device.publicKey.id.description == vector.recipientKeyID.bytes.hex)
        #expect(provider.publicKey.bytes == vector.providerPublic.bytes)
        if let name = vector.callerID { #expect(MessageID(callerName: name).bytes == vector.messageID.bytes) }

        let expected = HMACSHA256(key: vector.hedgeKey.bytes.span).finishPublic()
        let hedged = try sealer(vector).signer.hedged().finishPublic()
        #expect(hedged == expected, "the hedge key")
        let ephemeral = try DHKEM.deriveKeyPair(ikm: vector.ikmE.bytes.span)
        let secretOfShare = ephemeral.secret.withSpan { Bytes(copying: $0) }
        #expect(secretOfShare == vector.skE.bytes)
        #expect(ephemeral.publicKey == vector.enc.bytes)

        let envelope = try Envelope(text: vector.text)
        let topic = try Topic(vector.topic)
        let info = envelope.withHeader { envelopeInfo(header: $0, topic: topic) }
        #expect(info == vector.info.bytes)
        let secret = try DHKEM.decapsulate(
            vector.enc.bytes.span, secret: vector.deviceSecret.bytes.span, publicKey: vector.devicePublic.bytes.span)
        let context = try HPKEContext(.x25519, sharedSecret: secret, info: info.span)
        let inner = try envelope.withCiphertext { (ciphertext) throws(SodiumRefusal) in
            try context.open(ciphertext, authenticating: Bytes().span).bytes
        }
        #expect(inner == vector.inner.bytes)
        let content = contentHash(of: inner.span)
        #expect(content == vector.contentHash.bytes)
        let message = envelope.withHeader { header in
            signedMessage(
                header: header, enc: vector.enc.bytes.span, .x25519, recipient: device.publicKey.transcript,
                by: SignedBy(
                    provider: provider.publicKey,
                    signing: vector.signingPublic?.bytes ?? vector.providerPublic.bytes, epoch: vector.epoch),
                topic: topic, contentHash: content)
        }
        #expect(message == vector.signed.bytes)
        let epoch: UInt32 = inner.span.bigEndian(at: 0)
        #expect(epoch == vector.epoch)
        #expect(Bytes(inner[4..<68]) == vector.signature.bytes)
        #expect(inner[68] == vector.kind)
        #expect(Bytes(inner[69..<85]) == vector.messageID.bytes)
        #expect(Bytes(inner[99..<99 + vector.body.bytes.count]) == vector.body.bytes)
    }

    private func sealer(_ vector: Vector) throws -> Sealer {
        let key = try ProviderKey(seed: vector.providerSeed.bytes.span)
        let topic = try Topic(vector.topic)
        let sound: Placeholder.Sound =
            switch vector.clearSound {
            case nil: .matching
            case "": .silent
            case let name?: .named(name)
            }
        let fields = try (vector.kept ?? []).map { try #require(Placeholder.ClearField(rawValue: $0)) }
        let placeholder = try Placeholder(title: vector.title, sound: sound, clearFields: Set(fields))
        let signer = try vector.certificate.map { certificate in
            let seed = try #require(vector.signingSeed).bytes
            let signingKey = try SigningKey(seed: seed.span)
            #expect(signingKey.publicKey.bytes == vector.signingPublic?.bytes)
            let credential = try SigningCredential(
                signingKey, Certificate(bytes: certificate.bytes.span), by: key.publicKey)
            return try EnvelopeSigner(credential, for: topic)
        }
        return Sealer(signer: signer ?? EnvelopeSigner(key), topic: topic, placeholder: placeholder)
    }

    private func randomness(_ vector: Vector) -> Randomness {
        // A message that its caller named draws none for its id.
        let messageID = vector.rMessageID?.bytes ?? Bytes(repeating: 0, count: 32)
        return Randomness(messageID: messageID.span, ephemeral: vector.rEphemeral.bytes.span)
    }
}

import Testing

@testable import Pushcrypt

/// Sealing, as `Tests/Data/Vectors/envelopes.json` has it: the same inputs, randomness included, give the same bytes.
@Suite struct EnvelopeSealVectorTests {
    typealias Vector = EnvelopeVectors.Seal

    /// Through the public rules and the JSON around the envelope.
    @Test(.vectors("envelopes.json, seal"), arguments: try EnvelopeVectors.file().seal)
    func aPayloadSealsToTheseBytes(_ vector: Vector) throws {
        var options = Sealer.Options()
        // The type with the largest bucket; the others take the same ones, as far as theirs go.
        options.pushType = .voip
        options.messageName = vector.callerID
        options.timeToLive = .seconds(UInt64(vector.ttl))
        options.announcing = try vector.statements.map { try RotationStatement(bytes: $0.bytes.span) }
        let sealer = try sealer(vector)
        let sealed = try sealer.seal(
            bytes: Bytes(vector.payload.utf8), to: DevicePublicKey(bytes: vector.devicePublic.bytes.span),
            at: Timestamp(milliseconds: vector.sentAt), options: options, randomness: randomness(vector))
        #expect(try sealed.envelope.text == vector.envelope)
        #expect(sealed.messageID.bytes == vector.messageID.bytes)
        #expect(sealed.envelope.recipientKeyID.description == vector.recipientKeyID.bytes.hex)
        #expect(sealed.envelope.enc == vector.enc.bytes)
        #expect(sealed.envelope.innerLength == vector.inner.bytes.count)
    }

    /// Each value in between, so that a disagreement is seen where it begins.
    @Test(arguments: try EnvelopeVectors.file().seal)
    func eachStepGivesTheseBytes(_ vector: Vector) throws {
        let sender = try SenderKey(seed: vector.senderSeed.bytes.span)
        let device = try DeviceKey(scalar: vector.deviceSecret.bytes.span)
        #expect(device.publicKey.bytes == vector.devicePublic.bytes)
        #expect(device.publicKey.id.description == vector.recipientKeyID.bytes.hex)
        #expect(sender.publicKey.bytes == vector.senderPublic.bytes)
        #expect(sender.id.description == vector.senderKeyID.bytes.hex)
        if let name = vector.callerID { #expect(MessageID(callerName: name).bytes == vector.messageID.bytes) }

        let expected = HMACSHA256(key: vector.hedgeKey.bytes.span).finishPublic()
        let hedged = try sealer(vector).envelopes.signer.hedged().finishPublic()
        #expect(hedged == expected, "the hedge key")
        #expect(try DHKEM.deriveKeyPair(ikm: vector.ikmE.bytes.span).publicKey == vector.enc.bytes)

        let envelope = try Envelope(text: vector.envelope)
        let topic = try Topic(vector.topic)
        let info = envelope.withHeader { envelopeInfo(header: $0, topic: topic) }
        #expect(info == vector.info.bytes)
        let secret = try DHKEM.decapsulate(
            vector.enc.bytes.span, secret: vector.deviceSecret.bytes.span, publicKey: vector.devicePublic.bytes.span)
        let context = try HPKEContext(sharedSecret: secret, info: info.span)
        let inner = try envelope.withCiphertext { (ciphertext) throws(SodiumRefusal) in
            try context.open(ciphertext, authenticating: Bytes().span).bytes
        }
        #expect(inner == vector.inner.bytes)
        let content = contentHash(of: inner.span)
        #expect(content == vector.contentHash.bytes)
        let message = envelope.withHeader { header in
            signedMessage(
                header: header, enc: vector.enc.bytes.span, recipient: device.publicKey, sender: sender.publicKey,
                topic: topic, contentHash: content)
        }
        #expect(message == vector.signed.bytes)
        #expect(Bytes(inner[0..<4]) == vector.senderKeyID.bytes)
        #expect(Bytes(inner[4..<68]) == vector.signature.bytes)
        #expect(inner[68] == vector.contentType)
        #expect(Bytes(inner[69..<85]) == vector.messageID.bytes)
        #expect(Bytes(inner[99..<99 + vector.body.bytes.count]) == vector.body.bytes)
    }

    /// The sealer of a vector, whose key may be in a service.
    private func sealer(_ vector: Vector) throws -> Sealer {
        let key = try SenderKey(seed: vector.senderSeed.bytes.span)
        let topic = try Topic(vector.topic)
        guard let signature = vector.hedgeSignature?.bytes else { return Sealer(sender: key, topic: topic) }
        #expect(key.sign([Bytes("pushcrypt/1 hedge seed\0".utf8)]) == [signature])
        return Sealer(signer: try .connect(to: SigningService(key: key)), topic: topic)
    }

    private func randomness(_ vector: Vector) -> EnvelopeSealer.Randomness {
        // A message that its caller named draws none for its id.
        let messageID = vector.rMessageID?.bytes ?? Bytes(repeating: 0, count: 32)
        return EnvelopeSealer.Randomness(messageID: messageID.span, ephemeral: vector.rEphemeral.bytes.span)
    }
}

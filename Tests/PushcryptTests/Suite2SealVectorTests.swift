import PostQuantum
import Testing

@testable import Pushcrypt

/// Sealing to suite 2, as `Tests/Data/Vectors/suite-2-seals.json` has it: the same inputs, randomness included, give the same
/// bytes at each step.
@Suite(.postQuantum) struct Suite2SealVectorTests {
    struct Vectors: Codable {
        let seal: [Vector]
    }

    struct Vector: FormatVector {
        let name: String
        let topic: String
        let deviceSeed: Hex
        let devicePublic: Hex
        let recipientKeyID: Hex
        let providerSeed: Hex
        let sentAt: UInt64
        let ttl: UInt32
        let epoch: UInt32
        let signingSeed: Hex?
        let certificate: Hex?
        let hedgeKey: Hex
        let rMessageID: Hex?
        let callerID: String?
        let messageID: Hex
        let rEphemeral: Hex
        let contentHash: Hex
        let recipientHash: Hex
        let ikmE: Hex
        let randomness: Hex
        let enc: Hex
        let encHash: Hex
        let sharedSecret: Hex
        let info: Hex
        let key: Hex
        let nonce: Hex
        let signed: Hex
        let inner: Hex
        let payload: String
        let envelope: String
        let collapseID: String

        var signer: EnvelopeSigner {
            get throws {
                let provider = try ProviderKey(seed: providerSeed.bytes.span)
                guard let seed = signingSeed?.bytes, let certificate = certificate?.bytes else {
                    return EnvelopeSigner(provider)
                }
                let credential = try SigningCredential(
                    SigningKey(seed: seed.span), Certificate(bytes: certificate.span), by: provider.publicKey)
                return try EnvelopeSigner(credential, for: Topic(topic))
            }
        }
    }

    static func vectors() throws -> [Vector] {
        try FormatVectors.read("suite-2-seals.json", as: Vectors.self).seal
    }

    @Test(.vectors("suite-2-seals.json, seal"), arguments: try vectors())
    func aPayloadSealsToTheseBytes(_ vector: Vector) throws {
        let sealer = Sealer(signer: try vector.signer, topic: try Topic(vector.topic))
        var message = Sealer.Message(vector.payload.utf8)
        message.pushType = .voip
        message.name = vector.callerID
        message.timeToLive = .seconds(UInt64(vector.ttl))
        let messageID = vector.rMessageID?.bytes ?? Bytes(repeating: 0, count: 32)
        let sealed = try sealer.seal(
            message, to: DevicePublicKey(bytes: vector.devicePublic.bytes.span),
            at: Timestamp(milliseconds: vector.sentAt),
            Randomness(messageID: messageID.span, ephemeral: vector.rEphemeral.bytes.span))
        #expect(sealed.envelope.text == vector.envelope)
        #expect(sealed.messageID.bytes == vector.messageID.bytes)
        #expect(try sealer.request(for: sealed).collapseID == vector.collapseID)
        let expected = HMACSHA256(key: vector.hedgeKey.bytes.span).finishPublic()
        let hedged = sealer.signer.hedged().finishPublic()
        #expect(hedged == expected, "the hedge key")
    }

    @Test(arguments: try vectors()) func eachStepGivesTheseBytes(_ vector: Vector) throws {
        let device = try DeviceKey(scalar: vector.deviceSeed.bytes.span, .xwing)
        #expect(device.publicKey.bytes == vector.devicePublic.bytes)
        #expect(device.publicKey.id.description == vector.recipientKeyID.bytes.hex)
        #expect(device.publicKey.transcript == vector.recipientHash.bytes)
        let made = try KEM.encapsulate(to: device.publicKey, ikm: vector.ikmE.bytes.span)
        let (enc, secretMade) = (made.enc, made.sharedSecret.bytes)
        #expect(enc == vector.enc.bytes && secretMade == vector.sharedSecret.bytes)
        let encHash = SHA256.digest(enc.span)
        #expect(encHash == vector.encHash.bytes)
        let chosen = try XWing.encapsulate(
            to: vector.devicePublic.bytes.span, randomness: vector.randomness.bytes.span)
        let chosenEnc = chosen.enc
        #expect(chosenEnc == vector.enc.bytes)
        let secret = try KEM.decapsulate(vector.enc.bytes.span, with: device)
        #expect(secret.bytes == vector.sharedSecret.bytes)

        let envelope = try Envelope(text: vector.envelope)
        let topic = try Topic(vector.topic)
        let info = envelope.withHeader { envelopeInfo(header: $0, topic: topic) }
        #expect(info == vector.info.bytes)
        let context = try HPKEContext(.xwing, sharedSecret: secret, info: info.span)
        let inner = try envelope.withCiphertext { (ciphertext) throws(SodiumRefusal) in
            try context.open(ciphertext, authenticating: Bytes().span).bytes
        }
        #expect(inner == vector.inner.bytes)
        #expect(context.key.bytes == vector.key.bytes)
        #expect(context.baseNonce.bytes == vector.nonce.bytes)
        let content = contentHash(of: inner.span)
        #expect(content == vector.contentHash.bytes)
        let signer = try vector.signer
        #expect(signer.epoch == vector.epoch)
        let signed = envelope.withHeader { header in
            signedMessage(
                header: header, enc: vector.enc.bytes.span, .xwing, recipient: device.publicKey.transcript,
                by: SignedBy(provider: signer.providerKey, signing: signer.publicKey, epoch: vector.epoch),
                topic: topic,
                contentHash: content)
        }
        #expect(signed == vector.signed.bytes)
    }
}

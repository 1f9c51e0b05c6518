import PostQuantum
import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit/suite-2-envelopes` and `suite-2-keys`, which a program that is independent of libsodium made.
@Suite(.postQuantum) struct KitSuite2Tests {
    @Test(.vectors("kit/suite-2-envelopes"), arguments: try KitGroup.suite2Envelopes.vectors())
    func anEnvelopeOpensOrNot(_ vector: KitVector) throws {
        let fingerprint = try vector.one("fingerprint")
        #expect(try EnvelopeFingerprint(of: vector.text).description == fingerprint)
        let receiver = try KitReceiver(vector)
        let body = vector.body
        do {
            let envelope = try Envelope(text: body.span)
            #expect(envelope.recipientKeyID.description == vector.optional("recipient-key-id"))
            #expect(String(envelope.innerLength) == vector.optional("bucket"))
            #expect(try envelope.text == vector.text)
            let opened = try receiver.opener.open(envelope, at: receiver.now, as: receiver.pushClass)
            #expect(vector.expect == "opened")
            let payload = opened.payload
            #expect(try SHA256.digest(payload.span) == vector.bytes("payload-sha256"))
            #expect(try opened.messageID.bytes == vector.bytes("message-id"))
            #expect(try opened.sentAt.milliseconds == vector.number("sent-at"))
            #expect(try opened.provider.description == vector.one("provider"))
            #expect(try opened.epoch == vector.number("epoch"))
            var after = receiver.learned
            if opened.learned != LearnedTrust() { after[opened.provider] = opened.learned }
            #expect(after == receiver.learnedAfter)
        } catch let error as OpenError {
            #expect(error.code.description == vector.expect, "\(error)")
        }
    }

    @Test(.vectors("kit/suite-2-keys"), arguments: try KitGroup.suite2Keys.vectors())
    func aKeyIsReadOrNot(_ vector: KitVector) throws {
        let text = vector.body
        do {
            switch try vector.one("kind") {
            case "device-public":
                let key = try DevicePublicKey(text: String(decoding: text, as: UTF8.self))
                #expect(try key.bytes == vector.bytes("bytes"))
                #expect(key.id.description == vector.optional("key-id"))
                #expect(key.description == String(decoding: text, as: UTF8.self).filter { $0 != "\n" })
            case "device-secret":
                let key = try DeviceKey(text: text.span)
                #expect(try key.withScalar { Bytes(copying: $0) } == vector.bytes("bytes"))
                #expect(key.publicKey.bytes.hex == vector.optional("public-key"))
                #expect(key.publicKey.id.description == vector.optional("key-id"))
                #expect(key.withText { Bytes(copying: $0) } == Bytes(text.filter { $0 != 0x0a }))
            case "provider-public": _ = try ProviderPublicKey(text: String(decoding: text, as: UTF8.self))
            case "provider-secret": _ = try ProviderKey(text: text.span)
            case "signing-secret": _ = try SigningKey(text: text.span)
            case let kind: Issue.record("an unknown kind: \(kind)")
            }
            #expect(vector.expect == "accepted")
        } catch let error as KeyError {
            #expect(error.code.description == vector.expect, "\(error)")
        }
    }
}

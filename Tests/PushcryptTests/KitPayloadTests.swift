import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit/payloads`: what a sealer makes of a payload, and what it refuses. (`Docs/Format.md`, S-1 to S-12)
@Suite struct KitPayloadTests {
    @Test(.vectors("kit/payloads"), arguments: try KitGroup.payloads.vectors())
    func aPayloadIsSealedOrNot(_ vector: KitVector) throws {
        let end = try vector.optional("certificate-expires-at").map {
            Timestamp(milliseconds: try #require(UInt64($0)))
        }
        let fixture = try FormatFixture(epoch: vector.optional("certificate") == "yes" ? 1 : 0, expiresAt: end)
        let time = try vector.time
        do {
            let sealed = try seal(vector, fixture, at: time)
            #expect(vector.expect == "accepted")
            #expect(String(sealed.envelope.innerLength) == vector.optional("bucket"))
            #expect(String(sealed.json.count) == vector.optional("length"))
            #expect(String(sealed.maximumReencodedLength) == vector.optional("widest-length"))
            #expect(try clearPart(of: sealed) == vector.one("clear"))
            // A receiver opens the payload with the fewest bytes.
            let opened = try fixture.opener().open(sealed.json, at: time, as: sealed.pushType.sealableClass())
            let payload = opened.payload
            #expect(try SHA256.digest(payload.span) == vector.bytes("payload-sha256"))
        } catch let error as SealError {
            #expect(vector.expect == "refused", "\(error)")
        }
    }

    private func seal(_ vector: KitVector, _ fixture: FormatFixture, at time: Timestamp) throws -> SealedPayload {
        var message = Sealer.Message(vector.body)
        message.pushType = try PushType(vector.one("push-type"))
        message.timeToLive = .seconds(try vector.number("time-to-live"))
        message.isSentExactly = vector.optional("sent-exactly") == "yes"
        message.attachments = try vector.all("attachment").map { try AttachmentReference(json: Bytes($0.utf8)) }
        return try fixture.sealer(placeholder(vector)).seal(message, to: fixture.device.publicKey, at: time)
    }

    private func placeholder(_ vector: KitVector) throws -> Placeholder {
        let sound: Placeholder.Sound =
            switch vector.optional("clear-sound") {
            case nil: .matching
            case "none": .silent
            case let name?: .named(name)
            }
        let fields = try vector.all("kept").map { try #require(Placeholder.ClearField(rawValue: $0)) }
        return try Placeholder(
            title: vector.optional("title") ?? Placeholder.standardTitle, sound: sound, clearFields: Set(fields))
    }

    /// The push without its envelope.
    private func clearPart(of sealed: SealedPayload) throws -> String {
        let json = String(decoding: sealed.json, as: UTF8.self)
        return json.replacing(",\"ENCRYPTED_DATA\":\"\(sealed.envelope.text)\"", with: "")
    }
}

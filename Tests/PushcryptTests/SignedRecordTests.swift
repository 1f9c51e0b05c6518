import Testing

@testable import Pushcrypt

/// `Tests/Data/Vectors/signed.json`.
struct SignedVectors: Codable {
    struct Record: FormatVector {
        let name: String
        let updateSeed: Hex
        let channel: UInt8
        let context: String
        @OrNull var provider: String?
        let record: String
        let signed: Hex
        let signature, body: String
    }

    struct Reply: FormatVector {
        let name: String
        let providerSeed: Hex
        @OrNull var signingSeed: Hex?
        @OrNull var certificate: String?
        let context, replyRecord: String
        let asked, signed: Hex
        let body: String
    }

    struct Belief: FormatVector {
        let name, context: String
        let now: UInt64
        let pins, learned: [String]
        let asked: Hex
        let body: String
        let believed: Bool

        var trust: ProviderTrust {
            get throws {
                var known: [ProviderPublicKey: LearnedTrust] = [:]
                for line in learned {
                    let words = line.split(separator: " ").map(String.init)
                    known[try ProviderPublicKey(text: words[0])] = LearnedTrust(
                        try Certificate(text: words[1]), floor: try #require(UInt32(words[2])))
                }
                return ProviderTrust(
                    try pins.map { pin in
                        let key = try ProviderPublicKey(text: pin)
                        return ProviderTrust.Pin(key, known[key] ?? LearnedTrust())
                    })
            }
        }
    }

    struct Sequence: FormatVector {
        let name: String
        let last, clock, next: UInt64
    }

    struct Stale: FormatVector {
        let name: String
        let last, told, after: UInt64
    }

    let records: [Record]
    let replies: [Reply]
    let beliefs: [Belief]
    /// Of the phone's state, in `EnrolmentSequenceTests`.
    let sequences: [Sequence]
    let stale: [Stale]

    static let file = Result { try FormatVectors.read("signed.json", as: SignedVectors.self) }
}

/// Signed records and replies, compared with an independent implementation in Python. (`Docs/FormatRecords.md`, Posts)
@Suite struct SignedRecordTests {
    @Test(.vectors("signed records"), arguments: try SignedVectors.file.get().records)
    func recordsAreSignedAsTheFormatSays(_ one: SignedVectors.Record) throws {
        let key = try SigningKey(seed: one.updateSeed.bytes.span)
        let (channel, topic) = (try #require(SignedRecord.Channel(rawValue: one.channel)), try Topic(one.context))
        guard case .record(let record) = try PhonePost(json: Bytes(one.body.utf8), over: channel) else {
            throw FormatVectors.Failure(one.body)
        }
        #expect(record.bytes == Bytes(one.record.utf8) && record.body == Bytes(one.body.utf8))
        #expect(record.provider?.description == one.provider)
        // Ed25519 has one signature of a message.
        #expect(Base64URL.string(key.signature(of: one.signed.bytes.span).span) == one.signature)
        #expect(record.isSigned(by: key.publicKey, over: channel, for: topic))
        #expect(!record.isSigned(by: key.publicKey, over: channel == .open ? .session : .open, for: topic))
        #expect(!record.isSigned(by: key.publicKey, over: channel, for: try Topic("com.example.appx")))
        #expect(!record.isSigned(by: SigningKey().publicKey, over: channel, for: topic))
        // This library signs the members in its own order.
        let own =
            switch record.content {
            case .registration(let registration): SignedRecord(registration, by: key, over: channel, for: topic)
            case .end(let end): SignedRecord(end, by: key, for: topic)
            }
        #expect(own.isSigned(by: key.publicKey, over: channel, for: topic))
        let again = try PhonePost(json: own.body, over: channel)
        guard case .record(own) = again else { throw FormatVectors.Failure("\(again)") }
        if own.bytes == record.bytes { #expect(own.body == Bytes(one.body.utf8)) }
    }

    @Test(.vectors("signed replies"), arguments: try SignedVectors.file.get().replies)
    func repliesAreSignedAsTheFormatSays(_ one: SignedVectors.Reply) throws {
        let (provider, topic) = (try ProviderKey(seed: one.providerSeed.bytes.span), try Topic(one.context))
        let key = try one.signingSeed.map { try SigningKey(seed: $0.bytes.span) }
        let certificate = try one.certificate.map { try Certificate(text: $0) }
        let signer =
            if let key, let certificate {
                EnvelopeSigner(verified: certificate, key, by: provider.publicKey, for: topic)
            } else { EnvelopeSigner(provider) }
        let reply = try RegistrationReply(json: Bytes(one.replyRecord.utf8))
        #expect(reply.certificate == certificate)
        let body = SignedReply.body(reply, to: one.asked.bytes, by: signer, for: topic)
        // The order of the members is free.
        if reply.json == Bytes(one.replyRecord.utf8) { #expect(body == Bytes(one.body.utf8)) }
        let trust = ProviderTrust([ProviderTrust.Pin(provider.publicKey, LearnedTrust(certificate))])
        for body in [body, Bytes(one.body.utf8)] {
            let read = SignedReply.open(
                body, to: one.asked.bytes, trusting: trust, for: topic, at: FormatFixture.now)
            #expect(read == reply)
        }
    }

    /// [D-44]
    @Test(.vectors("beliefs in signed replies"), arguments: try SignedVectors.file.get().beliefs)
    func aReplyIsBelievedIfAMessageOfItsSignerWouldOpen(_ one: SignedVectors.Belief) throws {
        let reply = SignedReply.open(
            Bytes(one.body.utf8), to: one.asked.bytes, trusting: try one.trust, for: try Topic(one.context),
            at: Timestamp(milliseconds: one.now))
        #expect((reply != nil) == one.believed)
    }
}

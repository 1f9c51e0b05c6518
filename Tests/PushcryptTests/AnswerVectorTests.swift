import Testing

@testable import Pushcrypt

/// `Tests/Data/Vectors/answers.json`.
struct AnswerVectors: Codable {
    /// The answer id and key of a message.
    struct Key: FormatVector {
        let name: String
        let secret: Hex
        let devicePublic: Hex
        let topic: String
        let messageID: Hex
        let sentAt: UInt64
        let answerID: Hex
        let answerKey: Hex
        let answer: String

        var message: MessageID? { MessageID(bytes: messageID.bytes.span) }
    }

    /// A user's action.
    struct Members: Codable, Sendable {
        let message_id: String
        let sent_at: UInt64
        let action: String
        let text: String?
        let at: UInt64
    }

    /// An answer that opens.
    struct Good: FormatVector {
        let name: String
        let secrets: [Hex]
        let devices: [Hex]
        let topic: String
        let now: UInt64
        let within: UInt64?
        let device: Hex
        let given: String
        let random: Hex
        let members: Members
        let json: String
        let text: String

        var key: AnswerKey? {
            Base64URL.decode(Bytes(given.utf8).span).flatMap { AnswerKey(bytes: $0.span) }
        }

        func answer() throws -> Answer {
            let id = try #require(Bytes(lowerCaseHex: members.message_id).flatMap { MessageID(bytes: $0.span) })
            return Answer(
                device: try DevicePublicKey(bytes: device.bytes.span), id,
                sentAt: Timestamp(milliseconds: members.sent_at), action: members.action, text: members.text,
                answeredAt: Timestamp(milliseconds: members.at))
        }
    }

    /// An answer that does not open, and the code.
    struct Refused: FormatVector {
        let name: String
        let secrets: [Hex]
        let devices: [Hex]
        let topic: String
        let now: UInt64
        let within: UInt64?
        let text: String
        let code: String
    }

    let keys: [Key]
    let answers: [Good]
    let refused: [Refused]

    static func file() throws -> AnswerVectors { try FormatVectors.read("answers.json") }

    static func open(
        _ text: String, secrets: [Hex], devices: [Hex], topic: String, now: UInt64, within: UInt64?
    ) throws -> Answer {
        let opener = AnswerOpener(
            topic: try Topic(topic), secrets: try secrets.map { try AnswerSecret(bytes: $0.bytes.span) },
            devices: try devices.map { try DevicePublicKey(bytes: $0.bytes.span) })
        let now = Timestamp(milliseconds: now)
        guard let within else { return try opener.open(text, at: now) }
        return try opener.open(text, at: now, within: .seconds(within))
    }
}

/// The vectors of answers, which an independent program made and the packages of other languages read too.
@Suite struct AnswerVectorTests {
    @Test(.vectors("answer keys"), arguments: try AnswerVectors.file().keys)
    func idAndKeyAreThoseOfTheVector(_ vector: AnswerVectors.Key) throws {
        let secret = try AnswerSecret(bytes: vector.secret.bytes.span)
        let key = try secret.key(
            of: try #require(vector.message),
            sentAt: Timestamp(milliseconds: vector.sentAt),
            to: try DevicePublicKey(bytes: vector.devicePublic.bytes.span), try Topic(vector.topic))
        #expect(key.id == vector.answerID.bytes)
        #expect(key.withBytes { Bytes(copying: $0) } == vector.answerID.bytes + vector.answerKey.bytes)
        var json = JSONWriter()
        json.object { key.write(to: &$0) }
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"answer":"\#(vector.answer)"}"#)
    }

    @Test(.vectors("answers"), arguments: try AnswerVectors.file().answers)
    func opens(_ vector: AnswerVectors.Good) throws {
        let answer = try AnswerVectors.open(
            vector.text, secrets: vector.secrets, devices: vector.devices, topic: vector.topic, now: vector.now,
            within: vector.within)
        #expect(try answer == vector.answer())
    }

    /// This program seals no members of a later version, and no null.
    @Test(
        .vectors("sealed answers"),
        arguments: try AnswerVectors.file().answers.filter {
            !["other members are ignored", "a reply that is null"].contains($0.name)
        })
    func sealsTheSameBytes(_ vector: AnswerVectors.Good) throws {
        let key = try #require(vector.key)
        let answer = try vector.answer()
        #expect(String(decoding: answer.json, as: UTF8.self) == vector.json)
        #expect(try SealedAnswer(answer, with: key, random: vector.random.bytes.span).text == vector.text)
    }

    @Test(.vectors("refused answers"), arguments: try AnswerVectors.file().refused)
    func refuses(_ vector: AnswerVectors.Refused) throws {
        let error = try #require(
            #expect(throws: OpenError.self) {
                try AnswerVectors.open(
                    vector.text, secrets: vector.secrets, devices: vector.devices, topic: vector.topic,
                    now: vector.now, within: vector.within)
            })
        #expect(error.code.description == vector.code, "\(error)")
    }
}

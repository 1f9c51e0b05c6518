import Testing

@testable import Pushcrypt

/// Answers from the sealing of the message to the opening of the answer.
@Suite struct AnswerTests {
    private static let now = FormatFixture.now

    private static func secret() throws -> AnswerSecret {
        try AnswerSecret(bytes: Bytes(repeating: 0x5a, count: 32).span)
    }

    private static func seal(
        _ fixture: FormatFixture, to device: DevicePublicKey? = nil, at now: Timestamp = now,
        _ change: (inout Sealer.Message) -> Void = { _ in }
    ) throws -> SealedPayload {
        var message = Sealer.Message(alertPayload().utf8)
        message.isAnswerable = true
        change(&message)
        let sealer = Sealer(provider: fixture.provider, topic: fixture.topic, answers: try secret())
        return try sealer.seal(message, to: device ?? fixture.device.publicKey, at: now)
    }

    private static func opener(_ devices: [DevicePublicKey]) throws -> AnswerOpener {
        AnswerOpener(topic: try FormatFixture.app, secrets: [try secret()], devices: devices)
    }

    @Test func whoOpenedAMessageAnswersIt() throws {
        let fixture = try FormatFixture()
        let sealed = try Self.seal(fixture)
        let opened = try fixture.opener().open(sealed.json, at: Self.now)
        let at = Self.now.adding(.minutes(3))
        let text = try #require(try opened.answer("REPLY", text: "On my way", at: at))
        let answer = try Self.opener([fixture.device.publicKey]).open(text, at: at, within: .minutes(10))
        #expect(answer.device == fixture.device.publicKey)
        #expect(answer.messageID == sealed.messageID)
        #expect(answer.sentAt == Self.now)
        #expect(answer.answeredAt == at)
        #expect((answer.action, answer.text) == ("REPLY", "On my way"))
    }

    /// The bytes that a provider of another language gets are those of the vectors; here the member in the payload is.
    @Test(arguments: [nil, "deploy-17"])
    func theMemberIsOfTheMessageThatIsSealed(_ name: String?) throws {
        let fixture = try FormatFixture()
        let sealed = try Self.seal(fixture) { $0.name = name }
        let opened = try fixture.opener().open(sealed.json, at: Self.now)
        #expect(opened.messageID == sealed.messageID)
        let key = try #require(opened.answerKey)
        let expected = try Self.secret().key(
            of: sealed.messageID, sentAt: Self.now, to: fixture.device.publicKey, fixture.topic)
        #expect(key.withBytes { Bytes(copying: $0) } == expected.withBytes { Bytes(copying: $0) })
    }

    @Test func messagesWithoutANameHaveDifferentIDs() throws {
        let fixture = try FormatFixture()
        #expect(try Self.seal(fixture).messageID != Self.seal(fixture).messageID)
    }

    @Test func aMessageThatIsNotAnswerableHasNoAnswer() throws {
        let fixture = try FormatFixture()
        let sealed = try Self.seal(fixture) { $0.isAnswerable = false }
        let opened = try fixture.opener().open(sealed.json, at: Self.now)
        #expect(try opened.answer("APPROVE", at: Self.now) == nil)
        #expect(!String(decoding: opened.payload, as: UTF8.self).contains("pushcrypt"))
    }

    /// The name would be used for another payload otherwise. (Q-2)
    @Test func anAnswerableRetryHasTheSameID() throws {
        let fixture = try FormatFixture()
        let sealed = try [0, 1].map { minutes in
            try Self.seal(fixture, at: Self.now.adding(.minutes(minutes))) { $0.name = "deploy-17" }
        }
        #expect(sealed[0].messageID == sealed[1].messageID)
        let answers = try sealed.map { try fixture.opener().open($0.json, at: Self.now.adding(.minutes(1))) }
            .map { try #require(try $0.answer("APPROVE", at: Self.now)) }
        let opener = try Self.opener([fixture.device.publicKey])
        #expect(try answers.map { try opener.open($0, at: Self.now).sentAt }[1] == Self.now.adding(.minutes(1)))
    }

    @Test(arguments: [
        #""answer":"""#, #""answer":7"#, #""answer":null"#, #""answer":{"url":"x"}"#,
        #""answer":"\#(String(repeating: "A", count: 63))""#, #""answer":"\#(String(repeating: "A", count: 65))""#,
        #""answer":"\#(String(repeating: "A", count: 63))+""#, #""answer":"\#(String(repeating: "A", count: 60))====""#,
        #""answer":"\#(String(repeating: "A", count: 68))""#,
    ])
    func anotherMemberCountsAsAbsent(_ member: String) throws {
        let payload = Bytes(#"{"aps":{},"pushcrypt":{\#(member)}}"#.utf8)
        #expect(AnswerKey(in: try JSONDocument(parsing: payload).root) == nil)
        let good = Bytes(#"{"pushcrypt":{"answer":"\#(String(repeating: "A", count: 64))"}}"#.utf8)
        #expect(AnswerKey(in: try JSONDocument(parsing: good).root) != nil)
    }

    @Test func twoPhonesAnswerOneMessage() throws {
        let phones = try [1, 2].map { try FormatFixture(device: $0) }
        let opener = try Self.opener(phones.map(\.device.publicKey))
        let answers = try phones.map { phone in
            let sealed = try Self.seal(phone) { $0.name = "deploy-17" }
            let opened = try phone.opener().open(sealed.json, at: Self.now)
            return try #require(try opened.answer("APPROVE", at: Self.now))
        }
        let opened = try answers.map { try opener.open($0, at: Self.now) }
        #expect(opened.map(\.device) == phones.map(\.device.publicKey))
        #expect(opened[0].messageID == opened[1].messageID)
        // One phone's id tells nothing about the other's.
        #expect(
            try SealedAnswer(text: Bytes(answers[0].utf8).span).answerID
                != SealedAnswer(text: Bytes(answers[1].utf8).span).answerID)
    }

    /// The caller's limit only shortens the time.
    @Test(arguments: [nil, Interval.days(31), .days(32), .seconds(.max)])
    func anAnswerEndsAfter31Days(_ limit: Interval?) throws {
        let fixture = try FormatFixture()
        let opened = try fixture.opener().open(Self.seal(fixture).json, at: Self.now)
        let text = try #require(try opened.answer("APPROVE", at: Self.now))
        let opener = try Self.opener([fixture.device.publicKey])
        func open(at now: Timestamp) throws(OpenError) -> Answer {
            guard let limit else { return try opener.open(text, at: now) }
            return try opener.open(text, at: now, within: limit)
        }
        let end = Self.now.adding(.days(31))
        #expect(try open(at: end).action == "APPROVE")
        #expect(throws: OpenError(.expired, "")) { try open(at: end.adding(milliseconds: 1)) }
    }

    @Test func whatDoesNotFitIsRefused() throws {
        let fixture = try FormatFixture()
        let opened = try fixture.opener().open(Self.seal(fixture).json, at: Self.now)
        for action in ["", String(repeating: "a", count: 256)] {
            #expect(throws: SealError(.invalidRequest, "")) { try opened.answer(action, at: Self.now) }
        }
        #expect(throws: SealError(.payloadTooLarge, "")) {
            try opened.answer("REPLY", text: String(repeating: "a", count: 4096), at: Self.now)
        }
        #expect(try opened.answer(String(repeating: "a", count: 255), at: Self.now) != nil)
    }

    /// The same answer twice is two texts: sealing is randomised, and depends on the answer if the random source fails.
    @Test func twoAnswersHaveDifferentSalts() throws {
        let fixture = try FormatFixture()
        let opened = try fixture.opener().open(Self.seal(fixture).json, at: Self.now)
        #expect(try opened.answer("A", at: Self.now) != opened.answer("A", at: Self.now))
        let key = try #require(opened.answerKey)
        let random = Bytes(repeating: 0, count: 16)
        let salts = try ["A", "B"].map { action in
            let answer = Answer(
                device: fixture.device.publicKey, opened.messageID, sentAt: Self.now, action: action, text: nil,
                answeredAt: Self.now)
            return try SealedAnswer(answer, with: key, random: random.span).bytes[21..<37]
        }
        #expect(salts[0] != salts[1])
    }

    @Test(arguments: [0, 31, 33]) func aSecretHas32Bytes(_ count: Int) {
        #expect(throws: KeyError(.malformedKey, "")) {
            try AnswerSecret(bytes: Bytes(repeating: 1, count: count).span)
        }
    }

    @Test func nothingSecretIsPrinted() throws {
        let secret = try Self.secret()
        let key = try secret.key(
            of: MessageID(callerName: "a"), sentAt: Self.now, to: FormatFixture.device(1).publicKey, FormatFixture.app)
        #expect(["\(secret)", String(reflecting: secret)].allSatisfy { $0 == "AnswerSecret" })
        #expect(["\(key)", String(reflecting: key)].allSatisfy { $0 == "AnswerKey" })
        for value in [secret as Any, key as Any] { #expect(Mirror(reflecting: value).children.isEmpty) }
    }
}

import Foundation
import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import Simulated

/// The answer keys that a phone keeps, and for how long.
@Suite struct AnswerTests {
    private static let payload = #"{"aps":{"alert":{"body":"Deploy?"},"category":"APPROVAL"},"chat":"c41"}"#

    private let provider: Provider
    private let phone: Phone
    private let secret = AnswerSecret()

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
    }

    private func push(
        named name: String = "deploy-17", to id: String = Phone.id, isAnswerable: Bool = true,
        at now: Timestamp = .start
    ) throws -> Bytes {
        var options = Sealer.Message([])
        options.isAnswerable = isAnswerable
        options.name = name
        return try provider.push(Self.payload, to: id, at: now, like: options, answers: secret)
    }

    /// Receives a push, and returns the response to what is shown.
    @discardableResult
    private func show(
        _ push: Bytes, request: String = "r", on other: Phone? = nil, at now: Timestamp = .start
    ) throws -> NotificationResponseValue {
        let reception = (other ?? phone).receive(push, request: request, at: now)
        #expect(reception.warnings.isEmpty)
        var response = NotificationResponseValue(
            requestIdentifier: request, action: .custom("APPROVE"), userInfo: reception.delivery.content.userInfo,
            categoryIdentifier: "APPROVAL")
        response.mark = reception.mark
        return response
    }

    private func answers(of other: Phone? = nil) -> AnswerKeys {
        (other ?? phone).database.answerKeys
    }

    private func answer(
        _ response: NotificationResponseValue, _ action: String = "APPROVE", text: String? = nil,
        on other: Phone? = nil, answeredAt: Timestamp? = nil, at now: Timestamp = .start
    ) throws -> String? {
        try answers(of: other).answer(
            to: response, action: action, text: text, openedWith: (other ?? phone).store,
            answeredAt: answeredAt ?? now, at: now)
    }

    private func open(_ text: String?, at now: Timestamp = .start, devices: [DevicePublicKey]? = nil) throws -> Answer {
        let devices = try devices ?? phone.store.keys().map(\.publicKey)
        return try AnswerOpener(topic: .app, secrets: [secret], devices: devices).open(#require(text), at: now)
    }

    private func kept() throws -> Int {
        let count = try phone.database.read { (connection) throws(KeyStoreError) in
            try connection.integer("SELECT count(*) FROM answers")
        }
        return Int(try #require(count))
    }

    // MARK: Answering

    @Test func theResponseIsSealedForTheProvider() throws {
        let response = try show(push())
        let later = Timestamp.start.plus(seconds: 90)
        let text = try answer(response, text: "yes", answeredAt: later, at: .start.plus(days: 2))
        let answer = try open(text, at: .start.plus(days: 2))
        #expect((answer.action, answer.text, answer.answeredAt) == ("APPROVE", "yes", later))
        #expect(answer.messageID == MessageID(callerName: "deploy-17"))
        #expect(answer.sentAt == .start)
    }

    /// A response that is passed twice is one answer; another action is another one.
    @Test func aRepeatedResponseIsTheSameAnswer() throws {
        let response = try show(push())
        let first = try answer(response)
        #expect(try answer(response, at: .start.plus(seconds: 7)) == first)
        #expect(try answer(response, "DECLINE") != first)
        #expect(try answer(response, text: "") != answer(response))
    }

    @Test func whatIsNotAnswerableHasNoAnswer() throws {
        let response = try show(push(isAnswerable: false))
        #expect(try answer(response) == nil)
        #expect(try kept() == 0)
        var unmarked = try show(push(named: "other"), request: "s")
        unmarked.mark = nil
        #expect(try answer(unmarked) == nil)
    }

    /// The provider recognises each phone by its key.
    @Test func twoPhonesAnswerOneMessage() throws {
        let other = try Phone(enrolledWith: provider, as: "phone2")
        let texts = try [
            answer(show(push())), answer(show(push(to: "phone2"), on: other), "DECLINE", on: other),
        ]
        let devices = try [phone, other].map { try $0.newestKey().publicKey }
        let opened = try texts.map { try open($0, devices: devices) }
        #expect(opened.map(\.device) == devices)
        #expect(opened.map(\.action) == ["APPROVE", "DECLINE"])
        #expect(opened[0].messageID == opened[1].messageID)
    }

    /// The extension never ran: the user saw the clear part, and only taps.
    @Test func whatTheAppOpensItselfCanBeAnswered() throws {
        let response = NotificationResponseValue(
            requestIdentifier: "r", action: .custom("APPROVE"), userInfo: try push())
        let received = response.received(by: phone.receiver(), at: .start)
        #expect(received.value.action == .open)
        #expect(try open(answer(received.value, "CONFIRM")).action == "CONFIRM")
    }

    /// A kept response has the mark too.
    @Test func aKeptResponseIsAnsweredLater() throws {
        let response = try show(push())
        let json = response.json
        let again = try #require(NotificationResponseValue(json: json))
        #expect(again == response)
        #expect(try open(answer(again)).action == "APPROVE")
    }

    // MARK: Keeping

    @Test func theKeyIsSealedAndNotInTheUserInfo() throws {
        let push = try push()
        let opened = try Opener(topic: .app, deviceKeys: [phone.newestKey().deviceKey()], trust: phone.trust)
            .open(push, at: .start)
        let root = try JSONSerialization.jsonObject(with: Data(opened.payload)) as? [String: Any]
        let text = try #require((root?["pushcrypt"] as? [String: String])?["answer"])
        let key = try #require(opened.answerKey).withBytes { Data(Bytes(copying: $0).suffix(32)) }
        let response = try show(push)
        #expect(try kept() == 1)
        let userInfo = String(decoding: response.userInfo, as: UTF8.self)
        #expect(userInfo == #"{"chat":"c41"}"#)
        _ = try answer(response)
        for name in try FileManager.default.contentsOfDirectory(atPath: phone.folder.path) {
            let bytes = try Data(contentsOf: phone.folder.file(name))
            #expect(bytes.range(of: key) == nil && bytes.range(of: Data(text.utf8)) == nil, "\(name)")
        }
    }

    @Test func aBackgroundPushKeepsNothing() throws {
        var options = Sealer.Message([])
        (options.isAnswerable, options.pushType) = (true, .background)
        let push = try provider.push(
            #"{"aps":{"content-available":1}}"#, at: .start, like: options, answers: secret)
        let reception = phone.receive(push, as: .background, at: .start)
        #expect(reception.opened != nil)
        #expect(try kept() == 0)
        // The app has the message, and answers it at once.
        #expect(try open(reception.opened?.answer("SYNCED", at: .start)).action == "SYNCED")
    }

    @Test func aCopyUnderAnotherRequestChangesNothing() throws {
        let push = try push()
        let response = try show(push)
        _ = phone.receive(push, request: "copy", at: .start)
        #expect(try kept() == 1)
        #expect(try open(answer(response)).action == "APPROVE")
    }

    /// The message was sealed again meanwhile, and both name the same message.
    @Test func aRetryIsAnsweredByItsOwnTime() throws {
        try show(push())
        let later = Timestamp.start.plus(seconds: 600)
        let response = try show(push(at: later), at: later)
        #expect(try open(answer(response, at: later), at: later).sentAt == later)
        // The relay sends the first one again.
        _ = try show(push(), at: later)
        #expect(try kept() == 1)
    }

    @Test func ofTooManyTheOldestIsDropped() throws {
        let responses = try (0...AnswerKeys.capacity).map { number in
            let time = Timestamp.start.plus(seconds: UInt64(number))
            return try show(push(named: "m\(number)", at: time), request: "r\(number)", at: time)
        }
        #expect(try kept() == AnswerKeys.capacity)
        let end = Timestamp.start.plus(seconds: 300)
        #expect(try answer(responses[0], at: end) == nil)
        #expect(try answer(responses[1], at: end) != nil)
    }

    // MARK: The end

    @Test func itEndsWhenTheAppIsDone() throws {
        let response = try show(push())
        try answers().remove(#require(response.mark))
        #expect(try kept() == 0)
        #expect(try answer(response) == nil)
    }

    @Test(arguments: [true, false]) func itEndsWithAWithdrawal(_ comesFirst: Bool) throws {
        let push = try push()
        var options = Sealer.Message([])
        options.withdrawing = ["deploy-17"]
        let withdrawal = try provider.push(at: .start, like: options)
        if comesFirst { _ = phone.receive(withdrawal, request: "w", at: .start) }
        let response = try show(push)
        if !comesFirst {
            #expect(try kept() == 1)
            _ = phone.receive(withdrawal, request: "w", at: .start)
        }
        #expect(try kept() == 0)
        #expect(try answer(response) == nil)
    }

    /// A withdrawal between the taking and the handing over.
    @Test func aWithdrawnMessageIsNotKeptAfterwards() throws {
        let opened = try phone.receiver().open(IncomingPush(ReceivedPush(push())), requestID: "r", at: .start)
        let claim = opened.take(at: .start)
        var options = Sealer.Message([])
        options.withdrawing = ["deploy-17"]
        _ = phone.receive(try provider.push(at: .start, like: options), request: "w", at: .start)
        #expect(opened.handOver(after: claim, at: .start).delivery.outcome == .withdrawn)
        #expect(try kept() == 0)
    }

    /// The notification shows another message now, whose answer this must not be.
    @Test(arguments: [true, false]) func itEndsWhenAnotherMessageTakesTheNotification(_ isAnswerable: Bool) throws {
        let response = try show(push())
        try show(push(named: "deploy-18", isAnswerable: isAnswerable))
        #expect(try kept() == (isAnswerable ? 1 : 0))
        #expect(try answer(response) == nil)
    }

    @Test func aResponseThatWasGivenIsNotLostToAnotherMessage() throws {
        let response = try show(push())
        try answers().hold(#require(response.mark))
        try show(push(named: "deploy-18"))
        #expect(try open(answer(response)).messageID == MessageID(callerName: "deploy-17"))
    }

    @Test func itEndsAfter31Days() throws {
        let response = try show(push())
        #expect(try answer(response, at: .start.plus(days: 31)) != nil)
        #expect(try answer(response, at: .start.plus(days: 31, milliseconds: 1)) == nil)
        #expect(try kept() == 0)
    }

    /// Nobody asks for it any more: the next message deletes it, and so does a launch of the app.
    @Test(arguments: [true, false]) func nothingIsLeftAfter31Days(_ byMessage: Bool) throws {
        try show(push())
        let end = Timestamp.start.plus(days: 31)
        try phone.database.answerKeys.prune(at: end)
        #expect(try kept() == 1)
        let later = end.plus(milliseconds: 1)
        if byMessage {
            _ = phone.receive(try push(named: "other", isAnswerable: false, at: later), request: "s", at: later)
        } else {
            try phone.database.answerKeys.prune(at: later)
        }
        #expect(try kept() == 0)
    }

    // MARK: Device keys

    /// A replaced key opens for 31 more days, as long as the message can be answered.
    @Test func aRotationOfTheDeviceKeyEndsNothing() throws {
        let old = try phone.newestKey().publicKey
        let response = try show(push())
        try phone.store.edit { state in
            try state.rotate(at: .start)
            try state.confirm(at: .start.plus(seconds: 1))
        }
        let end = Timestamp.start.plus(days: 31)
        #expect(try phone.newestKey().publicKey != old)
        #expect(try open(answer(response, at: end), at: end).device == old)
    }

    @Test func afterALogOutNothingOpensIt() throws {
        let response = try show(push())
        try phone.store.edit { $0.removeAccount(Phone.account) }
        #expect(try answer(response) == nil)
        #expect(try kept() == 0)
    }

    @Test func beforeTheFirstUnlockItWaits() throws {
        let (response, locked) = (try show(push()), FailingStore(phone.store))
        locked.fail(with: KeyStoreError(.storeLocked, ""))
        #expect(throws: KeyStoreError(.storeLocked, "")) {
            try answers().answer(
                to: response, action: "APPROVE", text: nil, openedWith: locked, answeredAt: .start, at: .start)
        }
        #expect(try kept() == 1)
        #expect(try answer(response) != nil)
    }

    /// Someone who may write the file: nothing opens, and nothing crashes.
    @Test(arguments: [
        "sealed = x'00'", "sealed = zeroblob(length(sealed))", "sent = sent + 1", "key_id = -1", "key_id = 'x'",
        "sealed = 7", "given = 'x'", "given = x'01'", "request = 7",
    ])
    func aChangedRowGivesNoFalseAnswer(_ change: String) throws {
        let response = try show(push())
        try phone.database.write(at: .start) { (connection) throws(KeyStoreError) in
            try connection.execute("UPDATE answers SET \(change)")
        }
        let text = try answer(response)
        if let text { #expect(try open(text).action == "APPROVE") }
        #expect((text != nil) == change.hasPrefix("given"))
    }

    /// The row of another message, instead of this one.
    @Test func aMovedKeyAnswersNothing() throws {
        let response = try show(push())
        try show(push(named: "deploy-18"), request: "s")
        try phone.database.write(at: .start) { (connection) throws(KeyStoreError) in
            _ = try connection.rows(
                "UPDATE answers SET sealed = (SELECT sealed FROM answers WHERE mark <> ?) WHERE mark = ?",
                [.text(response.mark?.text), .text(response.mark?.text)])
        }
        #expect(try answer(response) == nil)
    }
}

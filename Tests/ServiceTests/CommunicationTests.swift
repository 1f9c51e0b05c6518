import Foundation
import Intents
import Pushcrypt
import PushcryptIntents
import PushcryptReceiver
import TestPhone
import Testing
import UserNotifications
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptService

/// Notifications with a sender, the change's context, and pushes that the app opens itself.
@Suite(.oneAtATime) struct CommunicationTests {
    private let phone: TestPhone
    private let face: SealedAttachment

    init() throws {
        phone = try TestPhone()
        face = try SealedAttachment(SealedAttachment.plain(70_000), name: "anna.jpg")
    }

    private func sender(_ name: String = "Anna", recipients: [String] = []) throws -> CommunicationSender {
        try #require(
            CommunicationSender(
                name: name, handle: "u17", conversation: "c41", recipients: recipients, avatar: face.reference))
    }

    private func configuration(_ play: PlayedTransport.Play) -> NotificationServiceHandler.Configuration {
        var configuration = phone.downloading(PlayedTransport { _ in play })
        configuration.senders = .intents()
        return configuration
    }

    private func request(
        from sender: CommunicationSender?, named name: String? = nil, withdrawing: [String] = [],
        isDropped: Bool = false, as type: PushType = .alert
    ) throws -> UNNotificationRequest {
        var options = Sealer.Message([])
        options.pushType = type
        (options.name, options.withdrawing, options.isDropped) = (name, withdrawing, isDropped)
        let json = try phone.seal(TestPhone.payload, from: sender, like: options)
        return try TestPhone.request(json, identifier: "1")
    }

    /// Shows a push; returns the content and the report.
    private func show(
        _ request: UNNotificationRequest, _ configuration: NotificationServiceHandler.Configuration,
        _ meanwhile: () async -> Void = {}
    ) async throws -> (content: UNNotificationContent, report: DeliveryReport) {
        var configuration = configuration
        let reports = Reports()
        configuration.observe = reports.append
        let (service, handler) = (NotificationServiceHandler(configuration: configuration), Handler())
        service.handle(request, contentHandler: handler.handler)
        await meanwhile()
        return (try #require(await handler.delivered()), try #require(await reports.next()))
    }

    @Test func theSenderIsShownWithAFace() async throws {
        let (content, report) = try await show(
            try request(from: try sender()), configuration(.bytes(face.sealed)))
        #expect(content.communicationSenderName == "Anna" && content.title == "Anna")
        #expect(content.communicationImageData == Data(SealedAttachment.plain(70_000)))
        #expect(content.body == "See you at 8" && content.attachments.isEmpty)
        #expect(report.code == "opened" && report.warnings.isEmpty, "\(report)")
        #expect(!(content is UNMutableNotificationContent))
    }

    @Test func withoutTheAppsWishThereIsNeither() async throws {
        var configuration = configuration(.bytes(face.sealed))
        configuration.senders = nil
        let transport = PlayedTransport { _ in .fail("nobody asks") }
        configuration.transport = transport
        let (content, report) = try await show(try request(from: try sender()), configuration)
        #expect(content.communicationSenderName == nil && content.title == "Table for two")
        #expect(report.code == "opened" && transport.asked.isEmpty)
    }

    @Test func anAvatarThatNeverComesLeavesTheName() async throws {
        let clock = ManualClock()
        var configuration = configuration(.stall([1, 2, 3]))
        configuration.clock = clock
        let transport = PlayedTransport { _ in .stall([1, 2, 3]) }
        configuration.transport = transport
        let (content, report) = try await show(try request(from: try sender()), configuration) {
            await eventually { !transport.asked.isEmpty }
            clock.advance(milliseconds: 15_000)
        }
        #expect(content.communicationSenderName == "Anna" && content.communicationImageData == nil)
        #expect(report.code == "opened-without-attachment")
    }

    @Test func anAvatarThatDoesNotOpenLeavesTheName() async throws {
        var sealed = face.sealed
        sealed[100] ^= 1
        let (content, report) = try await show(try request(from: try sender()), configuration(.bytes(sealed)))
        #expect(content.communicationSenderName == "Anna" && content.communicationImageData == nil)
        #expect(report.code == "opened-without-attachment")
        #expect(report.warnings.contains { $0.hasPrefix("avatar: ") }, "\(report.warnings)")
    }

    @Test func anIntentThatTheSystemRefusesLeavesTheContent() async throws {
        let (content, report) = try await show(try request(from: try sender(" ")), configuration(.bytes(face.sealed)))
        #expect(content.communicationSenderName == nil && content.title == "Table for two")
        #expect(report.code == "opened")
        #expect(report.warnings == ["the system does not show the sender: UNError"])
    }

    @Test(arguments: [true, false]) func theSystemHearsOfAGroupWhatTheAppKnows(_ isNamed: Bool) async throws {
        var configuration = configuration(.bytes(face.sealed))
        configuration.senders = .intents { sender, content in
            #expect(sender.conversation == "c41" && content.body == "See you at 8")
            var details = SenderDetails()
            (details.groupName, details.groupImage) = (isNamed ? "Family" : nil, Data([1, 2, 3]))
            (details.mentionsUser, details.isReplyToUser, details.notifiesAnyway) = (true, true, true)
            details.recipientCount = 40
            return details
        }
        // Without a name, a group has several recipients.
        for (recipients, group) in [
            (["Ben", "Cem"], isNamed ? "Family" : "Anna, Ben, Cem"), ([], isNamed ? "Family" : nil),
        ] {
            let push = try request(from: try sender(recipients: recipients), named: "\(recipients)")
            let (content, report) = try await show(push, configuration)
            #expect(report.code == "opened" && content.communicationSenderName == "Anna", "\(report)")
            let message = try #require(INInteraction.message(content.mark?.message.text ?? ""))
            #expect(message.speakableGroupName?.spokenPhrase == group)
            #expect(message.groupImage == group.map { _ in Data([1, 2, 3]) })
            let metadata = try #require(message.donationMetadata as? INSendMessageIntentDonationMetadata)
            #expect(metadata.mentionsCurrentUser && metadata.isReplyToCurrentUser && metadata.notifyRecipientAnyway)
            #expect(metadata.recipientCount == 40)
        }
    }

    /// The keys go while the sender is being shown: what is donated then, no log-out would delete.
    @Test func aLogOutMeanwhileLeavesNothingOfTheSender() async throws {
        let name = "Anna \(phone.folder.lastPathComponent)"
        var configuration = configuration(.bytes(face.sealed))
        configuration.senders = .intents { [phone] _, _ in
            #expect(throws: Never.self) { try phone.keys.discard() }
            return SenderDetails()
        }
        let (content, report) = try await show(try request(from: try sender(name)), configuration)
        #expect(!INInteraction.donations.values.contains(name))
        #expect(report.code == "unknown-recipient-key", "\(report)")
        #expect(content.subtitle == "(Encrypted)" && content.body == "" && content.userInfo.isEmpty)
    }

    /// The system keeps the name: a withdrawal deletes it.
    @Test func whatIsDonatedIsDeletedWithTheMessage() async throws {
        let name = "Anna \(phone.folder.lastPathComponent)"
        let configuration = configuration(.bytes(face.sealed))
        let (content, _) = try await show(try request(from: try sender(name), named: "m"), configuration)
        let mark = try #require(content.mark?.message.text)
        #expect(INInteraction.donations[mark] == name)
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        try await center.add(UNNotificationRequest(identifier: name, content: content, trigger: nil))
        _ = try await show(try request(from: nil, withdrawing: ["m"]), configuration)
        #expect(INInteraction.donations[mark] == nil)
        #expect(await !center.deliveredNotifications().contains { $0.request.identifier == name })
    }

    /// Anything in it, and the system might show the push.
    @Test func whatIsHiddenHasNeitherMarkNorSender() async throws {
        var configuration = configuration(.bytes(face.sealed))
        configuration.hasFilteringEntitlement = true
        let name = "Anna \(phone.folder.lastPathComponent)"
        let (content, report) = try await show(try request(from: try sender(name), isDropped: true), configuration)
        #expect(content == UNNotificationContent() && report.code == "dropped")
        #expect(!INInteraction.donations.values.contains(name))
    }

    /// The system shows it after its withdrawal was opened: the next chance removes it.
    @Test func theAppRemovesWhatTheExtensionCouldNot() async throws {
        let (content, _) = try await show(try request(from: nil, named: "m"), phone.configuration)
        _ = try await show(try request(from: nil, withdrawing: ["m"]), phone.configuration)
        let (late, own) = ("late \(phone.folder)", "own \(phone.folder)")
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        try await center.add(UNNotificationRequest(identifier: late, content: content, trigger: nil))
        try await center.add(UNNotificationRequest(identifier: own, content: UNNotificationContent(), trigger: nil))
        NotificationList().removeWithdrawn(in: phone.directory, at: phone.now, nil)
        let left = await center.deliveredNotifications().map(\.request.identifier)
        #expect(!left.contains(late) && left.contains(own))
    }

    /// An extension that shows nothing, or its own notification.
    @Test(arguments: [true, false]) func whatIsWithdrawnDuringTheChangeIsReportedSo(_ isEntitled: Bool) async throws {
        var configuration = phone.configuration
        configuration.hasFilteringEntitlement = isEntitled
        let gate = Gate()
        configuration.change = { _, content, _ in
            await gate.waitUntilOpen()
            return isEntitled ? UNNotificationContent() : content
        }
        let (_, report) = try await show(try request(from: nil, named: "m"), configuration) {
            #expect(await gate.hasVisitors())
            _ = try? await show(try request(from: nil, withdrawing: ["m"]), phone.configuration)
            gate.open()
        }
        #expect(report.code == "withdrawn", "\(report)")
    }

    /// An extension that passes a call on to the app, or shows its own notification.
    @Test(arguments: [true, false]) func theChangeMayShowNothing(_ isEntitled: Bool) async throws {
        var configuration = configuration(.bytes(face.sealed))
        configuration.hasFilteringEntitlement = isEntitled
        configuration.change = { _, _, _ in UNNotificationContent() }
        for push in [try request(from: try sender(), named: "m"), try request(from: try sender(), named: "m")] {
            let (content, report) = try await show(push, configuration)
            #expect((content == UNNotificationContent()) == isEntitled && report.code == "opened")
        }
    }

    // MARK: The change's context

    @Test func theChangeGetsTheRequestAndTheVerdict() async throws {
        let push = try request(from: nil, named: "m")
        let other = UNNotificationRequest(identifier: "2", content: push.content, trigger: nil)
        var configuration = phone.configuration
        configuration.change = { _, content, context in
            content.title = "\(context.request.identifier) \(context.verdict) \(context.isFirst)"
            return content
        }
        for (request, title) in [(push, "1 new true"), (push, "1 again false"), (other, "2 copy false")] {
            #expect(try await show(request, configuration).content.title == title)
        }
    }

    // MARK: Pushes for the app

    @Test func theAppOpensAPushOnce() async throws {
        let pushes = AppPushes(configuration: phone.configuration)
        let push = try request(from: nil, named: "m", as: .background).content.userInfo
        guard case .opened(let first) = await pushes.open(push), case .repeated = await pushes.open(push) else {
            Issue.record("a push opens once")
            return
        }
        #expect(first.title == "Table for two")
        guard case .unopened(let reason) = await pushes.open(["ENCRYPTED_DATA": "AQ"]),
            case .unopened(let clear) = await pushes.open(["aps": ["content-available": 1]])
        else {
            Issue.record("what does not open is not opened")
            return
        }
        #expect(reason.code == "malformed-envelope" && clear.code == "not-encrypted")
        _ = await pushes.open(try request(from: nil, withdrawing: ["late"], as: .background).content.userInfo)
        guard
            case .unopened(let late) = await pushes.open(
                try request(from: nil, named: "late", as: .background).content.userInfo)
        else {
            Issue.record("a withdrawn call does not ring")
            return
        }
        #expect(late.code == "withdrawn")
    }

    /// A relay that changes the push type makes nothing ring, and silences nothing: the genuine push is new. [O-6.2]
    @Test(arguments: [PushType.alert, .background, .voip])
    func aPushOpensOnlyAsWhatItWasSealedFor(_ type: PushType) async throws {
        let pushes = AppPushes(configuration: phone.configuration)
        let request = try request(from: nil, named: "m", as: type)
        let (asBackground, asCall) = ("background", "voip")
        func open(as name: String) async -> String {
            name == asCall
                ? Answer.code(of: pushes.openCall(request.content.userInfo))
                : Answer.code(of: await pushes.open(request.content.userInfo))
        }
        for name in [asBackground, asCall] where name != type.description {
            #expect(await open(as: name) == "wrong-push-class")
        }
        let shown = try await show(request, phone.configuration)
        if type == .alert {
            #expect(shown.content.title == "Table for two" && shown.content.sound != nil)
        } else {
            #expect(shown.report.code == "wrong-push-class" && shown.content.subtitle == "(Encrypted)")
            #expect(await open(as: type.description) == "opened")
        }
    }

    /// An extension passes alerts on that the sealed payload calls calls. The app asks the payload, not the push.
    @Test func theAppMayTakeAnAlertForACall() async throws {
        let pushes = AppPushes(configuration: phone.configuration)
        let alert = try request(from: nil, named: "m")
        #expect(Answer.code(of: pushes.openCall(alert.content.userInfo, orAlert: { _ in false })) == "wrong-push-class")
        let (content, _) = try await show(alert, phone.configuration)
        #expect(content.sound != nil, "it was not remembered")
        let passed = pushes.openCall(alert.content.userInfo, orAlert: { $0.title == "Table for two" })
        #expect(Answer.code(of: passed) == "repeated")
        let call = try request(from: nil, as: .voip)
        #expect(Answer.code(of: pushes.openCall(call.content.userInfo, orAlert: { _ in false })) == "opened")
    }

    @Test(arguments: [true, false]) func aDroppedPushOpensOnceToo(_ isEntitled: Bool) async throws {
        var configuration = phone.configuration
        configuration.hasFilteringEntitlement = isEntitled
        let pushes = AppPushes(configuration: configuration)
        let push = try request(from: nil, isDropped: true, as: .background).content.userInfo
        guard case .opened = await pushes.open(push), case .repeated = await pushes.open(push) else {
            Issue.record("a push opens once")
            return
        }
    }

    @Test func aBackgroundPushTakesOthersOffTheScreen() async throws {
        let (content, _) = try await show(try request(from: nil, named: "m"), phone.configuration)
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        let name = "background \(phone.folder)"
        try await center.add(UNNotificationRequest(identifier: name, content: content, trigger: nil))
        let pushes = AppPushes(configuration: phone.configuration)
        _ = await pushes.open(try request(from: nil, withdrawing: ["m"], as: .background).content.userInfo)
        #expect(await !center.deliveredNotifications().contains { $0.request.identifier == name })
    }

    /// The system ends an app that reports no call before its delegate returns.
    @Test(arguments: ["opens", "broken", "hangs", "guard hangs"])
    func aCallIsAnsweredInTimeWhateverThePushIs(_ kind: String) async throws {
        let (clock, gate) = (ManualClock(), Gate())
        var configuration = phone.configuration
        configuration.clock = clock
        if kind == "hangs" {
            configuration.keys = { [phone] in
                gate.pass()
                return phone.keys
            }
        }
        let pushes = AppPushes(configuration: configuration)
        var payload = try request(from: nil, as: .voip).content.userInfo
        if kind == "broken" { payload["ENCRYPTED_DATA"] = "AQ" }
        var lock: SQLiteConnection?
        if kind == "guard hangs" {
            _ = await pushes.open(try request(from: nil, as: .background).content.userInfo)
            lock = try SQLiteConnection(path: phone.directory.path + "/extension.db", busyTimeout: 0)
            try lock?.execute("BEGIN IMMEDIATE")
        }
        let answer = Answer()
        Thread.detachNewThread { [payload = UncheckedSendableBox(payload)] in
            answer.set(pushes.openCall(payload.value))
        }
        if kind == "hangs" { #expect(await gate.hasVisitors()) }
        // SQLite waits two seconds for the lock: a task's sleep may last longer if all of Swift's threads are busy. And a test that
        // blocks one of those may block the work that it waits for.
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                if kind.hasSuffix("hangs") {
                    spin { clock.scheduled == 2 }
                    if kind == "guard hangs" { usleep(100_000) }
                    clock.advance(milliseconds: 2000)
                }
                spin { answer.code != nil }
                done.resume()
            }
        }
        gate.open()
        try lock?.execute("ROLLBACK")
        #expect(answer.code == ["opens": "opened", "broken": "malformed-envelope"][kind] ?? "deadline")
    }
}

/// Waits on this thread, for a minute at most.
private func spin(_ isDone: () -> Bool) {
    for _ in 0..<60_000 where !isDone() { usleep(1000) }
}

private final class Answer: Sendable {
    private final class State {
        var code: String?
    }

    private let state = Locked(State())

    var code: String? { state.withLock { $0.code } }

    static func code(of opened: AppPushes.Opened) -> String {
        switch opened {
        case .opened: "opened"
        case .repeated: "repeated"
        case .unopened(let reason): reason.code
        }
    }

    func set(_ opened: AppPushes.Opened) { state.withLock { $0.code = Self.code(of: opened) } }
}

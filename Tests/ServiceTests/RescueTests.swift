import Dispatch
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import TestPhone
import Testing
import UserNotifications
import Waiting

@testable import PushcryptService

/// Hangs, delays, duplicates and concurrency: each request is delivered exactly once.
@Suite struct RescueTests {
    private let phone: TestPhone
    private let reports = Reports()
    private let clock = ManualClock()

    init() throws { phone = try TestPhone() }

    private var configuration: NotificationServiceHandler.Configuration {
        var configuration = phone.configuration
        configuration.observe = reports.append
        configuration.clock = clock
        return configuration
    }

    private func request(_ identifier: String = "1") throws -> UNNotificationRequest {
        try TestPhone.request(try phone.seal(), identifier: identifier)
    }

    private static var fallback: UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = "New message"
        content.subtitle = "(Encrypted)"
        content.sound = .default
        return content
    }

    /// A configuration whose keys are behind a gate, like a hanging Keychain.
    private func stalled(_ gate: Gate) -> NotificationServiceHandler.Configuration {
        var configuration = configuration
        configuration.keys = { [phone] in
            gate.pass()
            return phone.keys
        }
        return configuration
    }

    // MARK: Hangs

    @Test func aKeychainThatHangsEndsInTheFallbackAtTheDeadline() async throws {
        let (gate, handler) = (Gate(), Handler())
        defer { gate.open() }
        let service = NotificationServiceHandler(configuration: stalled(gate))
        service.handle(try request(), contentHandler: handler.handler)
        #expect(await gate.hasVisitors())
        clock.advance(milliseconds: 24_999)
        #expect(handler.count == 0)
        clock.advance(milliseconds: 1)
        #expect(await handler.delivered() == Self.fallback)
        #expect(handler.count == 1)
        #expect(await reports.next()?.code == "deadline")
    }

    @Test func whatOpensTooLateIsNewWhenItComesAgain() async throws {
        let (gate, late, next, json) = (Gate(), Handler(), Handler(), try phone.seal())
        weak var work: Handler?
        do {
            let token = Handler()
            work = token
            var configuration = stalled(gate)
            configuration.observe = { _ in withExtendedLifetime(token) {} }
            let service = NotificationServiceHandler(configuration: configuration)
            service.handle(try TestPhone.request(json, identifier: "1"), contentHandler: late.handler)
            #expect(await gate.hasVisitors())
            service.timeWillExpire()
            #expect(late.count == 1)
        }
        gate.open()
        // The late opening could do harm until it is over, and has let go of its configuration.
        #expect(await eventually { work == nil })
        let service = NotificationServiceHandler(configuration: configuration)
        service.handle(try TestPhone.request(json, identifier: "2"), contentHandler: next.handler)
        #expect(await next.delivered()?.body == "See you at 8")
        #expect(await next.delivered()?.sound != nil, "a second copy would be quiet")
        #expect(await late.delivered() == Self.fallback)
        #expect(late.count == 1)
    }

    // MARK: Handing over

    private static let loud =
        #"{"aps":{"alert":{"title":"T","body":"B"},"sound":"default","badge":3,"category":"CHAT"}}"#

    /// A handler in which the app changes the content behind a gate: the message is taken, and not handed over.
    private func changing(_ gate: Gate) -> NotificationServiceHandler {
        var configuration = configuration
        configuration.change = { _, content, _ in
            gate.pass()
            return content
        }
        return NotificationServiceHandler(configuration: configuration)
    }

    private func deliver(_ json: ContiguousArray<UInt8>, _ identifier: String) async throws -> UNNotificationContent {
        let request = try TestPhone.request(json, identifier: identifier)
        return try #require(await configuration.show(request))
    }

    /// Two deliveries of one message at the same time, as by two processes: the first that is given out rings.
    @Test(arguments: ["1", "2"])
    func ofTwoDeliveriesTheFirstThatIsGivenOutRings(_ identifier: String) async throws {
        let (gate, slow, json) = (Gate(), Handler(), try phone.seal(Self.loud))
        let service = changing(gate)
        service.handle(try TestPhone.request(json, identifier: "1"), contentHandler: slow.handler)
        #expect(await gate.hasVisitors())
        let first = try await deliver(json, identifier)
        #expect(first.sound != nil && first.badge == 3 && first.categoryIdentifier == "CHAT")
        gate.open()
        let second = try #require(await slow.delivered())
        #expect(second.body == "B" && second.categoryIdentifier == "CHAT", "it is the row's own request")
        #expect(second.sound == nil && second.badge == nil && second.interruptionLevel == .passive)
    }

    /// The deadline and the end of the system's time hand over too.
    @Test(arguments: [true, false])
    func whatIsGivenOutAtTheEndOfTheTimeIsHandedOver(_ isExpiry: Bool) async throws {
        let (gate, handler, json) = (Gate(), Handler(), try phone.seal(Self.loud))
        defer { gate.open() }
        let service = changing(gate)
        service.handle(try TestPhone.request(json, identifier: "1"), contentHandler: handler.handler)
        #expect(await gate.hasVisitors())
        if isExpiry { service.timeWillExpire() } else { clock.advance(milliseconds: 25_000) }
        #expect(await handler.delivered()?.sound != nil)
        let copy = try await deliver(json, "2")
        #expect(copy.sound == nil && copy.badge == nil && copy.categoryIdentifier == "")
    }

    /// The extension is ended between the two steps: the next copy rings, and its files are fetched only for the same
    /// request.
    @Test func aDeliveryThatWasNeverGivenOutDoesNotCount() async throws {
        let (gate, json) = (Gate(), try phone.seal(Self.loud))
        defer { gate.open() }
        let service = changing(gate)
        service.handle(try TestPhone.request(json, identifier: "1"), contentHandler: { _ in })
        #expect(await gate.hasVisitors())
        let copy = try await deliver(json, "2")
        #expect(copy.sound != nil && copy.badge == 3 && copy.categoryIdentifier == "CHAT")
        withExtendedLifetime(service) {}
    }

    /// A lock that is held elsewhere costs a second, and a new message rings.
    @Test func aGuardThatDoesNotAnswerStopsNothing() async throws {
        let (gate, handler, json) = (Gate(), Handler(), try phone.seal(Self.loud))
        let service = changing(gate)
        service.handle(try TestPhone.request(json, identifier: "1"), contentHandler: handler.handler)
        #expect(await gate.hasVisitors())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            "import sqlite3,sys,time; d=sqlite3.connect(sys.argv[1]); d.execute('BEGIN EXCLUSIVE'); print(1,flush=True); time.sleep(60)",
            phone.directory.appendingPathComponent("extension.db").path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
        defer { process.terminate() }
        gate.open()
        #expect(await handler.delivered()?.sound != nil)
        #expect(await reports.next()?.warnings == ["replay guard: the disk does not answer in time"])
    }

    @Test func expiryEndsEveryRequestOfThisHandlerAndOfNoOther() async throws {
        let gate = Gate()
        defer { gate.open() }
        let service = NotificationServiceHandler(configuration: stalled(gate))
        let other = NotificationServiceHandler(configuration: stalled(gate))
        let (handlers, spared) = ((0..<5).map { _ in Handler() }, Handler())
        for handler in handlers { service.handle(try request(), contentHandler: handler.handler) }
        other.handle(try request(), contentHandler: spared.handler)
        service.timeWillExpire()
        for handler in handlers {
            #expect(handler.count == 1)
            #expect(await handler.delivered() == Self.fallback)
        }
        #expect(spared.count == 0)
        #expect(await reports.next(after: 4)?.code == "system-expired")
        service.timeWillExpire()
        #expect(handlers.allSatisfy { $0.count == 1 })
    }

    @Test func aHandlerThatIsReleasedDeliversFirst() async throws {
        let (gate, handler) = (Gate(), Handler())
        defer { gate.open() }
        var service: NotificationServiceHandler? = NotificationServiceHandler(configuration: stalled(gate))
        service?.handle(try request(), contentHandler: handler.handler)
        service = nil
        #expect(handler.count == 1)
        #expect(await handler.delivered() == Self.fallback)
        #expect(await reports.next()?.code == "abandoned")
    }

    @Test func aHundredThreadsThatHangHoldNoDeadlineUp() async throws {
        let gate = Gate()
        defer { gate.open() }
        var configuration = stalled(gate)
        configuration.clock = SystemClock()
        configuration.deadlines = DeliveryDeadlines(delivery: 1000, attachments: 500)
        let service = NotificationServiceHandler(configuration: configuration)
        let handlers = (0..<100).map { _ in Handler() }
        // The gate stays closed until the end, so no delivery waited for the hanging thread.
        for handler in handlers { service.handle(try request(), contentHandler: handler.handler) }
        for handler in handlers { #expect(await handler.delivered() == Self.fallback) }
        #expect(handlers.allSatisfy { $0.count == 1 })
    }

    /// Hooks that block fill the threads that all tasks share: a push has its own.
    @Test func appsThatBlockTheSharedThreadsHoldNoPushUp() throws {
        let (gate, plain) = (Gate(), Handler())
        defer { gate.open() }
        let blocked = changing(gate)
        for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
            blocked.handle(try request(UUID().uuidString), contentHandler: { _ in })
        }
        let service = NotificationServiceHandler(configuration: configuration)
        service.handle(try request(), contentHandler: plain.handler)
        // No task: it would wait for the same threads.
        for _ in 0..<30_000 where plain.count == 0 { usleep(2000) }
        #expect(plain.count == 1)
        withExtendedLifetime(blocked) {}
    }

    @Test func anObserverThatHangsHoldsADeliveryUpForAFifthOfASecond() async throws {
        let (gate, handler) = (Gate(), Handler())
        defer { gate.open() }
        var configuration = configuration
        configuration.observe = { _ in gate.pass() }
        let service = NotificationServiceHandler(configuration: configuration)
        service.handle(try request(), contentHandler: handler.handler)
        #expect(await gate.hasVisitors())
        clock.advance(milliseconds: 199)
        await allTurns()
        #expect(handler.count == 0)
        clock.advance(milliseconds: 1)
        #expect(await handler.delivered()?.body == "See you at 8")
    }

    @Test func aJournalThatHangsHoldsUpNoThreadThatIsNotTheHandlers() async throws {
        let (gate, handler) = (Gate(), Handler())
        defer { gate.open() }
        var configuration = configuration
        configuration.directory = {
            gate.pass()
            throw CocoaError(.fileNoSuchFile)
        }
        let service = NotificationServiceHandler(configuration: configuration)
        service.handle(try request(), contentHandler: handler.handler)
        #expect(await gate.hasVisitors())
        // Only the handler's own threads wait for the journal: here they would until the gate is open.
        Thread.detachNewThread { service.timeWillExpire() }
        #expect(await eventually { handler.count == 1 })
    }

    // MARK: Many threads

    @Test func aHandlerMayCallBack() async throws {
        let (first, second) = (Handler(), Handler())
        let service = NotificationServiceHandler(configuration: configuration)
        let next = try request("2")
        let box = UncheckedSendableBox((service, next))
        service.handle(try request()) { content in
            box.value.0.timeWillExpire()
            box.value.0.handle(box.value.1, contentHandler: second.handler)
            first.handler(content)
        }
        #expect(await first.delivered()?.body == "See you at 8")
        #expect(await second.delivered()?.body == "See you at 8")
    }

    @Test func whateverComesAtOnceEachRequestIsDeliveredOnce() async throws {
        let json = try (0..<20).map { _ in try phone.seal() }
        let contents = Set(["See you at 8", ""])
        for round in 0..<60 {
            let handlers = (0..<4).map { _ in Handler() }
            let requests = UncheckedSendableBox(
                try handlers.indices.map {
                    try TestPhone.request(json[(round + $0) % 20], identifier: "\(round)-\($0)")
                })
            let clock = ManualClock()
            var configuration = configuration
            configuration.change = { _, content, _ in content }
            configuration.clock = clock
            if round % 3 == 0 { configuration.change = nil }
            var service: NotificationServiceHandler? = NotificationServiceHandler(configuration: configuration)
            let shared = UncheckedSendableBox(service)
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                switch thread {
                case 0..<4: shared.value?.handle(requests.value[thread], contentHandler: handlers[thread].handler)
                case 4, 5: shared.value?.timeWillExpire()
                case 6: clock.advance(milliseconds: 15_000)
                default: clock.advance(milliseconds: 25_000)
                }
            }
            service = nil
            withExtendedLifetime(shared) {}
            shared.value?.timeWillExpire()
            for handler in handlers {
                #expect(contents.contains(await handler.delivered()?.body ?? "?"))
                #expect(handler.count == 1)
            }
        }
    }
}

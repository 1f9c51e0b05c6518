import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptService
import Seed
import TestPhone
import Testing
import UserNotifications
import Waiting

/// Messages, copies, withdrawals and drops in any order on a simulated device, with extensions that are suspended and
/// extensions that the system ends.
@Suite struct WithdrawalWalkTests {
    private static let orders = 50
    /// Every delivery reads what a guard remembers as withdrawn: with more orders on one phone, most of the time is that.
    private static let ordersOfAPhone = 25

    @Test func theScreenShowsWhatItShould() async throws {
        var random = Seed(1)
        var happened: [String: Int] = [:]
        for first in stride(from: 0, to: Self.orders, by: Self.ordersOfAPhone) {
            let phone = try TestPhone()
            let walks = [true, false].map { Walk(phone, isEntitled: $0) }
            for order in first..<min(first + Self.ordersOfAPhone, Self.orders) {
                let faults = try await walks[order % 2].run("\(order)", &random)
                try #require(faults.isEmpty, "order \(order): \(faults)")
            }
            for walk in walks { happened.merge(walk.happened.all, uniquingKeysWith: +) }
        }
        for what in ["rings", "quiet", "removed", "hidden", "suspended", "ended"] {
            #expect(happened[what, default: 0] > Self.orders / 10, "\(happened)")
        }
        print("interleavings: withdrawals on a simulated device: \(Self.orders)")
    }
}

/// One device, and what is known of it without its guard.
private final class Walk {
    final class Counts {
        var all: [String: Int] = [:]
        func add(_ what: String, _ count: Int = 1) { all[what, default: 0] += count }
    }

    /// The notification shown for a request.
    private enum Shown: Equatable {
        case message(Int)
        case unopened
    }

    private struct Suspended {
        let arrival: Arrival
        let message: Int
        let request: Int
        let gate: Gate
    }

    /// The numbers of the messages that a message withdraws; 9 never comes.
    private static let withdrawn = [[], [], [0], [1, 9]]
    private static let dropped = 3
    private static let requests = 3

    let happened = Counts()
    private let phone: TestPhone
    private let isEntitled: Bool
    private let service: SuspendedService
    private var order = ""
    private var pushes: [ContiguousArray<UInt8>] = []
    private var screen: [Shown?] = []
    private var isWithdrawn: Set<Int> = []
    private var rung: Set<Int> = []
    private var suspended: [Suspended] = []
    private var faults: [String] = []
    private var log: [String] = []

    init(_ phone: TestPhone, isEntitled: Bool) {
        (self.phone, self.isEntitled) = (phone, isEntitled)
        service = SuspendedService(phone, isEntitled: isEntitled)
    }

    func run(_ order: String, _ random: inout Seed) async throws -> [String] {
        self.order = order
        screen = Array(repeating: nil, count: Self.requests)
        (isWithdrawn, rung, faults, log) = ([], [], [], [])
        pushes = try Self.withdrawn.indices.map(push)
        for _ in 0..<Int.random(in: 4...8, using: &random) {
            let message = Int.random(in: 0..<pushes.count, using: &random)
            let request = Int.random(in: 0..<Self.requests, using: &random)
            let number = Int.random(in: 0..<6, using: &random)
            if number == 0, suspended.isEmpty {
                await end(message, request)
            } else if number < 3, !suspended.contains(where: { $0.request == request }) {
                await suspend(message, request)
            } else {
                check(await send(message, request).decided(), message, request)
            }
            if !suspended.isEmpty, Bool.random(using: &random) {
                await resume(Int.random(in: 0..<suspended.count, using: &random))
            }
        }
        while !suspended.isEmpty { await resume(0) }
        return faults
    }

    private func push(_ message: Int) throws -> ContiguousArray<UInt8> {
        var options = Sealer.Message([])
        options.name = name(message)
        options.withdrawing = Self.withdrawn[message].map(name)
        options.isDropped = message == Self.dropped
        return try phone.seal(#"{"aps":{"alert":"message \#(message)","sound":"default"}}"#, like: options)
    }

    private func name(_ message: Int) -> String { "\(order)-\(message)" }

    private func identifier(_ request: Int) -> String { "\(order)-\(isEntitled)-\(request)" }

    // MARK: Events

    /// The guard knows the message from now on, and what it withdraws leaves the screen.
    private func send(_ message: Int, _ request: Int) -> Arrival {
        let arrival = service.device.send(APNsPush(pushes[message], collapseID: identifier(request)))
        isWithdrawn.formUnion(Self.withdrawn[message])
        return arrival
    }

    private func suspend(_ message: Int, _ request: Int) async {
        let gate = service.hooks.suspend(identifier(request))
        let arrival = send(message, request)
        let hooks = service.hooks
        let identifier = identifier(request)
        await eventually { hooks.isWaiting(identifier) || arrival.outcome != nil }
        if let outcome = arrival.outcome {
            hooks.forget(identifier)
            return check(outcome, message, request)
        }
        happened.add("suspended")
        removeWithdrawn()
        // The list is cleared on another thread; an answer waits for it, this does not.
        let device = service.device
        let gone = screen.indices.filter { screen[$0] == nil }.map { self.identifier($0) }
        await eventually { gone.allSatisfy { device.content(of: $0) == nil } }
        suspended.append(Suspended(arrival: arrival, message: message, request: request, gate: gate))
        compare("\(message) under \(request) is suspended")
    }

    private func resume(_ number: Int) async {
        let one = suspended.remove(at: number)
        one.gate.open()
        check(await one.arrival.decided(), one.message, one.request, "resumed: ")
        service.hooks.forget(identifier(one.request))
    }

    /// The system ends the extension just before it hands over the content, and shows the push as it came.
    private func end(_ message: Int, _ request: Int) async {
        happened.add("ended")
        service.hooks.setEnded(true)
        let arrival = send(message, request)
        let reports = service.reports
        let count = service.deliveries + 1
        _ = await reports.all(count)
        service.hooks.setEnded(false)
        service.clock.advance(by: 100)
        _ = await arrival.decided()
        service.deliveries += 1
        removeWithdrawn()
        if !isWithdrawn.contains(message), message != Self.dropped || !isEntitled { rung.insert(message) }
        screen[request] = .unopened
        compare("\(message) under \(request) is ended")
    }

    // MARK: The screen

    private func removeWithdrawn() {
        for request in screen.indices {
            guard case .message(let message) = screen[request], isWithdrawn.contains(message) else { continue }
            screen[request] = nil
            happened.add("removed")
        }
    }

    private func check(_ outcome: Outcome, _ message: Int, _ request: Int, _ event: String = "") {
        service.deliveries += 1
        removeWithdrawn()
        let rings = outcome.shown.map { $0.presentation != .list || $0.sound != nil } ?? false
        if !outcome.faults.isEmpty { faults.append("\(message): \(outcome.faults)") }
        if isWithdrawn.contains(message) {
            happened.add("hidden")
            if rings { faults.append("\(message) was withdrawn and rings") }
            if !isEntitled { screen[request] = .unopened }
        } else if message == Self.dropped {
            if rings { faults.append("\(message) is to be dropped and rings") }
            if !isEntitled { screen[request] = .message(message) }
        } else {
            if rings != rung.insert(message).inserted { faults.append("\(message) rings: \(rings)") }
            happened.add(rings ? "rings" : "quiet")
            screen[request] = .message(message)
        }
        compare("\(event)\(message) under \(request)")
    }

    private func compare(_ event: String) {
        log.append(event)
        for request in screen.indices {
            let content = service.device.content(of: identifier(request))
            let shown = content.map { content in
                Self.withdrawn.indices.first { content.body == "message \($0)" }.map(Shown.message) ?? .unopened
            }
            if shown != screen[request] {
                faults.append("\(request) shows \(shown as Any), not \(screen[request] as Any), after \(log)")
            }
        }
    }
}

/// An extension whose deliveries a test suspends and ends.
private final class SuspendedService {
    let hooks = Hooks()
    let clock = stillClock()
    let device: SimulatedDevice
    let reports = Notebook<DeliveryReport>()
    var deliveries = 0

    init(_ phone: TestPhone, isEntitled: Bool) {
        var configuration = phone.configuration
        configuration.hasFilteringEntitlement = isEntitled
        configuration.clock = clock
        configuration.observe = { [reports] in reports.add($0) }
        configuration.change = { [hooks] _, content, context in
            await hooks.pass(context.request.identifier)
            return content
        }
        device = SimulatedDevice(clock: .simulated(clock)) { [configuration, hooks] in
            EndedService(configuration, hooks)
        }
        device.app.hasFilteringEntitlement = isEntitled
    }
}

/// A service extension that may never answer.
private final class EndedService: EncryptedNotificationService {
    private let given: NotificationServiceHandler.Configuration
    private let hooks: Hooks

    init(_ configuration: NotificationServiceHandler.Configuration, _ hooks: Hooks) {
        (given, self.hooks) = (configuration, hooks)
        super.init()
    }

    override var configuration: NotificationServiceHandler.Configuration { given }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let isEnded = hooks.isEnded
        super.didReceive(request) { if !isEnded { contentHandler($0) } }
    }
}

private final class Hooks: @unchecked Sendable {
    // Locked.
    private let lock = NSLock()
    private var gates: [String: Gate] = [:]
    private var waiting: Set<String> = []
    private var ends = false

    var isEnded: Bool { lock.withLock { ends } }

    func setEnded(_ isEnded: Bool) { lock.withLock { ends = isEnded } }

    func suspend(_ identifier: String) -> Gate {
        let gate = Gate()
        lock.withLock { gates[identifier] = gate }
        return gate
    }

    func isWaiting(_ identifier: String) -> Bool { lock.withLock { waiting.contains(identifier) } }

    func forget(_ identifier: String) {
        lock.withLock {
            gates[identifier] = nil
            waiting.remove(identifier)
        }
    }

    func pass(_ identifier: String) async {
        let gate = lock.withLock { () -> Gate? in
            guard let gate = gates[identifier], !waiting.contains(identifier) else { return nil }
            waiting.insert(identifier)
            return gate
        }
        await gate?.waitUntilOpen()
    }
}

import Foundation
import PushcryptKeyStore
import PushcryptService
import Seed
import TestPhone
import UserNotifications

/// The content given out for one push, by any thread.
final class Record: Sendable {
    private final class State {
        var texts: [String] = []
    }

    private let state = Locked(State())
    private let given = DispatchSemaphore(value: 0)

    func add(_ content: UNNotificationContent) {
        let text = content.body + content.subtitle
        state.withLock { $0.texts.append(text) }
        given.signal()
    }

    /// Waits for the first.
    func wait() -> Bool { given.wait(timeout: .now() + 60) == .success }

    var texts: [String] { state.withLock { $0.texts } }
}

/// Where threads meet: a handler and a push each round, and a reference to the handler for each thread.
///
/// A round begins and ends with everyone at the barrier; in between, each thread touches only what has its own number.
final class Field: @unchecked Sendable {
    private static let texts: Set = ["See you at 8", "changed", "(Encrypted)"]

    private final class Slot {
        var handler: NotificationServiceHandler?
    }

    private let slots: [Slot]
    private let phone: TestPhone
    private let requests: [UNNotificationRequest]
    private var clock = ManualClock()
    private var records: [Record] = []
    private(set) var outcomes: [String: Int] = [:]

    init(threads: Int) throws {
        slots = (0..<threads).map { _ in Slot() }
        let phone = try TestPhone()
        self.phone = phone
        requests = try (0..<64).map { try TestPhone.request(phone.seal(), identifier: "\($0)") }
    }

    /// Makes the handler of the next round, on the first thread.
    func prepare(_ round: Int) {
        clock = ManualClock()
        records.append(Record())
        var configuration = phone.configuration
        configuration.clock = clock
        if round % 2 == 0 {
            configuration.change = { _, content, _ in
                content.body = "changed"
                return content
            }
        }
        let handler = NotificationServiceHandler(configuration: configuration)
        for slot in slots { slot.handler = handler }
    }

    /// Plays one thread's part; the last to let go of the handler releases it.
    func play(_ round: Int, _ thread: Int, _ barrier: Barrier) {
        var random = Seed(UInt64(round) << 8 | UInt64(thread))
        barrier.meet()
        if thread == 0 {
            slots[0].handler?.handle(requests[round % requests.count], contentHandler: records[round].add)
        }
        for _ in 0..<3 {
            usleep(UInt32(random.next() % 3000))
            switch random.next() % 6 {
            case 0: slots[thread].handler?.timeWillExpire()
            case 1: clock.advance(milliseconds: 3_600_000)
            default: break
            }
        }
        slots[thread].handler = nil
        barrier.meet()
    }

    /// The fault of the round that has just ended, or of an earlier one; looked for on the first thread.
    func fault(_ round: Int) -> String? {
        guard records[round].wait() else { return "it was not given out" }
        for record in records.suffix(3) where record.texts.count != 1 { return "given out as \(record.texts)" }
        let text = records[round].texts[0]
        outcomes[text, default: 0] += 1
        return Self.texts.contains(text) ? nil : "given out as \(text)"
    }
}

import PushcryptReceiver
import Seed

/// Content that everyone who has it can change.
final class Slip {
    static let fallback = 0
    static let spoilt = -1

    var number: Int

    init(_ number: Int) { self.number = number }
}

/// The requests of one session, written by whatever thread the session calls on.
///
/// It has no lock: that the session calls `deliver` once, and every step before it on a thread that has seen what
/// came before, is what keeps it whole.
final class Record: @unchecked Sendable {
    var deliveries = 0
    var number = Slip.spoilt
    var outcome = ""
}

/// Where threads meet: one session a round, a reference to it for each thread.
///
/// A round begins and ends with everyone at the barrier; in between, each thread touches only what has its own number.
final class Field: @unchecked Sendable {
    /// A thread's reference to the session of the round.
    private final class Slot {
        var session: DeliverySession<Slip>?
    }

    private let slots: [Slot]
    private var clock = RoundClock()
    private var record = Record()
    private(set) var outcomes: [String: Int] = [:]

    init(threads: Int) { slots = (0..<threads).map { _ in Slot() } }

    /// Makes the session of the next round, on the first thread.
    func prepare() {
        let record = Record()
        let clock = RoundClock()
        let session = DeliverySession<Slip>(
            clock: clock, freeze: { Slip($0.number) },
            steps: DeliverySteps(
                open: {}, attach: { $0.number = Slip.spoilt }, change: { $0.number = Slip.spoilt },
                fallback: { _ in Slip(Slip.fallback) },
                deliver: { slip, outcome in
                    record.deliveries += 1
                    record.number = slip.number
                    record.outcome = "\(outcome)"
                    slip.number = Slip.spoilt
                }))
        self.record = record
        self.clock = clock
        for slot in slots { slot.session = session }
    }

    /// Plays one thread's part; the last to let go of the session ends it.
    func play(_ round: Int, _ thread: Int, _ barrier: Barrier) {
        var random = Seed(UInt64(round) << 8 | UInt64(thread))
        barrier.meet()
        if thread == 0 { slots[0].session?.receive() }
        for _ in 0..<3 { slots[thread].session.map { fire(random.next() % 12, at: $0, random.next()) } }
        slots[thread].session = nil
        barrier.meet()
    }

    private func fire(_ number: UInt64, at session: DeliverySession<Slip>, _ choice: UInt64) {
        let slip = Slip(1 + Int(choice % 100))
        switch number {
        case 0: session.receive()
        case 1, 2: session.handle(.opened(slip, .init(hasAttachments: choice & 1 == 0, isChanged: choice & 2 == 0)))
        case 3: session.handle(.failed(Delivery.Reason(code: "some-failure", description: "")))
        case 4: session.handle(.attached(slip, isComplete: choice & 1 == 0))
        case 5: session.handle(.changed(slip))
        case 6: session.handle(.changeFailed)
        case 7: session.handle(.decided(slip, .passed))
        case 8: session.handle(.expired)
        case 9: clock.ring()
        case 10: session.handle(.extended(slip))
        default: _ = session.isOver
        }
        // The caller continues to use the content that it passed.
        slip.number = Slip.spoilt
    }

    /// The faults of the round that has just ended; collected on the first thread.
    var fault: String? {
        outcomes[record.outcome, default: 0] += 1
        if record.deliveries != 1 { return "\(record.deliveries) deliveries" }
        if record.number == Slip.spoilt { return "what was delivered had been changed from outside" }
        return clock.waiting == 0 ? nil : "timers are left"
    }
}

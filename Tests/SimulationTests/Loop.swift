import Pushcrypt
import Seed

@testable import Simulated

/// Virtual time: one thread, on which events happen in the order of their times.
final class Loop {
    /// The true time at the beginning.
    static let start = Timestamp(milliseconds: SimulatedAPNs.wall)

    private struct Event {
        let time: UInt64
        let number: Int
        let act: () throws -> Void
    }

    /// The true time, in milliseconds since the start.
    private(set) var now: UInt64 = 0
    var random: Seed
    /// Lines of text, the same in each run with the same seed.
    private(set) var trace: [String] = []
    /// The last event of the array happens next.
    private var events: [Event] = []
    private var count = 0

    init(_ seed: UInt64) { random = Seed(seed) }

    /// The time on a clock that is ahead by some milliseconds.
    func time(_ ahead: Int64 = 0) -> Timestamp {
        Timestamp(milliseconds: UInt64(max(0, Int64(Self.start.milliseconds + now) + ahead)))
    }

    func note(_ text: String) { trace.append("\(now / 1000).\(String(1000 + now % 1000).dropFirst()) \(text)") }

    func after(_ milliseconds: UInt64, _ act: @escaping () throws -> Void) {
        count += 1
        let event = Event(time: now + milliseconds, number: count, act: act)
        let place = events.firstIndex { ($0.time, $0.number) < (event.time, event.number) } ?? events.count
        events.insert(event, at: place)
    }

    /// Runs all events of the next milliseconds.
    func run(_ milliseconds: UInt64) throws {
        let end = now + milliseconds
        while let event = events.last, event.time <= end {
            events.removeLast()
            now = event.time
            try event.act()
        }
        now = end
    }

    // MARK: Choices of the seed

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func below(_ limit: UInt64) -> UInt64 { UInt64.random(in: 0..<limit, using: &random) }

    func pick<Item>(_ items: [Item]) -> Item? { items.randomElement(using: &random) }
}

/// Time in milliseconds.
enum Time {
    static let second: UInt64 = 1000
    static let minute = 60 * second
    static let hour = 60 * minute
    static let day = 24 * hour
}

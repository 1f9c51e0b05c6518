import Seed
import Testing

@testable import Pushcrypt

/// The design's promises, with real certificates, over walks and over the orders of events that broke earlier designs:
/// no thief below a floor, no genuine message lost, no provider locked out. (`Docs/ThreatModel.md`)
@Suite struct TrustWorldTests {
    /// The first promise that events break, with the events that led to it.
    private static func broken(
        _ events: [TrustWorld.Event], in world: inout TrustWorld, after before: [TrustWorld.Event] = []
    ) -> String? {
        for (number, event) in events.enumerated() {
            do { try world.happen(event) } catch { return "\(error): \(before + events[...number])" }
        }
        return nil
    }

    /// Random events, some often and some seldom in each walk.
    @Test(arguments: 0..<8) func noWalkBreaksAPromise(_ seed: UInt64) throws {
        var random = Seed(seed)
        for _ in 0..<25 {
            let weights = TrustWorld.Event.allCases.map { _ in (random.next() % 100) * (random.next() % 100) }
            let sum = weights.reduce(0, +)
            guard sum > 0 else { continue }
            let events = (0..<40).map { _ in
                var left = random.next() % sum
                let index = weights.firstIndex { weight in
                    defer { left = left >= weight ? left - weight : left }
                    return left < weight
                }
                return TrustWorld.Event.allCases[index ?? 0]
            }
            var world = try TrustWorld()
            let broken = Self.broken(events, in: &world)
            try #require(broken == nil)
        }
    }

    /// Every order of a few events, of each scenario of the model.
    @Test(
        arguments: [
            [.rotate, .genuine, .steal, .theft, .thief, .launch],
            [.rotate, .short, .steal, .hundredDays, .thief, .genuine],
            [.hold, .rotate, .late, .threeDays, .release, .genuine],
            [.rotate, .genuine, .backup, .theft, .restore, .launch],
            [.rotate, .image, .rotate, .rollback, .steal, .thief],
            [.rotate, .hold, .ahead, .genuine, .right, .release],
        ] as [[TrustWorld.Event]])
    func noOrderBreaksAPromise(_ events: [TrustWorld.Event]) throws {
        try walk(TrustWorld(), after: [], events)
    }

    /// Goes on from a world by every order of the events that are left; orders with the same beginning share its world.
    private func walk(_ world: TrustWorld, after events: [TrustWorld.Event], _ left: [TrustWorld.Event]) throws {
        for index in left.indices {
            var (next, rest) = (world, left)
            let event = rest.remove(at: index)
            let broken = Self.broken([event], in: &next, after: events)
            try #require(broken == nil)
            try walk(next, after: events + [event], rest)
        }
        guard left.isEmpty else { return }
        var end = world
        let broken = Self.broken([.launch, .rotate, .genuine, .thief], in: &end, after: events)
        try #require(broken == nil)
    }
}

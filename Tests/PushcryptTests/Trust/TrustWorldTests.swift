import Testing

@testable import Pushcrypt

/// What the design promises, with real certificates, over walks and over the orders of events that broke earlier designs:
/// no thief below a floor, no genuine message lost, no provider locked out. (`Docs/ThreatModel.md`)
@Suite struct TrustWorldTests {
    private static func broken(_ events: [TrustWorld.Event]) throws -> String? {
        var world = try TrustWorld()
        for (number, event) in events.enumerated() {
            do {
                try world.happen(event)
            } catch let error as TrustWorld.Broken {
                return "\(error): \(events[...number])"
            }
        }
        return nil
    }

    /// Random events, some often and some seldom in each walk.
    @Test(arguments: 0..<8) func noWalkBreaksAPromise(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
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
            let broken = try Self.broken(events)
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
        for order in orders(of: events) {
            let broken = try Self.broken(order + [.launch, .rotate, .genuine, .thief])
            try #require(broken == nil)
        }
    }

    private func orders(of events: [TrustWorld.Event]) -> [[TrustWorld.Event]] {
        guard events.count > 1 else { return [events] }
        return events.indices.flatMap { index in
            var rest = events
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }
}

import Foundation
import Testing

@testable import PushcryptService

/// Updates of two accounts, a log-out, new tokens, answers in any order, lost, late, cut and foreign ones, and the
/// end of the process at any point.
@Suite struct RegistrationWalkTests {
    /// 6 in full: `PUSHCRYPT_WALK=full`.
    private static let depth = ProcessInfo.processInfo.environment["PUSHCRYPT_WALK"] == "full" ? 6 : 4

    @Test func whateverHappensTheProviderKnowsThePhoneInTheEnd() throws {
        try walk(from: RegistrationWorld(), "registrations", depth: Self.depth)
    }

    /// A log-out has somebody to tell at once, while the first record is under way.
    @Test func whateverHappensAProviderThatIsBuiltInKnowsThePhoneInTheEnd() throws {
        try walk(from: RegistrationWorld(isBuiltIn: true), "registrations with a built-in key", depth: Self.depth)
    }

    /// Also pairings, grants and their ends: no server has the token, and none keeps a grant that the phone has
    /// forgotten.
    @Test func whateverHappensARelayPushesForWhoIsThereInTheEnd() throws {
        try walk(
            from: RegistrationWorld(relay: ModelRelay()), "registrations with a relay", depth: max(Self.depth - 1, 4))
    }

    /// From the moment when both accounts have their grants.
    @Test func whateverHappensToGrantsThereAreNoOthersInTheEnd() throws {
        var world = try RegistrationWorld(relay: ModelRelay())
        for happening in [RegistrationWorld.Happening.updateA, .updateB] { #expect(try world.step(happening)) }
        #expect(try world.settle() == nil)
        try walk(from: world, "registrations with grants", depth: Self.depth)
    }

    /// Sequences that have led to worlds that cannot differ any more are followed as one.
    private func walk(from start: RegistrationWorld, _ name: String, depth walkDepth: Int) throws {
        typealias Path = (world: RegistrationWorld, events: [RegistrationWorld.Happening], count: Int)
        var frontier: [String: Path] = [:]
        frontier[start.fingerprint] = (start, [], 1)
        var known: Set<String> = []
        var (sequences, followed) = (0, 0)
        for depth in 1...walkDepth {
            var next: [String: Path] = [:]
            for (world, events, count) in frontier.values {
                for happening in RegistrationWorld.Happening.allCases {
                    var world = world
                    guard try world.step(happening) else { continue }
                    let events = events + [happening]
                    if let fault = try world.fault() {
                        Issue.record("\(events.map(\.rawValue)): \(fault)")
                        return
                    }
                    if depth == walkDepth {
                        sequences += count
                        continue
                    }
                    next[world.fingerprint, default: (world, events, 0)].count += count
                }
            }
            for (fingerprint, (world, events, _)) in next where known.insert(fingerprint).inserted {
                var world = world
                if let fault = try world.settle() {
                    Issue.record("\(events.map(\.rawValue)), then undisturbed: \(fault)")
                    return
                }
            }
            followed += next.count
            frontier = next
        }
        print(
            "\(name): \(RegistrationWorld.Happening.allCases.count) events to depth \(walkDepth) (followed as \(followed) distinct states): \(sequences)"
        )
    }
}

import Foundation
import Testing

@testable import PushcryptService
@testable import Simulated

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
        try walk(from: world, "registrations with grants", depth: max(Self.depth - 1, 4))
    }

    private func walk(from start: RegistrationWorld, _ name: String, depth: Int) throws {
        var walk = Walk()
        let sequences = try walk.follow(start, [], for: depth)
        if let fault = walk.fault { Issue.record("\(fault)") }
        print(
            "\(name): \(RegistrationWorld.Happening.allCases.count) events to depth \(depth) (followed as \(walk.followed) distinct states): \(sequences)"
        )
    }
}

/// All sequences of events from a world. Those that have led to worlds that cannot differ any more are followed as one.
/// In depth, because each world that is kept has pages of guarded memory, of which a process has only so many.
private struct Walk {
    private var counts: [Int: [String: Int]] = [:]
    private var settled: Set<String> = []
    private(set) var fault: String?

    var followed: Int { counts.values.reduce(0) { $0 + $1.count } }

    /// Returns the number of sequences of a length, unless there is a fault.
    mutating func follow(
        _ world: RegistrationWorld, _ events: [RegistrationWorld.Happening], for length: Int
    ) throws -> Int {
        if length == 0 { return 1 }
        let fingerprint = world.fingerprint
        if let known = counts[length]?[fingerprint] { return known }
        if !events.isEmpty, settled.insert(fingerprint).inserted {
            var world = world
            if let fault = try world.settle() {
                self.fault = "\(events.map(\.rawValue)), then undisturbed: \(fault)"
                return 0
            }
        }
        var count = 0
        for happening in RegistrationWorld.Happening.allCases {
            var world = world
            guard try world.step(happening) else { continue }
            if let fault = try world.fault() {
                self.fault = "\((events + [happening]).map(\.rawValue)): \(fault)"
                return 0
            }
            count += try follow(world, events + [happening], for: length - 1)
            if fault != nil { return 0 }
        }
        counts[length, default: [:]][fingerprint] = count
        return count
    }
}

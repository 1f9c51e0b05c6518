import Foundation
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Everything that can happen to a provider, a phone and a thief, in every order: with real certificates, messages and
/// stores, and clocks that the test sets.
///
/// P1 no epoch opens below a floor that the phone has accepted; P2 a genuine message of the current epoch opens and
/// rings; P3 so does one in flight; P4 what is known depends on no order (``TrustTests``); P5 a retry rings once; P6 a thief
/// is not believed once phone and provider have talked; P7 the provider can always rotate; P8 a replaced key ends.
///
/// By default each scenario ends after two hundred worlds. With `PUSHCRYPT_TRUST_MODEL=full` it goes as deep as it is
/// long.
@Suite(.serialized) struct TrustModelTests {
    struct Scenario: Sendable, CustomStringConvertible {
        let description: String
        let depth: Int
        let startsCertified: Bool
        let events: [String]
    }

    private static let scenarios = [
        Scenario(
            description: "a thief of a signing key", depth: 8, startsCertified: true,
            events: ["genuine", "thief", "plan", "stolen", "steal", "launch", "tampered", "days100"]),
        Scenario(
            description: "a thief, expiry, grace", depth: 8, startsCertified: true,
            events: ["genuine", "thief", "short", "plan", "steal", "days29", "days100"]),
        Scenario(
            description: "in flight, servers late", depth: 8, startsCertified: false,
            events: ["genuine", "hold", "late", "release", "plan", "launch", "lost", "days3", "days29"]),
        Scenario(
            description: "in flight, a wrong clock", depth: 10, startsCertified: true,
            events: ["genuine", "hold", "release", "plan", "ahead", "right", "launch"]),
        Scenario(
            description: "a pin removed, and pinned again", depth: 8, startsCertified: true,
            events: ["genuine", "thief", "plan", "stolen", "steal", "repin", "launch", "lost"]),
        Scenario(
            description: "an old store of the provider", depth: 8, startsCertified: true,
            events: ["genuine", "plan", "stolen", "backup", "restore", "launch", "days29"]),
        Scenario(
            description: "an old store of the provider, a thief", depth: 9, startsCertified: true,
            events: ["genuine", "thief", "plan", "stolen", "steal", "backup", "restore"]),
        Scenario(
            description: "a restored phone", depth: 8, startsCertified: true,
            events: ["genuine", "thief", "plan", "stolen", "steal", "image", "phoneRestore", "launch", "lost"]),
        Scenario(
            description: "names and replay rows", depth: 8, startsCertified: true,
            events: ["named", "poison", "plan", "stolen", "steal", "launch", "genuine", "days3"]),
        Scenario(
            description: "a phone's state lost, the same token", depth: 8, startsCertified: true,
            events: ["genuine", "plan", "launch", "image", "rollback"]),
        Scenario(
            description: "processes that end at each write", depth: 8, startsCertified: true,
            events: [
                "named", "namedUnshown", "namedUnsettled", "genuineUnsettled", "poison", "stolen", "steal", "launch",
            ]),
        Scenario(
            description: "the provider key stolen, a release with another", depth: 8, startsCertified: true,
            events: [
                "genuine", "stealRoot", "rootThief", "releaseBoth", "releaseNext", "genuineNext", "launch",
                "foreignReply",
                "days100",
            ]),
    ]

    private static let events: [String: @Sendable (TrustModel) -> (ModelWorld) throws -> ModelWorld?] = [
        "genuine": TrustModel.genuine, "genuineUnsettled": TrustModel.genuineUnsettled, "named": TrustModel.named,
        "namedUnshown": TrustModel.namedUnshown, "namedUnsettled": TrustModel.namedUnsettled, "hold": TrustModel.hold,
        "late": TrustModel.late, "release": TrustModel.release, "steal": TrustModel.steal, "thief": TrustModel.thief,
        "poison": TrustModel.poison, "plan": TrustModel.plan, "stolen": TrustModel.stolen, "short": TrustModel.short,
        "launch": TrustModel.launch, "lost": TrustModel.lost, "tampered": TrustModel.tampered,
        "repin": TrustModel.repin, "foreignReply": TrustModel.foreignReply,
        "backup": TrustModel.backup, "restore": TrustModel.restore, "image": TrustModel.image,
        "phoneRestore": TrustModel.phoneRestore, "rollback": TrustModel.rollback, "ahead": TrustModel.ahead,
        "right": TrustModel.right, "days3": TrustModel.days3, "days29": TrustModel.days29,
        "days100": TrustModel.days100, "stealRoot": TrustModel.stealRoot, "rootThief": TrustModel.rootThief,
        "releaseBoth": TrustModel.releaseBoth, "releaseNext": TrustModel.releaseNext,
        "genuineNext": TrustModel.genuineNext,
    ]

    private static let isFull = ProcessInfo.processInfo.environment["PUSHCRYPT_TRUST_MODEL"] == "full"

    /// Breadth first, so that the first trace of a violation is a shortest one.
    @Test(arguments: scenarios)
    func everyPropertyHolds(_ scenario: Scenario) throws {
        let model = try TrustModel()
        var world = ModelWorld(phone: model.phone.first)
        if scenario.startsCertified {
            let certified = try model.plan(world)
            world = try #require(certified)
            let launched = try model.launch(world)
            world = try #require(launched)
        }
        let limit = Self.isFull ? 250_000 : 200
        var seen: Set<ModelWorld> = [world]
        var queue: [(world: ModelWorld, trace: [String])] = [(world, [])]
        var next = 0
        var steps = 0
        while next < queue.count, seen.count < limit {
            let (world, trace) = queue[next]
            queue[next].trace = []
            next += 1
            guard trace.count < scenario.depth else { continue }
            for name in scenario.events {
                steps += 1
                let event = try #require(Self.events[name])
                do {
                    if let after = try event(model)(world), seen.insert(after).inserted {
                        queue.append((after, trace + [name]))
                    }
                } catch let broken as Broken {
                    Issue.record("\(broken.property): \((trace + [name]).joined(separator: " "))")
                    return
                }
            }
        }
        print(
            "trust model: \(scenario): \(seen.count) worlds, \(steps) steps, \(model.phone.states.values.count) phones")
    }
}

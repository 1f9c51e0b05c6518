import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Every order of six events, and everything that the state promises after each.
struct DeviceStateModelTests {
    private enum Event: CaseIterable {
        case add, rotate, reply, lateReply, refuse, message, learn, pin, unpin, purge, logOut, ahead, back
    }

    /// A property that does not hold.
    private struct Broken: Error {
        let property: String
    }

    private struct World {
        var state = DeviceState()
        var now = start.adding(.days(400))
        /// How many keys were made.
        var made = 0
        /// The last moment at which a provider may seal to each key: by the phone's clock, 31 days after it was replaced or refused.
        var ends: [KeyID: Timestamp] = [:]
        var trace: [Event] = []

        var keys: [DeviceState.Key] { state.account("anna")?.keys ?? [] }
        func key(_ stage: DeviceState.Key.State) -> DeviceState.Key? { keys.last { $0.state == stage } }

        /// Two worlds with equal numbers are one.
        var numbers: [UInt64] {
            var numbers = [now.milliseconds, UInt64(made)]
            for key in keys {
                let stage: UInt64 = key.state == .active ? 0 : key.state == .pending ? 1 : 2
                numbers += [UInt64(key.keyID.value), key.generation, stage, key.retiresAt?.milliseconds ?? 0]
                numbers += [key.createdAt.milliseconds, ends[key.keyID]?.milliseconds ?? 0]
            }
            for pin in state.account("anna")?.pins ?? [] { numbers.append(UInt64(pin.key.bytes[0])) }
            for learned in state.learned {
                numbers += [UInt64(learned.trust.certificate?.epoch ?? 0), UInt64(learned.trust.floor)]
            }
            return numbers
        }
    }

    private static let never = Timestamp(milliseconds: .max)
    private static let grace = Interval.days(31)

    private let providers: [TestProvider]
    private let topic: Topic
    private let pool = (0..<7).map { _ in DeviceKey() }
    /// A message under each key, with a certificate that the account may learn too.
    private let messages: [KeyID: OpenedNotification]
    private let certificate: Certificate

    init() throws {
        topic = try .app
        let provider = try TestProvider()
        providers = [provider] + (try (0..<2).map { _ in try TestProvider(ProviderKey()) })
        let newer = try provider.certificate(3, floor: 1)
        var messages: [KeyID: OpenedNotification] = [:]
        for key in pool { messages[key.publicKey.id] = try provider.opened(with: key, newer) }
        self.messages = messages
        certificate = try provider.certificate(2, floor: 2)
    }

    @Test func everyOrderOfSixEventsKeepsEveryPromise() throws {
        var first = World()
        // Accounts do not affect each other.
        try first.state.add(to: "ben", topic: topic, at: start)
        try first.state.pin(ProviderPin(providers[0].publicKey), for: "ben")
        var level = [first]
        var seen: Set<[UInt64]> = [first.numbers]
        for _ in 1...6 {
            var next: [World] = []
            for world in level {
                for event in Event.allCases {
                    var after = world
                    after.trace.append(event)
                    do {
                        guard try take(event, &after) else { continue }
                        try check(after, after: world)
                        guard seen.insert(after.numbers).inserted else { continue }
                        try demand(try after.state.readBack() == after.state, "what is read is what was written")
                    } catch let broken as Broken {
                        Issue.record("\(broken.property): \(after.trace)")
                        return
                    }
                    next.append(after)
                }
            }
            level = next
        }
        #expect(seen.count > 1000)
        print("device state: \(seen.count) states")
    }

    // MARK: Events

    /// Returns false for an event that cannot happen.
    private func take(_ event: Event, _ world: inout World) throws -> Bool {
        let (now, key) = (world.now, world.made < pool.count ? pool[world.made] : DeviceKey())
        let (active, pending) = (world.key(.active), world.key(.pending))
        switch event {
        case .add:
            let result = Result { try world.state.add(key, to: "anna", topic: topic, at: now) }
            try demand(((try? result.get()) != nil) == (active == nil), "one first key")
            guard active == nil else { return false }
            made(key, &world)
        case .rotate:
            guard let newest = world.keys.last else { return false }
            let rotated = try world.state.rotate("anna", suite: nil, at: now) { _ in key }
            guard pending == nil else {
                try demand(rotated == pending, "a lost reply makes no second key")
                return false
            }
            try demand(rotated.generation > newest.generation, "generations rise")
            made(key, &world)
        case .reply:
            guard let pending else { return false }
            try demand(try world.state.confirm("anna", acknowledged: pending.keyID, at: now) != nil, "confirmed")
            activated(pending, active, &world)
        case .lateReply:
            // Of a server that has the key which another one has refused.
            for key in world.keys where key.generation <= active?.generation ?? .max {
                try demand(try world.state.confirm("anna", acknowledged: key.keyID, at: now) == nil, "an old reply")
            }
            guard let refused = world.keys.last(where: { $0.state == .retiring }),
                refused.generation > active?.generation ?? .max
            else { return false }
            try demand(try world.state.confirm("anna", acknowledged: refused.keyID, at: now) != nil, "acknowledged")
            activated(refused, active, &world)
        case .refuse:
            guard let pending else { return false }
            try demand(world.state.refuse(pending.publicKey, of: "anna", at: now), "refused")
            world.ends[pending.keyID] = now.adding(Self.grace)
        case .message:
            let before = world.keys
            for key in before where key.state != .pending {
                if let message = messages[key.keyID] { world.state.settle(message, topic: topic, at: now) }
            }
            try demand(world.keys == before, "a message under another key confirms nothing")
            guard let pending, let message = messages[pending.keyID] else { return true }
            world.state.settle(message, topic: topic, at: now)
            activated(pending, active, &world)
        case .learn: try world.state.learn(certificate, of: providers[0].publicKey, topic: topic)
        case .pin:
            let pins = world.state.account("anna")?.pins.map(\.key) ?? []
            guard let other = providers.map(\.publicKey).first(where: { !pins.contains($0) }) else { return false }
            let refusal = code { try world.state.pin(ProviderPin(other), for: "anna", topic: topic) }
            try demand(refusal == (pins.count == 2 ? .tooManyPins : nil), "two pins at most")
        case .unpin:
            guard let pin = world.state.account("anna")?.pins.first else { return false }
            world.state.unpin(pin.key, for: "anna")
        case .purge:
            let end = now.subtracting(.days(1))
            let over = world.ends.filter { $0.value < end }.map(\.key)
            try demand(
                Set(world.state.purge(endedBefore: end).map(\.keyID)) == Set(over), "what has ended goes, and no more")
            for key in over { world.ends[key] = nil }
        case .logOut:
            world.state.removeAccount("anna")
            world.ends = [:]
        case .ahead: world.now = now.adding(.days(40))
        case .back: world.now = now.subtracting(.days(40))
        }
        return true
    }

    private func made(_ key: DeviceKey, _ world: inout World) {
        world.made += 1
        world.ends[key.publicKey.id] = Self.never
    }

    private func activated(_ key: DeviceState.Key, _ former: DeviceState.Key?, _ world: inout World) {
        world.ends[key.keyID] = Self.never
        if let former { world.ends[former.keyID] = world.now.adding(Self.grace) }
    }

    // MARK: Promises

    private func check(_ world: World, after before: World) throws {
        let keys = world.keys
        try demand(keys.count { $0.state == .active } == (keys.isEmpty ? 0 : 1), "one active key")
        try demand(keys.count { $0.state == .pending } <= 1, "at most one pending key")
        try demand(zip(keys, keys.dropFirst()).allSatisfy { $0.generation < $1.generation }, "generations rise")
        try demand(world.state.account("ben") == before.state.account("ben"), "another account")
        try demand(keys.count == world.ends.count, "no key but those that were made")
        for (key, end) in world.ends {
            for time in [world.now, end, end.next] {
                let opens = world.state.key(key, at: time) != nil
                try demand(opens == (time <= end), "what a provider may seal to opens, and nothing else")
            }
        }
        let (former, trust) = (learned(before), learned(world))
        try demand(former.floor <= trust.floor, "floors never fall")
        let isKept = former.certificate.map { former in trust.certificate.map { former <= $0 } ?? false } ?? true
        try demand(isKept, "no certificate is forgotten")
        try demand(world.state.accounts.allSatisfy { $0.pins.count <= 2 }, "at most two pins")
    }

    private func learned(_ world: World) -> LearnedTrust {
        world.state.trust(in: providers[0].publicKey, for: topic).learned
    }

    private func demand(_ condition: Bool, _ property: String) throws {
        if !condition { throw Broken(property: property) }
    }
}

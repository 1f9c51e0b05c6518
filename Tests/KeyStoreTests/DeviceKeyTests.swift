import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A device's keys: names, the default, what opens, and the life of each with its exact boundaries. What holds in every order of
/// events, ``DeviceStateModelTests`` proves.
struct DeviceKeyTests {
    private typealias State = DeviceState

    /// A state with an active key of each account.
    private func state(_ names: String..., topic: Topic? = nil) throws -> State {
        var state = State()
        for name in names { try state.add(to: name, topic: topic, at: start) }
        return state
    }

    private func states(_ state: State) -> [State.Key.State] { state.keys.map(\.state) }

    // MARK: Names

    @Test func theFirstKeyIsActiveAndTheDefault() throws {
        let state = try state("work", "home", topic: .app)
        let account = try state.accountWithKeys()
        let key = try #require(account.keys.first)
        #expect(account.name == "work" && account.keys.count == 1 && account.currentKey == key)
        #expect(try account.topic == .app && key.generation == 1 && key.state == .active)
        #expect(key.createdAt == start && key.retiresAt == nil && key.keyID == key.publicKey.id)
        let found = try #require(state.key(key.keyID, at: start))
        #expect(found.account == account && found.key == key)
        #expect(try found.key.deviceKey().publicKey == key.publicKey)
        #expect(state.key(KeyID(value: key.keyID.value ^ 1), at: start) == nil)
        var pinned = DeviceState()
        try pinned.pin(ProviderPin(ProviderKey().publicKey), for: "pins only")
        try pinned.add(to: "a", topic: .app, at: start)
        #expect(try pinned.accountWithKeys().name == "a")
    }

    @Test func impossibleRequestsAreRefusedAndChangeNothing() throws {
        var state = try state("one", topic: .app)
        let before = state
        let refused: [(KeyStoreError.Code, (inout State) throws -> Void)] = [
            (.unknownName, { try $0.rotate("nobody", at: start) }),
            (.unknownName, { try $0.confirm("nobody", at: start) }),
            (.unknownName, { try $0.setDefault("nobody") }),
            (.unknownName, { _ = try $0.accountWithKeys("nobody") }),
            (.nameTaken, { try $0.add(to: "one", at: start) }),
            (.keyIDTaken, { try $0.add(before.keys[0].deviceKey(), to: "two", at: start) }),
            (.topicMismatch, { try $0.pin(ProviderPin(OneProvider.key.publicKey), for: "one", topic: .other) }),
        ]
        for (expected, change) in refused {
            #expect(code { try change(&state) } == expected)
            #expect(state == before)
        }
        var empty = State()
        #expect(code { try empty.rotate(at: start) } == .unknownName)
        #expect(code { try empty.confirm(at: start) } == .unknownName)
    }

    @Test func namesAreBytes() throws {
        let longest = String(repeating: "x", count: 255)
        let state = try state("caf\u{e9}", "cafe\u{301}", longest)
        #expect(state.accounts.count == 3)
        #expect(state.account("cafe\u{301}")?.keys == [state.keys[1]])
    }

    // MARK: Rotation

    @Test func theStandardGraceOutlivesTheLongestTimeToLive() throws {
        var state = try state("one")
        try state.rotate(at: start)
        try state.confirm(at: start)
        #expect(state.keys[0].retiresAt == start.adding(.days(31)))
        #expect(State.standardGrace.seconds > Freshness.maximumTimeToLive.seconds)
        try state.rotate(at: start)
        try state.confirm(grace: .seconds(.max), at: start)
        #expect(state.keys[1].retiresAt?.milliseconds == .max)
        #expect(state.key(state.keys[1].keyID, at: Timestamp(milliseconds: .max)) != nil)
    }

    @Test func aPurgeIsOfOneAccountOrOfAll() throws {
        var state = try state("anna", "ben")
        for name in ["anna", "ben"] {
            try state.rotate(name, at: start)
            try state.confirm(name, grace: .seconds(60), at: start)
        }
        var other = state
        #expect(other.purge("anna", endedBefore: start + 61).count == 1 && other.keys.count == 3)
        #expect(other.purge("nobody", endedBefore: start + 61).isEmpty)
        #expect(state.purge(endedBefore: start + 61).count == 2 && states(state) == [.active, .active])
    }

    @Test func afterTheLastGenerationThereIsNoOther() throws {
        var state = try state("one")
        let key = state.keys[0]
        state.accounts[0].keys = [
            State.Key(
                publicKey: key.publicKey, generation: .max, state: .active, createdAt: start, secret: key.secret)
        ]
        #expect(code { try state.rotate(at: start) } == .rotationRefused)
        #expect(states(state) == [.active])
    }

    @Test func aMadeKeyWithAnIDThatIsHeldIsMadeAgain() throws {
        var state = try state("other", "one")
        let (first, second) = (try state.keys[0].deviceKey(), DeviceKey())
        let keys = Locked(KeySource([first, first, second]))
        let made = try state.rotate("one", suite: nil, at: start) { _ in keys.withLock { $0.next() } }
        #expect(made.publicKey == second.publicKey)
    }

    private final class KeySource {
        private var keys: [DeviceKey]
        init(_ keys: [DeviceKey]) { self.keys = keys.reversed() }
        func next() -> DeviceKey { keys.popLast() ?? DeviceKey() }
    }

    // MARK: Refused keys [D-47] [D-49]

    @Test func aRefusedKeyIsReplacedByTheNext() throws {
        var state = try state("one")
        let active = state.keys[0]
        func replace(_ key: DevicePublicKey) throws -> State.Key {
            try state.replace(key, of: "one", suite: .x25519, at: start, makeKey: State.makeKey)
        }
        let second = try replace(active.publicKey)
        #expect(states(state) == [.active, .pending], "what is sealed to the active key still opens")
        #expect(try replace(active.publicKey) == second, "another one waits already")
        let third = try replace(second.publicKey)
        #expect(states(state) == [.active, .retiring, .pending] && third.generation == 3)
        #expect(state.key(second.keyID, at: start) != nil)
    }
}

import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// A state that cannot be read makes and deletes no key, and what is interrupted goes on.
@Suite struct EnrolmentFaultTests {
    /// Before the first unlock, and whatever else keeps a state from being read.
    @Test(arguments: KeyStoreError.Code.allCases)
    func aStateThatCannotBeReadIsLeftAlone(_ code: KeyStoreError.Code) throws {
        let phone = Installation()
        try phone.launch(with: Provider())
        let (state, writes) = (try phone.state, phone.store.writes)
        phone.store.fail(with: KeyStoreError(code, ""))
        #expect(throws: KeyStoreError(code, "")) { try phone.next() }
        phone.store.fail(with: nil)
        #expect(try phone.state == state && phone.store.writes == writes)
    }

    // MARK: Kills

    /// The interrupted event.
    enum Event: CaseIterable { case firstRun, oldKey, anotherUser, logOut, reinstall, postQuantum }

    private struct World {
        var provider: Provider
        let phone: Installation
        var now = Timestamp.start
        /// The devices of users who have not logged out.
        var others: Set<String> = []

        init(_ event: Event, in kind: StoreKind) throws {
            provider = try Provider.of("alice")
            phone = Installation(try kind.make())
            guard event != .firstRun else { return }
            for _ in 0..<2 { try phone.launch(with: provider) }
            switch event {
            case .firstRun: break
            case .oldKey: now = .start.plus(days: 31)
            case .anotherUser:
                others = [try phone.device]
                provider.user = "bob"
                phone.facts.pushToken = [1]
            case .logOut: try phone.logOut()
            case .reinstall: phone.mark = "second"
            case .postQuantum:
                provider.suites = [1, 2]
                now = .start.plus(days: 1)
            }
        }

        func launch(_ mishap: Mishap = .nothing) throws -> String { try phone.launch(with: provider, mishap, at: now) }

        /// Every key that the provider seals to opens, but for devices that have ended, or are another user's.
        func check(_ path: Comment) throws {
            let (ends, state) = (Set(try phone.ends), try phone.state)
            for device in try provider.devices where !others.contains(device.id) && !ends.contains(device.id) {
                #expect(state.key(device.publicKey.id, at: now) != nil, path)
            }
            #expect(state.accounts.allSatisfy { $0.keys.count { $0.state == .active } == 1 }, path)
        }

        func checkEnd(_ path: Comment) throws {
            var said: [String] = []
            while said.count < 5, said.last != "nothing" { said.append(try launch()) }
            #expect(said.last == "nothing", path)
            #expect(try phone.hears(provider, at: now) && phone.keys.last?.state == .active && phone.ends == [], path)
            #expect(try Set(provider.devices.map(\.id)) == others.union([phone.device]), path)
        }
    }

    /// The process is killed at each call to the store, before the call has done anything or when it has done all.
    @Test(arguments: StoreKind.allCases, Event.allCases)
    func aKillBetweenAnyTwoCallsLosesNothing(_ kind: StoreKind, _ event: Event) throws {
        var calls = 0
        for isDone in [false, true] {
            for call in 0... {
                let world = try World(event, in: kind)
                world.phone.store.kill(at: call, isDone: isDone)
                let isKilled = (try? world.launch()) == nil
                world.phone.store.kill(at: nil)
                let path: Comment = "\(event), killed at \(call), done: \(isDone)"
                try world.check(path)
                try world.checkEnd(path)
                guard isKilled else { break }
                calls += 1
            }
        }
        // Two changes at least, each of which reads and writes.
        #expect(calls >= 8)
    }

    /// Every order of two launches, each with a record or a reply that is lost, and a pause before the second.
    @Test(arguments: Event.allCases, Mishap.allCases)
    func whateverIsLostGoesOn(_ event: Event, _ first: Mishap) throws {
        for second in Mishap.allCases {
            for pause in [0, 31] as [UInt64] {
                var world = try World(event, in: .keychain)
                for (mishap, days) in [(first, 0), (second, pause)] {
                    world.now = world.now.plus(days: days)
                    _ = try world.launch(mishap)
                    try world.check("\(first), \(second), \(pause) days")
                }
                try world.checkEnd("\(first), \(second), \(pause) days")
            }
        }
    }
}

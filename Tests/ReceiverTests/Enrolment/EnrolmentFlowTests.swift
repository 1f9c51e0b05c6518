import ModelKeychain
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// The events in the life of an installation, during which its pushes always open.
@Suite struct EnrolmentFlowTests {
    private var provider: Provider
    private let phone = Installation()

    init() throws { provider = try Provider() }

    /// Two launches, after which the provider knows everything.
    private func enrol(at now: Timestamp = .start) throws {
        #expect(try phone.launch(with: provider, at: now) == "register(first)")
        // The record that was sent could not name the pin, which came with the reply.
        #expect(try phone.launch(with: provider, at: now) == "register(provider-changed)")
        #expect(try phone.launch(with: provider, at: now) == "nothing")
    }

    @Test func firstRun() throws {
        try enrol()
        #expect(phone.results.map(\.key) == [.acknowledged, .acknowledged])
        let device = try #require(provider.devices.first)
        #expect(try provider.devices.count == 1 && device.id == phone.device)
        #expect(device.generation == 1 && device.topic == .app)
        #expect(try device.pinnedProvider == provider.key.publicKey && phone.pins == [provider.key.publicKey])
        #expect(try phone.hears(provider) && phone.state.account("default")?.topic == .app)
    }

    // MARK: Reinstall, restore

    /// The Keychain survives the app's removal, and what is in its container does not: every account of the earlier installation
    /// ends, and what was learned of providers stays.
    @Test func reinstall() throws {
        let certificate = try provider.rotate(stolen: true, at: .start)
        try enrol()
        phone.account = "second"
        try phone.launch(with: provider)
        try phone.store.edit { try $0.add(to: "imported", at: .start) }
        let (before, old) = (try phone.state, try provider.devices.map(\.id))

        phone.mark = "second"
        phone.account = "default"
        #expect(try phone.next().reasons == [.first])
        let state = try phone.state
        #expect(state.accounts.map(\.name) == ["default"] && state.installation == "second")
        #expect(try Set(phone.ends) == Set(old) && old.count == 2 && !old.contains(phone.device))
        #expect(Set(state.accounts[0].keys.map(\.keyID)).isDisjoint(with: before.accounts.flatMap(\.keys).map(\.keyID)))
        #expect(try state.pinsAreEmpty && phone.request().record.pinnedProvider == nil)
        let known = state.trust(in: try provider.key.publicKey, for: .app).pins[0].learned
        #expect(known.certificate == certificate && known.floor == certificate.floor && known.floor > 0)

        try phone.launch(with: provider)
        #expect(try provider.devices.map(\.id) == [phone.device] && phone.ends == [] && phone.hears(provider))
        // The same mark again changes nothing.
        let writes = phone.store.writes
        try phone.store.edit { $0.begin(installation: "second", .app) }
        #expect(phone.store.writes == writes)
    }

    /// Keys of the app from before it had accounts, or that an import has made: this installation takes them over.
    @Test func keysWithoutARegistrationStay() throws {
        try phone.store.edit { state in
            state.begin(installation: "first", .app)
            try state.add(at: .start)
        }
        let keys = try phone.keys
        try enrol()
        #expect(try phone.keys == keys && phone.hears(provider))
        // Without a registration there is nobody to tell.
        phone.account = "imported"
        try phone.store.edit { try $0.add(to: "imported", at: .start) }
        try phone.logOut()
        #expect(try phone.keys == [] && phone.ends == [])
    }

    /// The Keychain of another phone has no items of this one, which lives on.
    @Test func restoreToANewPhone() throws {
        let keychain = ModelKeychain()
        let (old, new) = (Installation(keychain.store), Installation(keychain.restored().store))
        try old.launch(with: provider)
        #expect(try new.launch(with: provider) == "register(first)")
        #expect(try provider.devices.count == 2 && old.device != new.device && new.ends == [])
        for phone in [old, new] { #expect(try phone.hears(provider)) }
        #expect(try old.receive(provider.push(to: new.device, at: .start)) == "unknown-recipient-key")
    }

    /// The state is back as it was, and an operator's record has a later key: the phone says which key it has.
    @Test func restoreToTheSamePhone() throws {
        try enrol()
        let newer = DeviceRegistration(publicKey: DeviceKey().publicKey, topic: .app, generation: 2, createdAt: .start)
        let device = try phone.device
        try provider.store.addDevice(newer, id: device, at: .start)
        phone.facts.pushToken = [1]
        #expect(try phone.launch(with: provider) == "register(token-changed)")
        #expect(try phone.device == device && provider.devices.map(\.generation) == [1] && phone.hears(provider))
    }

    // MARK: Changes

    private static let changes: [(change: @Sendable (inout EnrolmentFacts) -> Void, String)] = [
        ({ $0.appVersion = AppVersion("0.9") }, "register(app-version-changed)"),
        ({ $0.appVersion = nil }, "register(app-version-changed)"),
        ({ $0.pushToken = [0xA7, 0x00] }, "register(token-changed)"),
        // Not known yet at this launch is not another one.
        ({ $0.pushToken = nil }, "nothing"),
        ({ $0.environment = .development }, "register(token-changed)"),
        ({ $0.grant = "Z3JhbnQ" }, "register(grant-changed)"),
        ({ $0.alertsAreShown = false }, "notice(alerts-off)"),
        (
            { ($0.alertsAreShown, $0.pushToken) = (false, [1, 2]) },
            "register(token-changed), notice(alerts-off)"
        ),
    ]

    @Test(arguments: changes.indices) func whatChangesIsReportedOnce(_ number: Int) throws {
        let (change, expected) = Self.changes[number]
        try enrol()
        let facts = phone.facts
        change(&phone.facts)
        #expect(try phone.launch(with: provider) == expected)
        let later = try phone.launch(with: provider)
        #expect(later == (phone.facts.alertsAreShown ? "nothing" : "notice(alerts-off)"))
        phone.facts = facts
        #expect(try phone.launch(with: provider).hasPrefix("register") == expected.hasPrefix("register"))
        #expect(try phone.keys.count == 1)
    }

    // MARK: Keys

    @Test func aKeyIsReplacedWhenItIsOld() throws {
        phone.terms.repeatAfter = .days(365)
        try enrol()
        let inFlight = try provider.push(to: phone.device, at: .start)
        #expect(try phone.launch(with: provider, at: .start.plus(days: 30)) == "nothing")
        let later = Timestamp.start.plus(days: 30, milliseconds: 1)
        #expect(try phone.launch(with: provider, at: later).hasPrefix("register(key-is-old"))
        #expect(try phone.keys.map(\.state) == [.retiring, .active] && provider.devices.map(\.generation) == [2])
        #expect(try phone.receive(inFlight, at: .start.plus(days: 30)) == "opened" && phone.hears(provider, at: later))
        #expect(try phone.launch(with: provider, at: later) == "nothing")

        // It opens for 31 days, and goes a day later.
        phone.terms.keyAge = nil
        let end = later.plus(days: 32)
        for (now, count) in [(end, 2), (end.plus(milliseconds: 1), 1)] {
            #expect(try phone.launch(with: provider, at: now) == "nothing")
            #expect(try phone.keys.count == count)
        }
    }

    /// The provider seals to a key that the phone has not heard acknowledged; it is pending, and opens.
    @Test(arguments: [false, true]) func aPendingKeyWhoseReplyWasLostOpens(_ isConfirmedByAMessage: Bool) throws {
        try enrol()
        let later = Timestamp.start.plus(days: 31)
        try phone.launch(with: provider, .replyLost, at: later)
        let keys = try phone.keys
        #expect(keys.map(\.state) == [.active, .pending])
        if isConfirmedByAMessage {
            #expect(try phone.hears(provider, at: later))
            #expect(try phone.keys.map(\.state) == [.retiring, .active])
        }
        #expect(try phone.launch(with: provider, .recordLost, at: later).contains("key-not-acknowledged"))
        #expect(try phone.launch(with: provider, at: later).contains("key-not-acknowledged"))
        #expect(try phone.keys.map(\.state) == [.retiring, .active] && phone.keys.map(\.keyID) == keys.map(\.keyID))
        #expect(try phone.hears(provider, at: later) && phone.launch(with: provider, at: later) == "nothing")
    }

    // MARK: Time

    @Test func aProviderMayHaveLostWhatItKnew() throws {
        try enrol()
        let later = Timestamp.start.plus(days: 1)
        #expect(try phone.launch(with: provider, at: later.subtracting(milliseconds: 1)) == "nothing")
        _ = try provider.store.removeDevice(id: phone.device, at: .start)
        // A record that was under way when the operator removed the device does not bring it back; one of the day after does.
        #expect(try phone.launch(with: provider, at: later) == "register(time-passed)")
        #expect(phone.results.last?.key == .refused(.staleRecord))
        #expect(try phone.launch(with: provider, at: later) == "register(time-passed)")
        #expect(try phone.hears(provider, at: later) && phone.launch(with: provider, at: later) == "nothing")
        // A clock that was set back does not tell how long ago it was.
        #expect(try phone.launch(with: provider, at: .start) == "register(time-passed)")
        #expect(try phone.launch(with: provider, at: .start) == "nothing")
    }

    static let clocks: [Timestamp] = [
        Timestamp(milliseconds: 0), .start.plus(days: 3650), Timestamp(milliseconds: 4_102_444_800_001),
        Timestamp(milliseconds: 9_007_199_254_740_991),
    ]

    /// A clock that was wrong for a while, in 1970 or after 2100, stops nothing: neither then nor afterwards.
    @Test(arguments: clocks, [false, true]) func aWrongClockStopsNothing(_ wrong: Timestamp, isFirst: Bool) throws {
        if !isFirst { try enrol() }
        for _ in 0..<4 { try phone.launch(with: provider, at: wrong) }
        #expect(try phone.launch(with: provider, at: wrong) == "nothing" && phone.hears(provider, at: wrong))
        for day in [1, 2, 40, 80] as [UInt64] {
            let now = Timestamp.start.plus(days: day)
            for _ in 0..<3 { try phone.launch(with: provider, at: now) }
            #expect(try phone.launch(with: provider, at: now) == "nothing" && phone.hears(provider, at: now))
            // However old the clock has made it.
            let key = try #require(try phone.keys.last)
            #expect(key.createdAt <= now && now < key.createdAt.plus(days: 41))
        }
        #expect(try provider.devices.count == 1)
    }
}

extension DeviceState {
    fileprivate var pinsAreEmpty: Bool { accounts.allSatisfy(\.pins.isEmpty) }
}

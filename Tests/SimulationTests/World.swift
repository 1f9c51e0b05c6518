import Pushcrypt

@testable import PushcryptKeyStore
@testable import Simulated

/// A provider or two, their sender, APNs, a relay, phones and a thief, and what happens to them.
final class World {
    let loop: Loop
    let network: Network
    var ledger = Ledger()
    let usesRelay: Bool
    /// Whether processes are killed.
    private(set) var kills = true
    /// The longest delay of a push, in milliseconds.
    private(set) var mostDelay = 5 * Time.second
    private(set) var providers: [Provider] = []
    private(set) var phones: [Phone] = []
    private(set) lazy var sender = SendNode(self, isRelays: usesRelay)
    private(set) lazy var apns = APNs(self)
    private(set) lazy var relay = Relay(self)
    private(set) lazy var thief = Thief(self)
    private var numbers = 0
    private var tokens = 0
    /// The names of messages so far.
    private var names: [String] = []

    var provider: Provider { providers[0] }

    init(_ seed: UInt64) throws {
        loop = Loop(seed)
        network = Network(loop)
        usesRelay = loop.chance(30)
        // Two variants of the app, or one whose provider key may be kept elsewhere.
        let topics = ["com.example.app"] + (!usesRelay && loop.chance(40) ? ["com.example.app.beta"] : [])
        let isOffline = loop.chance(60)
        providers = try topics.map {
            try Provider(self, Topic($0), isOffline: isOffline, hasPushKey: usesRelay)
        }
        phones = try (1...2).map { try Phone(self, $0) }
        loop.note(
            "seed \(seed): \(topics.count) variants\(usesRelay ? ", relay" : "")\(isOffline ? ", offline key" : "")")
    }

    func nextNumber() -> Int {
        numbers += 1
        return numbers
    }

    func newToken() -> ContiguousArray<UInt8> {
        tokens += 1
        return ContiguousArray(repeating: UInt8(truncatingIfNeeded: tokens), count: 32)
    }

    private var apps: [App] { phones.flatMap(\.apps) }

    func app(of device: String) -> App? { apps.first { $0.login(of: device) != nil } }

    func login(of device: String) -> Int? { app(of: device)?.login(of: device) }

    func isLoggedIn(_ device: String) -> Bool {
        app(of: device).map { app in app.users.values.contains { $0 == app.login(of: device) } } ?? false
    }

    // MARK: Events

    private static let users = ["anna", "bea"]
    /// The events, with their weights.
    private static let events: [(weight: Int, act: @Sendable (World) throws -> Void)] = [
        (20, { try $0.seal() }),
        (12, { try $0.app().launch() }),
        (8, { try $0.app().logIn($0.user()) }),
        (5, { try $0.app().answer() }),
        (4, { try $0.app().logOut($0.user()) }),
        (4, { try $0.aProvider().rotate() }),
        (1, { try $0.aProvider().nextPushKey() }),
        (3, { try $0.aProvider().backUp() }),
        (2, { try $0.aProvider().restore() }),
        (2, { try $0.aProvider().crash() }),
        (2, { $0.sender.kill() }),
        (2, { $0.app().kill() }),
        (2, { $0.app().changeToken() }),
        (2, { try $0.app().reinstall() }),
        (1, { try $0.phone().replace() }),
        (2, { $0.restart($0.phone()) }),
        (5, { try $0.phone().online($0.loop.chance(60)) }),
        (3, { $0.turn($0.phone()) }),
        (2, { $0.turn($0.aProvider()) }),
        (3, { $0.mood() }),
        (2, { $0.gap = ($0.loop.below(60) + 1) * Time.day }),
        (1, { if $0.usesRelay { $0.relay.removeKey() } }),
        (4, { try $0.thief.repeatPush() }),
        (3, { try $0.thief.repeatPost() }),
        (2, { try $0.thief.readDatabase() }),
        (1, { try $0.thief.stealSigningKey() }),
        (3, { try $0.thief.forge() }),
    ]
    private var gap: UInt64 = 0

    private func app() -> App { loop.pick(apps) ?? apps[0] }
    private func phone() -> Phone { loop.pick(phones) ?? phones[0] }
    private func aProvider() -> Provider { loop.pick(providers) ?? providers[0] }
    private func user() -> String { loop.pick(Self.users) ?? "anna" }

    private func seal() throws {
        let isNamed = loop.chance(50)
        if isNamed, names.isEmpty || loop.chance(60) { names.append("order \(names.count)") }
        let name = isNamed ? loop.pick(names) : nil
        let withdrawn = loop.chance(10) ? loop.pick(names.filter { $0 != name }) : nil
        let life: Interval = loop.chance(30) ? .hours(1) : .days(30)
        try aProvider().seal(to: user(), named: name, withdrawing: withdrawn, life: life)
    }

    private func restart(_ phone: Phone) {
        loop.note("phone \(phone.number): restarts")
        phone.restart()
        loop.after(loop.below(2 * Time.hour)) { phone.unlock() }
    }

    /// Returns the lead of a clock: minutes, days or years, either way, or none.
    private func wrongClock() -> Int64 {
        let sizes = [0, 0, 5 * Time.minute, 20 * Time.hour, 3 * Time.day, 40 * Time.day, 900 * Time.day]
        return Int64(loop.pick(sizes) ?? 0) * (loop.chance(50) ? 1 : -1)
    }

    private func turn(_ phone: Phone) {
        phone.clock = wrongClock()
        loop.note("phone \(phone.number): clock \(phone.clock)")
    }

    private func turn(_ provider: Provider) {
        provider.clock = wrongClock()
        loop.note("provider: clock \(provider.clock)")
    }

    private func mood() {
        network.mishaps = loop.pick([0, 0, 10, 40]) ?? 0
        network.delay = loop.pick([200, 2000, 5 * Time.minute]) ?? 200
        apns.mishaps = loop.pick([0, 0, 10, 40]) ?? 0
        relay.mishaps = loop.pick([0, 10, 40]) ?? 0
        mostDelay = loop.pick([5 * Time.second, Time.hour, 2 * Time.day]) ?? Time.second
        loop.note("mishaps: network \(network.mishaps), apns \(apns.mishaps)")
    }

    /// Runs a number of events, then a quiet time. Returns the violations.
    func run(_ count: Int) throws -> [String] {
        let total = Self.events.reduce(0) { $0 + $1.weight }
        for _ in 0..<count where ledger.violations.isEmpty {
            var place = Int(loop.below(UInt64(total)))
            for event in Self.events {
                place -= event.weight
                guard place < 0 else { continue }
                try event.act(self)
                break
            }
            try pass(gap > 0 ? gap : loop.below(loop.chance(20) ? Time.day : 20 * Time.minute))
            gap = 0
        }
        if ledger.violations.isEmpty { try settle() }
        return ledger.violations.map { "\($0.rule): \($0.text)" }
    }

    private func pass(_ milliseconds: UInt64) throws {
        try loop.run(milliseconds)
        for provider in providers { try check(provider) }
    }

    private func check(_ provider: Provider) throws {
        let devices = try provider.devices
        ledger.server(provider.topic.bundleID, has: Set(devices.compactMap { login(of: $0.id) }))
        let rows = devices.compactMap { device in device.token.map { "\(device.user ?? "") \($0.prefix(2))" } }
        ledger.server(provider.topic.bundleID, hasRows: rows)
    }

    /// Everything works again. A message and six days pass, then three with a launch each; then fresh messages are sealed and get an
    /// hour.
    private func settle() throws {
        loop.note("quiet")
        (kills, network.mishaps, network.delay, apns.mishaps, relay.mishaps) = (false, 0, 200, 0, 0)
        mostDelay = Time.second
        for provider in providers { provider.clock = 0 }
        for phone in phones {
            phone.clock = 0
            phone.unlock()
            try phone.online(true)
        }
        // A server learns from a push which grants the relay has ended, and the phone from the server.
        for provider in providers { for user in Self.users { try provider.seal(to: user, named: nil) } }
        try pass(6 * Time.day)
        for _ in 0..<3 {
            for app in apps { try app.launch() }
            try pass(25 * Time.hour)
        }
        let first = numbers
        for provider in providers { for user in Self.users { try provider.seal(to: user, named: nil) } }
        let sealed = first..<numbers
        try pass(Time.hour)
        ledger.quiet(sealed.map { $0 + 1 }, Set(apps.flatMap(\.users.values)))
        for provider in providers {
            for device in try provider.devices {
                guard let login = login(of: device.id) else { continue }
                if device.token != nil { ledger.remains("the token", of: login) }
                if relay.model.isLive(device.grant) { ledger.remains("a live grant", of: login) }
            }
        }
    }
}

/// The events of a world, and its violations.
struct Trace {
    let lines: [String]
    let violations: [String]
}

/// Simulates the world of a seed.
func simulate(_ seed: UInt64, events: Int = 80) -> Trace {
    Entropy.start(seed)
    do {
        let world = try World(seed)
        var violations: [String] = []
        do { violations = try world.run(events) } catch { violations = ["error: \(error)"] }
        return Trace(lines: world.loop.trace + violations, violations: violations)
    } catch {
        return Trace(lines: [], violations: ["error: \(error)"])
    }
}

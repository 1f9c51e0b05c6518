import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Gives each value a number, so that worlds are small and compared fast.
final class Interned<Value: Hashable> {
    private var numbers: [Value: Int] = [:]
    private(set) var values: [Value] = []

    subscript(_ number: Int) -> Value { values[number] }

    func number(_ value: Value) -> Int {
        if let number = numbers[value] { return number }
        numbers[value] = values.count
        values.append(value)
        return values.count - 1
    }
}

/// A message of the model: everything that its envelope depends on.
struct ModelMessage: Hashable {
    enum Kind: Hashable {
        /// With a random id.
        case plain
        /// With the name that its caller gave, the same in each retry.
        case named
        /// Withdraws the named one.
        case withdrawal
    }

    /// The provider: the one that is pinned at the beginning, or the one that a release of the app pins.
    let provider: Int
    /// The certificate's number; nil at epoch 0.
    let certificate: Int?
    let sentAt: Timestamp
    var kind = Kind.plain
}

/// The memory of a phone: its state, and the rows of its extension's database.
struct PhoneState: Hashable {
    fileprivate var device = DeviceState()
    fileprivate var tables: [[[SQLiteValue]]] = []

    func hash(into hasher: inout Hasher) {
        hasher.combine(device.form.json)
        hasher.combine(tables)
    }
}

/// A phone with the state of an app and the extension's database. It is put into a state, does one thing, and is read: so one
/// phone serves all worlds, and whatever it did before in the same state it need not do again.
final class ModelPhone {
    /// How far the extension comes before the system ends it.
    enum End: Hashable {
        case never
        case beforeHandingOver
        case beforeSettling
    }

    struct Delivery: Hashable {
        let state: Int
        var isOpened = false
        var rings = false
    }

    private struct Push: Hashable {
        let state: Int
        let message: ModelMessage
        let now: Timestamp
        let end: End
    }

    private struct Launch: Hashable {
        let state: Int
        let reply: Int?
    }

    private static let tables = ["providers", "seen"]
    static let account = "default"

    let providers: [TestProvider]
    let states = Interned<PhoneState>()
    let certificates = Interned<Certificate>()
    /// The number of the signing key of each certificate.
    var signingKeys: [Int: Int] = [:]
    /// The state in which a phone begins.
    private(set) var first = 0

    private let key = DeviceKey()
    private let database: ExtensionDatabase
    private let topic: Topic
    private var device = DeviceState()
    private var loaded = -1
    private var sealed: [ModelMessage: Bytes] = [:]
    private var deliveries: [Push: Delivery] = [:]
    private var launches: [Launch: (state: Int, reported: Int?)] = [:]
    private var known: [Int: [LearnedTrust]] = [:]

    /// A phone that trusts the first provider.
    init() throws {
        providers = [try TestProvider(), try TestProvider(ProviderKey())]
        topic = providers[0].topic
        database = try ExtensionDatabase.create(in: Scratch().path, floor: Timestamp(milliseconds: 0))
        try device.add(key, to: Self.account, topic: topic, at: start)
        try device.pin(ProviderPin(providers[0].publicKey), for: Self.account)
        first = try save()
    }

    // MARK: Events

    /// The extension gets a push.
    func deliver(
        _ message: ModelMessage, to state: Int, at now: Timestamp, ending end: End = .never
    ) throws -> Delivery {
        let push = Push(state: state, message: message, now: now, end: end)
        if let known = deliveries[push] { return known }
        try load(state)
        let delivery = try receive(push)
        deliveries[push] = delivery
        return delivery
    }

    private func receive(_ push: Push) throws -> Delivery {
        let opener = Opener(topic: topic, deviceKeys: [key], trust: device.trust(for: topic, account: Self.account))
        guard let opened = try? opener.open(seal(push.message), at: push.now) else {
            return Delivery(state: push.state)
        }
        var delivery = Delivery(state: push.state, isOpened: true, rings: push.message.kind != .withdrawal)
        // A message with a random id says nothing about the guard.
        if push.message.kind != .plain {
            let message = ReplayMessage(
                opened.messageID, from: opened.provider, epoch: opened.epoch, trustFloor: opened.learned.floor,
                to: Self.account, requestID: "\(push.message.kind)", sentAt: opened.sentAt, expiresAt: opened.expiresAt,
                withdrawing: opened.withdrawals)
            let taking = database.replay.take(message, at: push.now)
            try #require(taking.problem == nil)
            if push.end == .beforeHandingOver {
                return Delivery(state: try save(), isOpened: true, rings: false)
            }
            delivery.rings = database.replay.handOver(message, after: taking.verdict, at: push.now).rings
        }
        if push.end == .never { device.settle(opened, topic: topic, at: push.now) }
        return Delivery(state: try save(), isOpened: true, rings: delivery.rings)
    }

    /// The app is opened and reports its certificate; the reply brings another one, or is lost.
    func launch(_ state: Int, reply: Int?) throws -> (state: Int, reported: Int?) {
        let launch = Launch(state: state, reply: reply)
        if let known = launches[launch] { return known }
        try load(state)
        device.endContradiction(of: Self.account, topic)
        let trust = device.trust(for: topic, account: Self.account)
        let reported = trust.pins.first?.learned.certificate
        if let reply {
            for pin in trust.pinned { _ = try? device.learn(certificates[reply], of: pin, topic: topic) }
        }
        let result = (state: try save(), reported: reported.map(certificates.number))
        launches[launch] = result
        return result
    }

    /// A release of the app has these keys built in.
    func pin(_ numbers: [Int], _ state: Int) throws -> Int {
        try load(state)
        try device.setPins(numbers.map { ProviderPin(providers[$0].publicKey) }, for: Self.account, topic: topic)
        return try save()
    }

    /// The account is removed and comes back.
    func addAgain(_ state: Int) throws -> Int {
        try load(state)
        let pins = device.trust(for: topic, account: Self.account).pinned
        device.removeAccount(Self.account)
        #expect(device.trust(for: topic, account: Self.account).pinned.isEmpty)
        try device.add(key, to: Self.account, topic: topic, at: start)
        for pin in pins { try device.pin(ProviderPin(pin), for: Self.account) }
        return try save()
    }

    /// A reply names a stranger's key and certificate.
    func foreignReply(_ state: Int, naming stranger: TestProvider) throws -> Int {
        try load(state)
        let certificate = try stranger.certificate(4_000_000_000, floor: 4_000_000_000)
        let pin = ProviderPin(stranger.publicKey, certificate: certificate)
        #expect(code { try device.pinFirst(pin, for: Self.account, topic: topic) } == .providerAlreadyPinned)
        for pin in device.trust(for: topic, account: Self.account).pinned {
            #expect(code { try device.learn(certificate, of: pin, topic: topic) } == .badCertificateSignature)
        }
        return try save()
    }

    /// The phone's knowledge of each pin.
    func trust(_ state: Int) throws -> [LearnedTrust] {
        if let trust = known[state] { return trust }
        try load(state)
        let trust = device.trust(for: topic, account: Self.account).pins.map(\.learned)
        known[state] = trust
        return trust
    }

    private func seal(_ message: ModelMessage) throws -> Bytes {
        if let known = sealed[message] { return known }
        let bytes = try providers[message.provider].seal(
            message.certificate.map { certificates[$0] },
            signing: message.certificate.flatMap { signingKeys[$0] } ?? 0, to: key.publicKey, at: message.sentAt,
            name: message.kind == .named ? "N" : nil, withdrawing: message.kind == .withdrawal ? ["N"] : [])
        sealed[message] = bytes
        return bytes
    }

    // MARK: States

    private func save() throws -> Int {
        let tables = try database.read { (connection) throws(KeyStoreError) in
            var tables: [[[SQLiteValue]]] = []
            for table in Self.tables { tables.append(try connection.rows("SELECT * FROM \(table)")) }
            return tables
        }
        loaded = states.number(PhoneState(device: device, tables: tables ?? []))
        return loaded
    }

    private func load(_ number: Int) throws {
        guard number != loaded else { return }
        let state = states[number]
        device = state.device
        if loaded < 0 || states[loaded].tables != state.tables { try write(state.tables) }
        loaded = number
    }

    private func write(_ tables: [[[SQLiteValue]]]) throws {
        try database.write(at: start) { (connection) throws(KeyStoreError) in
            for (table, rows) in zip(Self.tables, tables) {
                try connection.rows("DELETE FROM \(table)")
                for row in rows {
                    let places = Array(repeating: "?", count: row.count).joined(separator: ", ")
                    try connection.rows("INSERT INTO \(table) VALUES (\(places))", row)
                }
            }
        }
    }
}

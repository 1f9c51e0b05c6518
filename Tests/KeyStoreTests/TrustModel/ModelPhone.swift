import Glibc
import ModelKeychain
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

/// What a phone keeps, as rows of its real stores.
struct PhoneState: Hashable {
    fileprivate var learned: [LearnedTrustRowValue] = []
    fileprivate var pins: [ProviderPublicKey] = []
    fileprivate var tables: [[[SQLiteValue]]] = []
}

private struct LearnedTrustRowValue: Hashable {
    let provider: ProviderPublicKey
    let trust: LearnedTrust
}

/// A phone with the stores of an app: the keys in a Keychain, and the extension's database. It is put into a state,
/// does one thing, and is read: so one phone serves all worlds, and whatever it did before in the same state it need
/// not do again.
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
        let isEnded: Bool
    }

    private static let tables = ["learned", "opened", "providers", "seen"]
    static let account = "default"

    let providers: [TestProvider]
    let states = Interned<PhoneState>()
    let certificates = Interned<Certificate>()
    /// The number of the signing key of each certificate.
    var signingKeys: [Int: Int] = [:]
    /// The state in which a phone begins.
    private(set) var first = 0

    private let device = DeviceKey()
    private let database: ExtensionDatabase
    private let path: String
    private var keychain = ModelKeychain()
    private var loaded = -1
    private var sealed: [ModelMessage: Bytes] = [:]
    private var deliveries: [Push: Delivery] = [:]
    private var launches: [Launch: (state: Int, reported: Int?)] = [:]
    private var known: [Int: [LearnedTrust]] = [:]

    /// A phone that trusts the first provider.
    init() throws {
        let scratch = try Scratch()
        path = scratch.path
        providers = [try TestProvider(), try TestProvider(ProviderKey())]
        database = try ExtensionDatabase.create(in: path, floor: Timestamp(milliseconds: 0))
        var contents = KeychainContents()
        contents.keys = [keyRow]
        try #require(try item.write(contents, replacing: nil))
        try store.pinProvider(providers[0].publicKey, for: Self.account, topic: .app, at: start)
        first = try save()
    }

    private var item: KeychainItem {
        KeychainItem(items: keychain.process("g"), service: "pushcrypt", accessGroup: "g")
    }
    private var store: KeychainKeyStore { KeychainKeyStore(items: keychain.process("g"), accessGroup: "g") }
    private var keys: ExtensionKeys { ExtensionKeys(keys: store, database: database) }

    private var keyRow: KeychainContents.KeyRow {
        KeychainContents.KeyRow(
            name: Self.account, topic: providers[0].topic, publicKey: device.publicKey, secret: .usable(device),
            generation: 1, state: .active, createdAt: start)
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
        let trust = try keys.trust(for: .app, account: Self.account)
        let opener = try Opener(topic: .app, deviceKeys: [device], trust: trust)
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
        if push.end == .never {
            try keys.settle(
                openedWith: opened.openedWith, provider: opened.provider, certificate: opened.certificate, topic: .app,
                at: push.now)
        }
        return Delivery(state: try save(), isOpened: true, rings: delivery.rings)
    }

    /// The app is opened: it merges what the extension has learned, and reports its certificate; the reply brings
    /// another one, or is lost. The app may be ended after it has written its store and before it has emptied the
    /// extension's.
    func launch(
        _ state: Int, reply: Int?, isEnded: Bool = false
    ) throws -> (state: Int, reported: Int?) {
        let launch = Launch(state: state, reply: reply, isEnded: isEnded)
        if let known = launches[launch] { return known }
        try load(state)
        if isEnded {
            let writer = try SQLiteConnection(path: path + "/extension.db", busyTimeout: 0)
            try writer.execute("BEGIN IMMEDIATE")
            _ = try? ExtensionDatabase(in: path, busyTimeout: 0).merge(into: store, at: start)
            try writer.execute("ROLLBACK")
            return (try save(), nil)
        }
        _ = try database.merge(into: store, at: start)
        let reported = try store.trust(for: .app, account: Self.account).pins.first?.learned.certificate
        if let reply {
            _ = try? store.acceptCertificate(certificates[reply], for: Self.account, topic: .app, at: start)
        }
        let result = (state: try save(), reported: reported.map(certificates.number))
        launches[launch] = result
        return result
    }

    /// A release of the app has these keys built in.
    func pin(_ numbers: [Int], _ state: Int) throws -> Int {
        try load(state)
        try store.setPins(
            numbers.map { ProviderPin(providers[$0].publicKey) }, for: Self.account, topic: .app, at: start)
        return try save()
    }

    /// The account is removed and comes back.
    func addAgain(_ state: Int) throws -> Int {
        try load(state)
        let pins = try store.pinnedProviders()
        for pin in pins { try store.unpinProvider(pin.key, for: Self.account) }
        #expect(try store.trust(for: .app, account: Self.account).pinned.isEmpty)
        for pin in pins { try store.pinProvider(pin.key, for: Self.account, topic: .app, at: start) }
        return try save()
    }

    /// A reply names a stranger's key and certificate.
    func foreignReply(_ state: Int, naming stranger: TestProvider) throws -> Int {
        try load(state)
        let certificate = try stranger.certificate(4_000_000_000, floor: 4_000_000_000)
        let pin = ProviderPin(stranger.publicKey, certificate: certificate)
        let refused = code { try store.pinFirstProvider(pin, for: Self.account, topic: .app, at: start) }
        #expect(refused == .providerAlreadyPinned)
        #expect(
            code { try store.acceptCertificate(certificate, for: Self.account, topic: .app, at: start) }
                == .wrongCertificate)
        return try save()
    }

    /// What the extension knows of each pin.
    func trust(_ state: Int) throws -> [LearnedTrust] {
        if let trust = known[state] { return trust }
        try load(state)
        let trust = try keys.trust(for: .app, account: Self.account).pins.map(\.learned)
        known[state] = trust
        return trust
    }

    private func seal(_ message: ModelMessage) throws -> Bytes {
        if let known = sealed[message] { return known }
        let bytes = try providers[message.provider].seal(
            message.certificate.map { certificates[$0] },
            signing: message.certificate.flatMap { signingKeys[$0] } ?? 0, to: device.publicKey, at: message.sentAt,
            name: message.kind == .named ? "N" : nil, withdrawing: message.kind == .withdrawal ? ["N"] : [])
        sealed[message] = bytes
        return bytes
    }

    // MARK: States

    private func save() throws -> Int {
        let contents = try item.read(KeychainContents.self)?.contents
        let learned = try item.read(LearnedContents.self)?.contents.rows ?? []
        let tables = try database.read { (connection) throws(KeyStoreError) in
            var tables: [[[SQLiteValue]]] = []
            for table in Self.tables { tables.append(try connection.rows("SELECT * FROM \(table)")) }
            return tables
        }
        let state = PhoneState(
            learned: learned.map { LearnedTrustRowValue(provider: $0.provider, trust: $0.trust) },
            pins: contents?.pins.map(\.key) ?? [], tables: tables ?? [])
        loaded = states.number(state)
        return loaded
    }

    private func load(_ number: Int) throws {
        guard number != loaded else { return }
        let state = states[number]
        keychain = ModelKeychain()
        var contents = KeychainContents()
        contents.keys = [keyRow]
        contents.pins = state.pins.enumerated().map { number, key in
            PinRow(
                id: Int64(number + 1), account: Self.account, topic: providers[0].topic, key: key, origin: .app,
                createdAt: start)
        }
        var learned = LearnedContents()
        learned.rows = state.learned.enumerated().map { number, row in
            LearnedTrustRow(
                id: Int64(number + 1), provider: row.provider, topic: providers[0].topic, trust: row.trust)
        }
        try #require(try item.write(contents, replacing: nil) && item.write(learned, replacing: nil))
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

import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Simulated

extension Timestamp {
    /// When every story begins.
    static let start = Timestamp(milliseconds: 1_767_225_600_000)

    func plus(days: UInt64 = 0, seconds: UInt64 = 0, milliseconds: UInt64 = 0) -> Timestamp {
        adding(.seconds(days * 86_400 + seconds)).adding(milliseconds: milliseconds)
    }
}

extension Topic {
    static let app = known("com.example.app")
    static let other = known("com.example.other")

    private static func known(_ bundleID: String) -> Topic {
        guard let topic = try? Topic(bundleID) else { preconditionFailure("\(bundleID) is no topic") }
        return topic
    }
}

/// A provider: its keys and devices in a store in memory, and the pushes that it sends.
struct Provider {
    static let payload =
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"sound":"default"},"chat":"c41"}"#

    let store: SQLiteKeyStore
    /// The user who is logged in where the phone registers.
    var user: String?
    /// The suites that the operator permits.
    var suites = RegistrationReply.standardSuites

    init(now: Timestamp = .start) throws {
        store = try SQLiteKeyStore.inMemory()
        _ = try store.generateProviderKey(topic: .app, at: now)
    }

    /// The provider key.
    var key: ProviderKey { get throws { try store.providerSecret() } }

    /// The certificate of the key that signs now; nil at epoch 0.
    var certificate: Certificate? { get throws { try store.providerKey().certificate } }

    /// Makes another signing key; returns its certificate.
    @discardableResult
    func rotate(stolen: Bool = false, at now: Timestamp) throws -> Certificate {
        let record = try store.rotateSigningKey(stolen: stolen, anyway: true, at: now)
        return try #require(record.certificate)
    }

    /// Seals for a registered device.
    func push(
        _ payload: String = payload, to id: String = Phone.id, signedBy name: String? = nil, topic: Topic = .app,
        at now: Timestamp, like options: Sealer.Message = Sealer.Message([]), answers: AnswerSecret? = nil
    ) throws -> Bytes {
        let device = try #require(try store.device(id: id))
        var message = options
        message.payload = Bytes(payload.utf8)
        return try Sealer(signer: store.signer(named: name), topic: topic, answers: answers)
            .seal(message, to: device.publicKey, at: now).json
    }
}

/// A phone: a store on the disk, with the database of its replay guard.
struct Phone {
    static let id = "phone1"
    static let account = "default"

    let folder: TemporaryFolder
    let store: SQLiteKeyStore
    let database: ExtensionDatabase

    /// A new phone with one device key.
    init(now: Timestamp = .start, floor: Timestamp? = nil, hasKey: Bool = true) throws {
        folder = try TemporaryFolder()
        store = try SQLiteKeyStore.create(in: folder.path, passphrase: nil)
        if hasKey { try store.edit { try $0.add(at: now) } }
        database = try ExtensionDatabase.create(
            in: folder.path, floor: floor ?? now.subtracting(Freshness.clockTolerance))
    }

    /// A phone that is enrolled with a provider.
    init(enrolledWith provider: Provider, as id: String = Phone.id, now: Timestamp = .start) throws {
        try self.init(now: now)
        let pin = ProviderPin(try provider.key.publicKey, certificate: try provider.certificate)
        try store.edit { try $0.pin(pin, topic: pin.certificate.map { _ in .app }) }
        try provider.store.addDevice(record(), id: id, at: now)
    }

    /// The phone whose files a process has left, in whatever state.
    init(reopening folder: TemporaryFolder, at now: Timestamp, options: StoreOptions = StoreOptions()) throws {
        self.folder = folder
        store = try SQLiteKeyStore.open(in: folder.path, passphrase: nil, options: options)
        database = ExtensionDatabase(in: folder.path)
    }

    /// The key to register: the pending one, otherwise the active one.
    func newestKey(named name: String? = nil) throws -> DeviceState.Key {
        try #require(try store.state().accountWithKeys(name).currentKey)
    }

    /// The phone's registration record at each launch.
    func record(named name: String? = nil) throws -> DeviceRegistration {
        let (account, key) = (try store.state().accountWithKeys(name), try newestKey(named: name))
        return DeviceRegistration(
            deviceID: Self.id, publicKey: key.publicKey, topic: account.topic, generation: key.generation,
            createdAt: key.createdAt, pinnedProvider: try trust.pins.first?.key,
            certificate: try trust.pins.first?.learned.certificate)
    }

    /// The trust of the phone's account.
    var trust: ProviderTrust { get throws { try store.state().trust(for: .app, account: Self.account) } }

    /// The highest certificate that the phone knows of its pin.
    var certificate: Certificate? { get throws { try trust.pins.first?.learned.certificate } }

    func receive(
        _ push: Bytes, as pushClass: PushClass = .alert, request: String? = nil, topic: Topic? = .app,
        duplicates: DuplicatePolicy = .quiet, at now: Timestamp
    ) -> NotificationReceiver.Reception {
        receiver(topic: topic, duplicates: duplicates).receive(push, as: pushClass, requestID: request, at: now)
    }
}

extension Phone {
    func receiver(
        _ database: ExtensionDatabase? = nil, topic: Topic? = .app, defaultTopic: Topic? = nil,
        duplicates: DuplicatePolicy = .quiet
    ) -> NotificationReceiver {
        var policy = NotificationReceiver.Policy()
        policy.duplicates = duplicates
        return NotificationReceiver(
            store: store, database: database ?? self.database, topic: topic, defaultTopic: defaultTopic, policy: policy)
    }
}

extension DeviceStore {
    /// Changes the state as a test may write it: with errors that have no type.
    @discardableResult
    func edit<R>(_ body: (inout DeviceState) throws -> R) throws -> R {
        try change { (state) throws(KeyStoreError) in
            do { return try body(&state) } catch { throw error as? KeyStoreError ?? .noDeviceState }
        }
    }

    /// The keys of an account, or of all.
    func keys(of name: String? = nil) throws -> [DeviceState.Key] {
        try state().accounts.filter { name == nil || $0.name == name }.flatMap(\.keys)
    }
}

/// The visible and audible presentation of a push.
struct Shown: Equatable {
    var title = ""
    var subtitle = ""
    var body = ""
    var sound = false
    var passive = false
}

extension Shown {
    init(_ content: NotificationContent) {
        self.init(
            title: content.title.description, subtitle: content.subtitle.description, body: content.body.description,
            sound: content.sound != nil, passive: content.interruptionLevel == .passive)
    }
}

extension Delivery {
    var shown: Shown { Shown(content) }
}

extension NotificationReceiver.Reception {
    var shown: Shown { delivery.shown }

    /// The notification, when it opened.
    var opened: OpenedNotification? {
        guard let opened = delivery.opened else { return nil }
        return opened
    }

    /// `opened`, or the code for the developer.
    var code: String { delivery.code }
}

extension ReplayMessage {
    /// An opened message as a receiver takes it.
    init(_ opened: OpenedNotification, account: String = "default", request: String? = nil) {
        self.init(
            opened.messageID, from: opened.provider, epoch: opened.epoch, trustFloor: opened.learned.floor, to: account,
            requestID: request ?? opened.messageID.description, sentAt: opened.sentAt, expiresAt: opened.expiresAt)
    }
}

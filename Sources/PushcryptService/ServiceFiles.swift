internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The database shared by all requests of one handler, opened when the first push arrives.
///
/// Every method may wait for a disk, so only the handler's own threads call them. Not run on Apple systems.
final class ServiceFiles: Sendable {
    private typealias Files = (directory: URL, database: ExtensionDatabase)

    private let configuration: NotificationServiceHandler.Configuration
    private let files = Locked<Files?>(nil)
    /// The same files, behind a lock that nobody holds while a disk is waited for.
    private let opened = Locked<Files?>(nil)

    init(_ configuration: NotificationServiceHandler.Configuration) {
        self.configuration = configuration
    }

    /// Returns a receiver for one push, and warnings about problems that do not prevent receiving it.
    func receiver(at now: Timestamp) -> (receiver: NotificationReceiver, warnings: [String]) {
        var warnings: [String] = []
        var topic: Topic?
        do {
            topic = try configuration.topic()
        } catch {
            warnings.append("topic: \(Self.text(for: error))")
        }
        var database: ExtensionDatabase?
        do {
            database = try self.database()
        } catch {
            warnings.append("directory: \(Self.text(for: error))")
        }
        var policy = NotificationReceiver.Policy()
        policy.duplicates = configuration.duplicates
        policy.texts = configuration.texts
        policy.hasFilteringEntitlement = configuration.hasFilteringEntitlement
        // Without a directory nothing is remembered, and the database reports it.
        let present = database ?? ExtensionDatabase(in: "")
        let receiver = NotificationReceiver(
            store: LazyStore(configuration.keys), database: present, topic: topic, policy: policy)
        return (receiver, warnings)
    }

    /// Adds a row to the journal. If it cannot be written, it is lost.
    func journal(_ report: DeliveryReport) {
        _ = try? database().journal.append(report.entry)
    }

    /// Allows the database to be used, because a push has arrived: this process runs.
    func begin() { opened.withLock { $0 }?.database.interruption.begin() }

    /// Ends what uses the database, and refuses further use until the next push: this process may be suspended, and a disk
    /// may hang.
    func stop() { opened.withLock { $0 }?.database.interruption.stop() }

    /// The directory; nil before the first push.
    var directory: URL? { files.withLock { $0?.directory } }

    /// Returns the database.
    func database() throws -> ExtensionDatabase {
        try files.withLock { files in
            if let files { return files.database }
            let directory = try configuration.directory()
            try FileManager.default.makePrivateDirectory(at: directory)
            // The app may have created it with the default mode.
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
            let new = (directory, ExtensionDatabase(in: directory.path))
            files = new
            opened.withLock { $0 = new }
            return new.1
        }
    }

    /// Describes an error of the app's code: only its type, unless it is an error of this package.
    static func text(for error: any Error) -> String {
        switch error {
        case let error as KeyStoreError: error.description
        case let error as InvalidTopic: error.description
        case let error as AppGroup.Missing: error.description
        case let error as NotConfigured: error.description
        default: "\(type(of: error))"
        }
    }
}

/// The device's store, opened when an envelope names a key.
private final class LazyStore: DeviceStore {
    private let source: @Sendable () throws -> any DeviceStore
    private let opened = Locked<(any DeviceStore)?>(nil)

    init(_ source: @escaping @Sendable () throws -> any DeviceStore) { self.source = source }

    func load() throws(KeyStoreError) -> (state: DeviceState, revision: ContiguousArray<UInt8>)? {
        try store().load()
    }

    func compareAndSwap(
        _ state: DeviceState, replacing revision: ContiguousArray<UInt8>?
    ) throws(KeyStoreError) -> Bool { try store().compareAndSwap(state, replacing: revision) }

    func discard() throws(KeyStoreError) { try store().discard() }

    private func store() throws(KeyStoreError) -> any DeviceStore {
        if let store = opened.withLock({ $0 }) { return store }
        do {
            let store = try source()
            opened.withLock { $0 = store }
            return store
        } catch let error as KeyStoreError {
            throw error
        } catch {
            throw KeyStoreError(.inputOutput, "the extension cannot get its keys: \(ServiceFiles.text(for: error))")
        }
    }
}

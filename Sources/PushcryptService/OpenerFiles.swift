internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// What the requests of one opener share: the files in its directory, opened when the first push is there.
///
/// Everything here may wait for a disk, so only the opener's own threads call it. Not run on Apple systems.
final class OpenerFiles: Sendable {
    private struct Files {
        let directory: URL
        let replay: ReplayFile
        let statements: StatementFile
        let journal: JournalFile
    }

    private final class State {
        var files: Files?
    }

    private let configuration: NotificationOpener.Configuration
    private let state = Locked(State())

    init(_ configuration: NotificationOpener.Configuration) {
        self.configuration = configuration
    }

    /// A receiver for one push, and what is wrong although the push can be received.
    func receiver(at now: Timestamp) -> (receiver: NotificationReceiver, warnings: [String]) {
        var warnings: [String] = []
        var topic: Topic?
        do {
            topic = try configuration.topic()
        } catch {
            warnings.append("topic: \(Self.words(for: error))")
        }
        var files: Files?
        do {
            files = try self.files(at: now)
        } catch {
            warnings.append("directory: \(Self.words(for: error))")
        }
        var policy = NotificationReceiver.Policy()
        policy.duplicates = configuration.duplicates
        policy.texts = configuration.texts
        // Without a directory nothing is remembered, and each file says so.
        let keys = ExtensionKeys(
            keys: LazyKeys(configuration.keys), statements: files?.statements ?? StatementFile(in: ""))
        let receiver = NotificationReceiver(
            keys: keys, effects: keys, replay: files?.replay ?? ReplayFile.open(in: "", at: now), topic: topic,
            policy: policy)
        return (receiver, warnings)
    }

    /// Adds a row to the journal; what cannot be written is lost.
    func journal(_ report: DeliveryReport) {
        let entry = JournalEntry(
            time: report.receivedAt, fingerprint: report.fingerprint, code: report.code, keyState: report.keyState,
            milliseconds: report.milliseconds)
        _ = try? files(at: report.receivedAt).journal.append(entry)
    }

    /// The directory, once a push could use it.
    var directory: URL? { state.withLock { $0.files?.directory } }

    private func files(at now: Timestamp) throws -> Files {
        try state.withLock { state in
            if let files = state.files { return files }
            let directory = try configuration.directory()
            try FileManager.default.makePrivateDirectory(at: directory)
            // An app may have made it with the usual mode, in which no file of ours would be used.
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
            let files = Files(
                directory: directory, replay: ReplayFile.open(in: directory.path, at: now),
                statements: StatementFile(in: directory.path), journal: JournalFile(in: directory.path))
            state.files = files
            return files
        }
    }

    /// What an error of the app's may be quoted with: no more than its type, unless it is one of this package's.
    static func words(for error: any Error) -> String {
        switch error {
        case let error as KeyStoreError: error.description
        case let error as InvalidTopic: error.description
        case let error as AppGroup.Missing: error.description
        default: "\(type(of: error))"
        }
    }
}

/// The app's keys, asked for when an envelope names one.
private final class LazyKeys: DeviceKeyReading {
    private final class State {
        var keys: (any DeviceKeyReading)?
    }

    private let source: @Sendable () throws -> any DeviceKeyReading
    private let state = Locked(State())

    init(_ source: @escaping @Sendable () throws -> any DeviceKeyReading) {
        self.source = source
    }

    func deviceKey(id: KeyID, at now: Timestamp) throws(KeyStoreError) -> StoredDeviceKey? {
        try keys().deviceKey(id: id, at: now)
    }

    func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust { try keys().trust(for: topic) }

    private func keys() throws(KeyStoreError) -> any DeviceKeyReading {
        if let keys = state.withLock({ $0.keys }) { return keys }
        do {
            let keys = try source()
            state.withLock { $0.keys = keys }
            return keys
        } catch let error as KeyStoreError {
            throw error
        } catch {
            throw KeyStoreError(.inputOutput, "the extension cannot get its keys: \(OpenerFiles.words(for: error))")
        }
    }
}

internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// What the requests of one opener share: the files in its directory, opened when the first push is there.
///
/// Everything here may wait for a disk, so only the opener's own threads call it.
final class OpenerFiles: Sendable {
    private final class State {
        var directory: URL?
        var replay: ReplayFile?
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
        var policy = NotificationReceiver.Policy()
        policy.duplicates = configuration.duplicates
        policy.texts = configuration.texts
        let receiver = NotificationReceiver(
            keys: LazyKeys(configuration.keys), effects: NothingKept(), replay: replay(at: now, &warnings),
            topic: topic, policy: policy)
        return (receiver, warnings)
    }

    func journal(_ report: DeliveryReport) {}

    private func replay(at now: Timestamp, _ warnings: inout [String]) -> ReplayFile {
        state.withLock { state in
            if let replay = state.replay { return replay }
            do {
                let directory = try configuration.directory()
                try FileManager.default.makePrivateDirectory(at: directory)
                let replay = ReplayFile.open(at: directory.path, now: now)
                (state.directory, state.replay) = (directory, replay)
                return replay
            } catch {
                warnings.append("directory: \(Self.words(for: error))")
                // It remembers nothing, and every judgement says so.
                return ReplayFile.open(at: "", now: now)
            }
        }
    }

    /// The directory, once a push could use it.
    var directory: URL? { state.withLock { $0.directory } }

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

    func deviceKey(id: KeyID, now: Timestamp) throws(KeyStoreError) -> (record: DeviceKeyRecord, key: DeviceKey)? {
        try keys().deviceKey(id: id, now: now)
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

private struct NothingKept: OpeningEffects {
    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError) {}
}

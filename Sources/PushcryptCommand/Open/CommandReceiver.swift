internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The receiver of the command line: a store, as on a phone, or a key file.
enum CommandReceiver: Sendable {
    case keyFile(Opener)
    case store(NotificationReceiver)
    /// A damaged store: as on a phone, the fallback is shown.
    case damagedStore(KeyStoreError)

    /// Opens a push, however long that takes.
    func receive(
        _ push: PushToOpen, as pushClass: PushClass, requestID: String?, at now: Timestamp
    ) -> (delivery: Delivery, warnings: [String]) {
        let received: ReceivedPush
        let incoming: IncomingPush
        switch push.content {
        case .refused(let reason): return (push.fallback(reason), [])
        case .push(let push, let parts): (received, incoming) = (push, parts)
        }
        switch self {
        case .store(let receiver):
            let reception = receiver.receive(incoming, as: pushClass, requestID: requestID, at: now)
            return (reception.delivery, reception.warnings)
        case _ where incoming.encryptedData == .absent && incoming.mayPassInTheClear:
            return (Delivery(passing: incoming), [])
        case .damagedStore(let error): return (push.fallback(Delivery.Reason(error)), [])
        case .keyFile(let opener):
            do {
                return (Delivery(opened: try opener.open(received.envelope(), at: now, as: pushClass)), [])
            } catch {
                return (push.fallback(Delivery.Reason(error)), [])
            }
        }
    }
}

extension CommandReceiver {
    /// Completes a delivery that was given out.
    func finish(_ delivery: Delivery, at now: Timestamp) {
        if case .store(let receiver) = self { receiver.deleteRetiredKeys(after: delivery, at: now) }
    }
}

/// The input of `open`.
struct PushToOpen: Sendable {
    enum Content: Sendable {
        case push(ReceivedPush, IncomingPush)
        /// The input is not a push.
        case refused(Delivery.Reason)
    }

    let content: Content

    /// Parses the input; nil if it was too long to read.
    init(_ bytes: ContiguousArray<UInt8>?, mayPassInTheClear: Bool) {
        guard let bytes, !bytes.isEmpty else {
            let what =
                bytes == nil ? "longer than the \(ReceivedPush.maximumLength) bytes of the longest push" : "empty"
            content = .refused(
                Delivery.Reason(
                    code: OpenError.Code.malformedNotification.description, description: "the input is \(what)"))
            return
        }
        do {
            let received = try ReceivedPush(bytes)
            var incoming = IncomingPush(received)
            incoming.mayPassInTheClear = mayPassInTheClear
            content = .push(received, incoming)
        } catch {
            content = .refused(Delivery.Reason(error))
        }
    }

    /// The fingerprint of the text in `ENCRYPTED_DATA`, if there is one.
    var fingerprint: EnvelopeFingerprint? {
        if case .push(let received, _) = content { received.fingerprint } else { nil }
    }

    /// Returns the delivery if the push does not open.
    func fallback(_ reason: Delivery.Reason) -> Delivery {
        if case .push(_, let incoming) = content { return Delivery(fallback: reason, for: incoming) }
        return Delivery(fallback: reason, for: nil)
    }
}

// MARK: Stores

extension SQLiteKeyStore {
    /// Returns the device's state as it is now, whose changes are kept by nobody.
    func copy() throws -> MemoryDeviceStore {
        MemoryDeviceStore(try load()?.state)
    }
}

extension ExtensionDatabase {
    /// Creates one that knows no message yet, in an empty folder.
    static func temporary(in folder: String) throws -> ExtensionDatabase {
        try create(in: folder, floor: Timestamp(milliseconds: 0))
    }
}

extension CommandReceiver {
    /// Opens with a store's keys; `keeping` returns the places for them and for the record of messages.
    static func store(
        _ arguments: StoreArguments, _ topic: TopicArgument, _ console: Console, _ policy: NotificationReceiver.Policy,
        keeping: (SQLiteKeyStore) throws -> (store: any DeviceStore, database: ExtensionDatabase)
    ) throws -> CommandReceiver {
        let topic = try topic.topic()
        do {
            let store = try console.open(arguments)
            let defaultTopic = topic == nil ? try store.defaultTopic() : nil
            let (keys, database) = try keeping(store)
            return .store(
                NotificationReceiver(
                    store: keys, database: database, topic: topic, defaultTopic: defaultTopic, policy: policy))
        } catch let error as KeyStoreError where error.code == .corruptStore {
            return .damagedStore(error)
        }
    }
}

public import Pushcrypt
public import PushcryptKeyStore

/// What becomes of a message that was shown before under another notification request.
public enum DuplicatePolicy: String, CaseIterable, Sendable {
    /// The same content, passive and without sound.
    case quiet
    /// The fallback.
    case fallback
}

/// Takes a push through every step of the opening order, with the keys of a store and a replay guard.
///
/// It always ends in a `Delivery`: a store that cannot be read gives the fallback, a replay guard that cannot be written
/// stops nothing. Nothing in the store changes because of a message that did not open. (`Docs/Format.md`, Opening)
public struct NotificationReceiver: Sendable {
    private let store: SQLiteKeyStore
    private let replay: ReplayFile
    private let topic: Topic?
    private let defaultTopic: Topic?
    private let duplicates: DuplicatePolicy

    /// What became of one push.
    public struct Reception: Sendable {
        /// What the person is shown.
        public let delivery: Delivery
        /// What the developer should know although the push was delivered, one sentence each.
        public let warnings: [String]
    }

    /// Makes a receiver.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle id; nil to take the one that the device key is bound to. A device key that is bound
    ///     to another opens nothing.
    ///   - defaultTopic: taken when the device key is bound to none.
    ///   - duplicates: what becomes of a message that was shown before under another request.
    public init(
        store: SQLiteKeyStore, replay: ReplayFile, topic: Topic?, defaultTopic: Topic? = nil,
        duplicates: DuplicatePolicy = .quiet
    ) {
        self.store = store
        self.replay = replay
        self.topic = topic
        self.defaultTopic = defaultTopic
        self.duplicates = duplicates
    }

    /// Receives one push.
    ///
    /// - Parameters:
    ///   - bytes: the push as JSON.
    ///   - requestID: names the notification request; nil when the caller has none, and the same message then counts as the
    ///     same request.
    ///   - now: the present time.
    public func receive(_ bytes: ContiguousArray<UInt8>, requestID: String?, at now: Timestamp) -> Reception {
        let push: ReceivedPush
        do throws(OpenError) {
            push = try ReceivedPush(bytes)
        } catch {
            return Reception(delivery: Delivery(fallback: Delivery.Reason(error), for: nil), warnings: [])
        }
        do throws(Failure) {
            let envelope = try Failure.translate { () throws(OpenError) in try push.envelope() }
            return try receive(envelope, requestID: requestID, at: now, push)
        } catch {
            return Reception(delivery: Delivery(fallback: error.reason, for: push), warnings: [])
        }
    }

    private func receive(
        _ envelope: Envelope, requestID: String?, at now: Timestamp, _ push: ReceivedPush
    ) throws(Failure) -> Reception {
        let (opened, topic) = try open(envelope, at: now)
        var warnings: [String] = []
        if opened.hasRotationConflict {
            warnings.append(
                "rotation-conflict: the message brought a rotation that contradicts an accepted one; an old sender key may be stolen"
            )
        }
        let judgement = replay.judge(
            sender: opened.sender, messageID: opened.messageID, requestID: requestID ?? opened.messageID.description,
            sentAt: opened.sentAt, expiresAt: opened.expiresAt, now: now)
        if let problem = judgement.problem { warnings.append("replay guard: \(problem)") }
        switch judgement.verdict {
        case .duplicate where duplicates == .fallback:
            let error = OpenError(.duplicate, "the message was shown before under another notification request")
            return Reception(delivery: Delivery(fallback: Delivery.Reason(error), for: push), warnings: warnings)
        case .duplicate:
            return Reception(delivery: Delivery(opened: opened, hasSound: false, isPassive: true), warnings: warnings)
        case .sameRequest(let soundAllowed):
            return Reception(
                delivery: Delivery(opened: opened, hasSound: soundAllowed, isPassive: !soundAllowed),
                warnings: warnings + settle(opened, topic, at: now))
        case .new:
            return Reception(delivery: Delivery(opened: opened), warnings: warnings + settle(opened, topic, at: now))
        }
    }

    /// Steps 3 to 7, with what the store holds.
    private func open(_ envelope: Envelope, at now: Timestamp) throws(Failure) -> (OpenedNotification, Topic) {
        let candidate = try Failure.translate { () throws(KeyStoreError) in
            try store.deviceKey(id: envelope.recipientKeyID, now: now)
        }
        guard let candidate else { throw Failure(.unknownRecipientKey(envelope.recipientKeyID)) }
        let topic = try self.topic(for: candidate.record)
        let trust = try Failure.translate { () throws(KeyStoreError) in try store.trust(for: topic) }
        let opener = Opener(topic: topic, deviceKeys: [candidate.key], trust: trust)
        return (try Failure.translate { () throws(OpenError) in try opener.open(envelope, at: now) }, topic)
    }

    /// The app that the push is for, as the call, the device key or the store says; never as the push says.
    private func topic(for key: DeviceKeyRecord) throws(Failure) -> Topic {
        if let topic, let bound = key.topic, topic != bound {
            throw Failure(
                KeyStoreError(
                    .topicMismatch, "sealed to key \(key.keyID), which is for \(bound) and not for \(topic)"))
        }
        guard let topic = topic ?? key.topic ?? defaultTopic else {
            throw Failure(
                Delivery.Reason(
                    code: "no-topic", description: "neither the call nor the device key says which app the push is for")
            )
        }
        return topic
    }

    /// Lets the message take effect on keys and trust, now that it has passed every step.
    private func settle(_ opened: OpenedNotification, _ topic: Topic, at now: Timestamp) -> [String] {
        do throws(KeyStoreError) {
            try store.settle(openedWith: opened.openedWith, statements: opened.statements, topic: topic, now: now)
            return []
        } catch {
            return ["the key store was not updated: \(error)"]
        }
    }
}

/// Why a push ends in the fallback.
private struct Failure: Error {
    let reason: Delivery.Reason

    init(_ reason: Delivery.Reason) {
        self.reason = reason
    }

    init(_ error: OpenError) {
        reason = Delivery.Reason(error)
    }

    init(_ error: KeyStoreError) {
        reason = Delivery.Reason(error)
    }

    static func translate<R>(_ body: () throws(OpenError) -> R) throws(Failure) -> R {
        do throws(OpenError) {
            return try body()
        } catch {
            throw Failure(error)
        }
    }

    static func translate<R>(_ body: () throws(KeyStoreError) -> R) throws(Failure) -> R {
        do throws(KeyStoreError) {
            return try body()
        } catch {
            throw Failure(error)
        }
    }
}

public import Pushcrypt
public import PushcryptKeyStore

/// How to treat a message that was already shown under another notification request.
public enum DuplicatePolicy: String, CaseIterable, Sendable {
    /// The same content is shown, passive and without sound.
    case quiet
    /// The fallback is shown.
    case fallback
    /// Nothing is shown. Only for an app with Apple's entitlement `com.apple.developer.usernotifications.filtering`:
    /// without it, the system shows the original push if an extension delivers nothing.
    case suppress
}

/// Opens pushes with the keys of a store and a replay guard, in all the steps of the format.
///
/// It always ends in a `Delivery`: a store that cannot be read gives the fallback, and a replay guard that cannot be
/// written stops nothing. A message that does not open changes nothing, and no lock is held when a call returns.
/// (`Docs/Format.md`, Opening)
public struct NotificationReceiver: Sendable {
    /// An app's decisions about its notifications.
    public struct Policy: Sendable {
        /// How to treat a message that was already shown under another request.
        public var duplicates = DuplicatePolicy.quiet
        /// The texts of the fallback.
        public var texts = FallbackTexts.standard

        /// Creates the policy that suits most apps.
        public init() {}
    }

    /// The result of receiving one push.
    public struct Reception: Sendable {
        /// The notification to show.
        public let delivery: Delivery
        /// The state of the device key that the push was sealed to.
        public let keyState: JournalEntry.KeyState
        /// Problems that did not stop the delivery, one sentence each; for the developer.
        public let warnings: [String]
    }

    private let keys: any DeviceKeyReading
    private let effects: any OpeningEffects
    private let replay: ReplayFile
    private let topic: Topic?
    private let defaultTopic: Topic?
    private let policy: Policy

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - keys: The device keys and the trusted senders; only read.
    ///   - effects: Where the changes made by an opened message are stored: the store itself, or an extension's own
    ///     file.
    ///   - replay: Remembers the messages that were shown.
    ///   - topic: The app's bundle id; nil to use the topic of the device key. A device key bound to another topic
    ///     opens
    ///     nothing.
    ///   - defaultTopic: Used if the device key is not bound to a topic.
    ///   - policy: The app's decisions about duplicates and texts.
    public init(
        keys: any DeviceKeyReading, effects: any OpeningEffects, replay: ReplayFile, topic: Topic?,
        defaultTopic: Topic? = nil, policy: Policy = Policy()
    ) {
        self.keys = keys
        self.effects = effects
        self.replay = replay
        self.topic = topic
        self.defaultTopic = defaultTopic
        self.policy = policy
    }

    /// Receives the JSON of a push.
    ///
    /// - Parameters:
    ///   - bytes: The push as JSON.
    ///   - requestID: The identifier of the notification request; nil if the caller has none, and then the same message
    ///     counts as the same request.
    ///   - now: The present time.
    public func receive(_ bytes: ContiguousArray<UInt8>, requestID: String?, at now: Timestamp) -> Reception {
        do throws(OpenError) {
            return receive(IncomingPush(try ReceivedPush(bytes)), requestID: requestID, at: now)
        } catch {
            let delivery = Delivery(fallback: Delivery.Reason(error), for: nil, texts: policy.texts)
            return Reception(delivery: delivery, keyState: .none, warnings: [])
        }
    }

    /// Receives a push.
    ///
    /// - Parameters:
    ///   - push: The push as the system handed it over.
    ///   - requestID: The identifier of the notification request; nil if the caller has none, and then the same message
    ///     counts as the same request.
    ///   - now: The present time.
    ///   - isAwaited: Called before the message is remembered as shown. Returns false if it is too late to show it, so
    ///     that a later copy counts as new.
    public func receive(
        _ push: IncomingPush, requestID: String?, at now: Timestamp, isAwaited: () -> Bool = { true }
    ) -> Reception {
        if push.encryptedData == .absent, push.mayPassInTheClear {
            return Reception(delivery: Delivery(passing: push), keyState: .none, warnings: [])
        }
        var opening = Opening()
        do throws(Failure) {
            let envelope = try Failure.translate { () throws(OpenError) in try push.envelope() }
            let (opened, topic) = try open(envelope, at: now, &opening)
            guard isAwaited() else { throw Failure(.deadline) }
            let delivery = judge(opened, requestID: requestID, at: now, push, &opening)
            if !opening.isDuplicate { settle(opened, topic, at: now, &opening) }
            return Reception(delivery: delivery, keyState: opening.keyState, warnings: opening.warnings)
        } catch {
            let delivery = Delivery(fallback: error.reason, for: push, texts: policy.texts)
            return Reception(delivery: delivery, keyState: opening.keyState, warnings: opening.warnings)
        }
    }

    // MARK: Steps 3 to 7

    /// State collected during the steps.
    private struct Opening {
        var keyState = JournalEntry.KeyState.none
        var warnings: [String] = []
        var isDuplicate = false
    }

    private func open(
        _ envelope: Envelope, at now: Timestamp, _ opening: inout Opening
    ) throws(Failure) -> (OpenedNotification, Topic) {
        let candidate = try deviceKey(envelope.recipientKeyID, at: now, &opening)
        opening.keyState = JournalEntry.KeyState(candidate.record.state)
        let topic = try self.topic(for: candidate.record)
        let trust = try Failure.translate { () throws(KeyStoreError) in try keys.trust(for: topic) }
        let opener = Opener(topic: topic, deviceKeys: [candidate.key], trust: trust)
        return (try Failure.translate { () throws(OpenError) in try opener.open(envelope, at: now) }, topic)
    }

    private func deviceKey(
        _ id: KeyID, at now: Timestamp, _ opening: inout Opening
    ) throws(Failure) -> StoredDeviceKey {
        do throws(KeyStoreError) {
            if let candidate = try keys.deviceKey(id: id, at: now) { return candidate }
        } catch {
            opening.keyState = JournalEntry.KeyState(error)
            throw Failure(error)
        }
        opening.keyState = .unknown
        throw Failure(.unknownRecipientKey(id))
    }

    /// The app that the push is for, according to the caller, the device key or the store; never according to the push.
    private func topic(for key: DeviceKeyRecord) throws(Failure) -> Topic {
        if let topic, let bound = key.topic, topic != bound {
            throw Failure(
                KeyStoreError(.topicMismatch, "sealed to key \(key.keyID), which is for \(bound) and not for \(topic)"))
        }
        guard let topic = topic ?? key.topic ?? defaultTopic else { throw Failure(.noTopic) }
        return topic
    }

    // MARK: Step 8, and the changes the message makes

    private func judge(
        _ opened: OpenedNotification, requestID: String?, at now: Timestamp, _ push: IncomingPush,
        _ opening: inout Opening
    ) -> Delivery {
        if opened.hasRotationConflict {
            opening.warnings.append(
                "rotation-conflict: the message brought a rotation that contradicts an accepted one; an old sender key may be stolen"
            )
        }
        if opened.hasRecoveryConflict {
            opening.warnings.append(
                "recovery-conflict: the message brought a recovery that contradicts an accepted one; the recovery key may be stolen"
            )
        }
        let judgement = replay.judge(
            sender: opened.sender, messageID: opened.messageID, requestID: requestID ?? opened.messageID.description,
            sentAt: opened.sentAt, expiresAt: opened.expiresAt, at: now)
        if judgement.wasDamaged {
            opening.warnings.append(
                "replay guard: was damaged and has been recreated; messages sent more than ten minutes ago count as shown"
            )
        }
        if let problem = judgement.problem { opening.warnings.append("replay guard: \(problem)") }
        switch judgement.verdict {
        case .new: return Delivery(opened: opened)
        case .sameRequest(let soundAllowed): return Delivery(opened: opened, quietly: !soundAllowed)
        case .duplicate:
            opening.isDuplicate = true
            switch policy.duplicates {
            case .quiet: return Delivery(opened: opened, quietly: true)
            case .suppress: return .suppressed
            case .fallback:
                let error = OpenError(.duplicate, "the message was already shown under another notification request")
                return Delivery(fallback: Delivery.Reason(error), for: push, texts: policy.texts)
            }
        }
    }

    /// Stores the changes the message makes to keys and trust, now that it has passed every step.
    private func settle(
        _ opened: OpenedNotification, _ topic: Topic, at now: Timestamp, _ opening: inout Opening
    ) {
        do throws(KeyStoreError) {
            try effects.settle(openedWith: opened.openedWith, statements: opened.statements, topic: topic, at: now)
        } catch {
            opening.warnings.append("the key store was not updated: \(error)")
        }
    }
}

/// Why a push ends in the fallback.
private struct Failure: Error {
    let reason: Delivery.Reason

    init(_ reason: Delivery.Reason) { self.reason = reason }

    init(_ error: OpenError) { reason = Delivery.Reason(error) }

    init(_ error: KeyStoreError) { reason = Delivery.Reason(error) }

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

public import Pushcrypt
public import PushcryptKeyStore

/// How to treat a message that has already rung under another notification request, or is too old to tell.
public enum DuplicatePolicy: String, CaseIterable, Sendable {
    /// The same content is shown, passive and without sound, badge, category and files.
    case quiet
    /// The fallback is shown.
    case fallback
    /// Nothing is shown. Only for an app with Apple's entitlement `com.apple.developer.usernotifications.filtering`:
    /// without it, the system shows the original push if an extension delivers nothing.
    case suppress
}

/// Opens pushes with the keys of a store and a replay guard, in all the steps of the format.
///
/// The device key that a push names is an account's, and only the pins of that account can have signed it.
///
/// Each message rings once: it is remembered, and further copies are shown quietly. A duplicate, of another
/// notification request, has no badge, no category and no files.
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
        /// Whether the extension has the entitlement `com.apple.developer.usernotifications.filtering`, so that it may
        /// show nothing: withdrawn and dropped messages are then hidden, and quiet otherwise.
        public var hasFilteringEntitlement = false

        /// Creates the policy that suits most apps.
        public init() {}
    }

    /// The result of receiving one push.
    public struct Reception: Sendable {
        /// The notification to show.
        public let delivery: Delivery
        /// The state of the device key that the push was sealed to.
        package let keyState: JournalEntry.KeyState
        /// Problems that did not stop the delivery, one sentence each; for the developer.
        public let warnings: [String]
        /// The mark of what shows the message; nil for a push that did not open.
        package var mark: MessageMark?
    }

    let store: any DeviceStore
    let replay: ReplayGuard
    private let topic: Topic?
    private let defaultTopic: Topic?
    private let policy: Policy

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - store: The device's state: keys, and what each account trusts. What an opened message changes is stored there too.
    ///   - database: Remembers the messages that were shown.
    ///   - topic: The app's bundle id; nil to use the topic of the device key. A device key bound to another topic
    ///     opens nothing.
    ///   - defaultTopic: Used if the device key is not bound to a topic.
    ///   - policy: The app's decisions about duplicates and texts.
    public init(
        store: any DeviceStore, database: ExtensionDatabase, topic: Topic?, defaultTopic: Topic? = nil,
        policy: Policy = Policy()
    ) {
        self.store = store
        replay = database.replay
        self.topic = topic
        self.defaultTopic = defaultTopic
        self.policy = policy
    }

    /// Receives the JSON of a push. Keys that have ended stay until `DeviceState.purge` deletes them. [O-9.5]
    ///
    /// - Parameters:
    ///   - bytes: The push as JSON.
    ///   - pushClass: What the push came as; a message that was sealed for another use does not open.
    ///   - requestID: The identifier of the notification request; nil if the caller has none, and then the same message
    ///     counts as the same request.
    ///   - now: The present time.
    public func receive(
        _ bytes: ContiguousArray<UInt8>, as pushClass: PushClass = .alert, requestID: String?, at now: Timestamp
    ) -> Reception {
        do throws(OpenError) {
            return receive(IncomingPush(try ReceivedPush(bytes)), as: pushClass, requestID: requestID, at: now)
        } catch {
            let delivery = Delivery(fallback: Delivery.Reason(error), for: nil, texts: policy.texts)
            return Reception(delivery: delivery, keyState: .none, warnings: [])
        }
    }

    /// Receives a push for a caller that gives out the content at once.
    ///
    /// - Parameters:
    ///   - push: The push as the system handed it over.
    ///   - pushClass: What the push came as; a message that was sealed for another use does not open.
    ///   - requestID: The identifier of the notification request; nil if the caller has none, and then the same message
    ///     counts as the same request.
    ///   - now: The present time.
    ///   - isAwaited: Called before the message is remembered as shown. Returns false if it is too late to show it, so
    ///     that a later copy counts as new.
    ///   - accepts: Returns whether the app takes the message in a push of this class; if not, it is not remembered either.
    package func receive(
        _ push: IncomingPush, as pushClass: PushClass = .alert, requestID: String?, at now: Timestamp,
        isAwaited: () -> Bool = { true }, where accepts: (OpenedNotification) -> Bool = { _ in true }
    ) -> Reception {
        do throws(Unopened) {
            let opened = try open(push, as: pushClass, requestID: requestID, at: now)
            guard accepts(opened.notification) else {
                let error = OpenError(
                    .wrongPushClass, "the app does not accept this message in this kind of push")
                throw unopened(push, Delivery.Reason(error), opened.keyState)
            }
            guard isAwaited() else { throw unopened(push, .deadline, opened.keyState) }
            let handover = opened.handOver(after: nil, at: now)
            let problem = opened.settle(at: now)
            return Reception(
                delivery: handover.delivery, keyState: opened.keyState,
                warnings: opened.warnings + handover.problems + [problem].compactMap(\.self), mark: opened.message.mark)
        } catch {
            return Reception(delivery: error.delivery, keyState: error.keyState, warnings: [])
        }
    }

    /// Opens a push. Changes nothing.
    ///
    /// - Throws: The push as it came if it may pass in the clear; otherwise the fallback.
    package func open(
        _ push: IncomingPush, as pushClass: PushClass = .alert, requestID: String?, at now: Timestamp
    ) throws(Unopened) -> OpenedPush {
        if push.encryptedData == .absent, push.mayPassInTheClear {
            throw Unopened(delivery: Delivery(passing: push), keyState: .none)
        }
        var keyState = JournalEntry.KeyState.none
        do throws(Delivery.Reason) {
            let envelope = try Delivery.Reason.translate { () throws(OpenError) in try push.envelope() }
            let state = try load(&keyState)
            guard let (account, key) = state.key(envelope.recipientKeyID, at: now) else {
                keyState = .unknown
                throw Delivery.Reason(.unknownRecipientKey(envelope.recipientKeyID))
            }
            keyState = JournalEntry.KeyState(key.state)
            let topic = try topic(for: account, key.keyID)
            let opener = Opener(
                topic: topic, deviceKeys: [try secret(of: key, &keyState)],
                trust: state.trust(for: topic, account: account.name))
            let opened = try Delivery.Reason.translate { () throws(OpenError) in
                try opener.open(envelope, at: now, as: pushClass)
            }
            let message = ReplayMessage(
                opened.messageID, from: opened.provider, epoch: opened.epoch, trustFloor: opened.learned.floor,
                to: account.name, requestID: requestID ?? opened.messageID.description, sentAt: opened.sentAt,
                expiresAt: opened.expiresAt, withdrawing: opened.withdrawals)
            return OpenedPush(
                notification: opened, account: account.name, keyState: keyState, message: message, receiver: self,
                push: push, isAlert: pushClass == .alert, topic: topic, state: state)
        } catch {
            throw unopened(push, error, keyState)
        }
    }

    private func unopened(_ push: IncomingPush, _ reason: Delivery.Reason, _ keyState: JournalEntry.KeyState)
        -> Unopened
    {
        Unopened(delivery: Delivery(fallback: reason, for: push, texts: policy.texts), keyState: keyState)
    }

    /// Deletes the device keys that ended more than a day before both a message was sealed and `now`.
    ///
    /// Call it after the content of a delivery was given out, never before. If the keys cannot be changed, the next
    /// delivery deletes them.
    package func deleteRetiredKeys(after delivery: Delivery, at now: Timestamp) {
        guard let sentAt = delivery.sentAt else { return }
        let time = min(now, sentAt).subtracting(Freshness.clockTolerance)
        _ = try? store.change { $0.purge(endedBefore: time) }
    }

    func hasLost(_ key: KeyID, at now: Timestamp) -> Bool {
        guard let state = try? store.state() else { return false }
        return state.key(key, at: now) == nil
    }

    private func secret(
        of key: DeviceState.Key, _ keyState: inout JournalEntry.KeyState
    ) throws(Delivery.Reason) -> DeviceKey {
        do throws(KeyStoreError) {
            return try key.deviceKey()
        } catch {
            // Envelopes of such a suite are refused before: this one names a key of another suite. [O-3.1]
            let isUnknown = error.code == .unsupportedSuite
            keyState = isUnknown ? .unknown : JournalEntry.KeyState(error)
            throw isUnknown ? Delivery.Reason(.unknownRecipientKey(key.keyID)) : Delivery.Reason(error)
        }
    }

    private func load(_ keyState: inout JournalEntry.KeyState) throws(Delivery.Reason) -> DeviceState {
        do throws(KeyStoreError) {
            guard let state = try store.load()?.state else { throw .noDeviceState }
            return state
        } catch {
            keyState = JournalEntry.KeyState(error)
            throw Delivery.Reason(error)
        }
    }

    /// The app that the push is for, according to the caller, the account or the store; never according to the push.
    private func topic(for account: DeviceState.Account, _ key: KeyID) throws(Delivery.Reason) -> Topic {
        if let topic, let bound = account.topic, topic != bound {
            throw Delivery.Reason(
                KeyStoreError(.topicMismatch, "sealed to key \(key), which is for \(bound) and not for \(topic)"))
        }
        guard let topic = topic ?? account.topic ?? defaultTopic else { throw .noTopic }
        return topic
    }

    // MARK: Step 8

    /// Returns what is shown of a message.
    func delivery(
        of opened: OpenedNotification, isDuplicate: Bool, rings: Bool, isWithdrawn: Bool, _ push: IncomingPush
    ) -> Delivery {
        if isWithdrawn {
            return Delivery.withdrawn(push, mayHide: policy.hasFilteringEntitlement, texts: policy.texts)
                .recording(opened)
        }
        var opened = opened
        opened.isDuplicate = isDuplicate
        if opened.isDropped {
            return .dropped(opened, isRepeated: !rings, mayHide: policy.hasFilteringEntitlement)
        }
        if rings { return Delivery(opened: opened) }
        switch policy.duplicates {
        case .fallback where isDuplicate:
            let error = OpenError(.duplicate, "the message was already shown under another notification request")
            return Delivery(fallback: Delivery.Reason(error), for: push, texts: policy.texts).recording(opened)
        case .suppress where isDuplicate: return .suppressed.recording(opened)
        case .quiet, .fallback, .suppress: return Delivery(opened: opened, quietly: true)
        }
    }
}

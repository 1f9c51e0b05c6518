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
        public let keyState: JournalEntry.KeyState
        /// Problems that did not stop the delivery, one sentence each; for the developer.
        public let warnings: [String]
        /// The mark of what shows the message; nil for a push that did not open.
        package var mark: MessageMark?
    }

    private let store: any DeviceStore
    fileprivate let replay: ReplayGuard
    private let answers: AnswerKeys
    private let topic: Topic?
    private let defaultTopic: Topic?
    fileprivate let policy: Policy

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
        answers = database.answerKeys
        self.topic = topic
        self.defaultTopic = defaultTopic
        self.policy = policy
    }

    /// Receives the JSON of a push.
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
    public func receive(
        _ push: IncomingPush, as pushClass: PushClass = .alert, requestID: String?, at now: Timestamp,
        isAwaited: () -> Bool = { true }
    ) -> Reception {
        receive(push, as: pushClass, requestID: requestID, at: now, isAwaited: isAwaited) { _ in true }
    }

    /// Receives a push, and remembers its message as shown only if `accepts` returns true for it. Otherwise the message is of
    /// the wrong class.
    package func receive(
        _ push: IncomingPush, as pushClass: PushClass, requestID: String?, at now: Timestamp,
        isAwaited: () -> Bool, where accepts: (OpenedNotification) -> Bool
    ) -> Reception {
        receive(push, pushClass, requestID, at: now, isAwaited, accepts) { opened, message, opening in
            let (taking, handover) = replay.claimAndCommit(message, at: now)
            opening.note(taking)
            return delivery(
                of: opened, taking, rings: handover.rings, isWithdrawn: handover.isWithdrawn, push)
        }
    }

    /// Receives an alert for a caller that works on it before handing it over.
    package func take(
        _ push: IncomingPush, requestID: String?, at now: Timestamp, isAwaited: () -> Bool = { true }
    ) -> TakenPush {
        var taken: (message: ReplayMessage, taking: ReplayClaim)?
        let reception = receive(push, .alert, requestID, at: now, isAwaited, { _ in true }) {
            opened, message, opening in
            let taking = replay.take(message, at: now)
            opening.note(taking)
            taken = (message, taking)
            return delivery(
                of: opened, taking, rings: !taking.isQuiet, isWithdrawn: taking.verdict == .withdrawn, push)
        }
        return TakenPush(reception: reception, receiver: self, push: push, taken: taken)
    }

    private func receive(
        _ push: IncomingPush, _ pushClass: PushClass, _ requestID: String?, at now: Timestamp, _ isAwaited: () -> Bool,
        _ accepts: (OpenedNotification) -> Bool, _ judge: (OpenedNotification, ReplayMessage, inout Opening) -> Delivery
    ) -> Reception {
        if push.encryptedData == .absent, push.mayPassInTheClear {
            return Reception(delivery: Delivery(passing: push), keyState: .none, warnings: [])
        }
        var opening = Opening()
        do throws(Failure) {
            let envelope = try Failure.translate { () throws(OpenError) in try push.envelope() }
            let (opened, topic) = try open(envelope, as: pushClass, at: now, &opening)
            guard accepts(opened) else {
                throw Failure(OpenError(.wrongPushClass, "the app does not take this message as what the push came as"))
            }
            guard isAwaited() else { throw Failure(.deadline) }
            if opened.hasCertificateConflict {
                opening.warnings.append(
                    "certificate-conflict: the message brought a certificate that contradicts an accepted one; the provider key may be stolen"
                )
            }
            let message = ReplayMessage(
                opened.messageID, from: opened.provider, epoch: opened.epoch, trustFloor: opened.learned.floor,
                to: opening.account, requestID: requestID ?? opened.messageID.description, sentAt: opened.sentAt,
                expiresAt: opened.expiresAt, withdrawing: opened.withdrawals)
            var delivery = judge(opened, message, &opening)
            delivery.account = opening.account
            settle(opened, topic, at: now, &opening)
            if pushClass == .alert, delivery.opened != nil, !delivery.isHidden {
                keepAnswerKey(of: opened, message, at: now, &opening)
            }
            return Reception(
                delivery: delivery, keyState: opening.keyState, warnings: opening.warnings, mark: message.mark)
        } catch {
            let delivery = Delivery(fallback: error.reason, for: push, texts: policy.texts)
            return Reception(delivery: delivery, keyState: opening.keyState, warnings: opening.warnings)
        }
    }

    /// Deletes the device keys that ended more than a day before both a message was sealed and `now`.
    ///
    /// Call it after the content of a delivery was given out, never before. If the keys cannot be changed, the next
    /// delivery deletes them.
    public func deleteRetiredKeys(after delivery: Delivery, at now: Timestamp) {
        guard let sentAt = delivery.sentAt else { return }
        let time = min(now, sentAt).subtracting(Freshness.clockTolerance)
        _ = try? store.change { $0.purge(endedBefore: time) }
    }

    fileprivate func hasLost(_ key: DevicePublicKey, at now: Timestamp) -> Bool {
        guard let state = try? store.state() else { return false }
        return state.key(key.id, at: now) == nil
    }

    // MARK: Steps 3 to 7

    /// State collected during the steps.
    private struct Opening {
        var keyState = JournalEntry.KeyState.none
        /// The name of the device key.
        var account = ""
        /// As it was when the message came.
        var state = DeviceState()
        var warnings: [String] = []

        mutating func note(_ taking: ReplayClaim) {
            if taking.wasDamaged {
                warnings.append(
                    "replay guard: was damaged and has been recreated; messages sent more than ten minutes ago count as shown"
                )
            }
            if let problem = taking.problem { warnings.append("replay guard: \(problem)") }
        }
    }

    private func open(
        _ envelope: Envelope, as pushClass: PushClass, at now: Timestamp, _ opening: inout Opening
    ) throws(Failure) -> (OpenedNotification, Topic) {
        let state = try load(&opening)
        guard let (account, key) = state.key(envelope.recipientKeyID, at: now) else {
            opening.keyState = .unknown
            throw Failure(.unknownRecipientKey(envelope.recipientKeyID))
        }
        opening.keyState = JournalEntry.KeyState(key.state)
        opening.account = account.name
        let topic = try self.topic(for: account, key.keyID)
        let opener = Opener(
            topic: topic, deviceKeys: [try secret(of: key, &opening)],
            trust: state.trust(for: topic, account: account.name))
        let opened = try Failure.translate { () throws(OpenError) in
            try opener.open(envelope, at: now, as: pushClass)
        }
        opening.state = state
        return (opened, topic)
    }

    private func secret(of key: DeviceState.Key, _ opening: inout Opening) throws(Failure) -> DeviceKey {
        do throws(KeyStoreError) {
            return try key.deviceKey()
        } catch {
            // Envelopes of such a suite are refused before: this one names a key of another suite. [O-3.1]
            let isUnknown = error.code == .unsupportedSuite
            opening.keyState = isUnknown ? .unknown : JournalEntry.KeyState(error)
            throw isUnknown ? Failure(.unknownRecipientKey(key.keyID)) : Failure(error)
        }
    }

    private func load(_ opening: inout Opening) throws(Failure) -> DeviceState {
        do throws(KeyStoreError) {
            guard let state = try store.load()?.state else { throw .noDeviceState }
            return state
        } catch {
            opening.keyState = JournalEntry.KeyState(error)
            throw Failure(error)
        }
    }

    /// The app that the push is for, according to the caller, the account or the store; never according to the push.
    private func topic(for account: DeviceState.Account, _ key: KeyID) throws(Failure) -> Topic {
        if let topic, let bound = account.topic, topic != bound {
            throw Failure(
                KeyStoreError(.topicMismatch, "sealed to key \(key), which is for \(bound) and not for \(topic)"))
        }
        guard let topic = topic ?? account.topic ?? defaultTopic else { throw Failure(.noTopic) }
        return topic
    }

    // MARK: Step 8, and the changes the message makes

    /// Returns what is shown of a message.
    fileprivate func delivery(
        of opened: OpenedNotification, _ taking: ReplayClaim, rings: Bool, isWithdrawn: Bool = false,
        _ push: IncomingPush
    ) -> Delivery {
        if isWithdrawn {
            return Delivery.withdrawn(push, mayHide: policy.hasFilteringEntitlement, texts: policy.texts)
                .recording(opened)
        }
        var opened = opened
        opened.isDuplicate = taking.isDuplicate
        if opened.isDropped {
            return .dropped(opened, isRepeated: !rings, mayHide: policy.hasFilteringEntitlement)
        }
        if rings { return Delivery(opened: opened) }
        switch policy.duplicates {
        case .fallback where taking.isDuplicate:
            let error = OpenError(.duplicate, "the message was already shown under another notification request")
            return Delivery(fallback: Delivery.Reason(error), for: push, texts: policy.texts).recording(opened)
        case .suppress where taking.isDuplicate: return .suppressed.recording(opened)
        case .quiet, .fallback, .suppress: return Delivery(opened: opened, quietly: true)
        }
    }

    /// Stores the changes the message makes to keys and trust, now that it has passed every step.
    private func settle(
        _ opened: OpenedNotification, _ topic: Topic, at now: Timestamp, _ opening: inout Opening
    ) {
        var after = opening.state
        after.settle(opened, topic: topic, at: now)
        guard after != opening.state else { return }
        do throws(KeyStoreError) {
            try store.change { $0.settle(opened, topic: topic, at: now) }
        } catch {
            opening.warnings.append("the key store was not updated: \(error)")
        }
    }

    /// Keeps what the user can answer with, until the notification is gone.
    private func keepAnswerKey(
        of opened: OpenedNotification, _ message: ReplayMessage, at now: Timestamp, _ opening: inout Opening
    ) {
        guard let key = opened.answerKey else { return }
        do throws(KeyStoreError) {
            try answers.keep(key, of: message, openedWith: opened.openedWith, at: now)
        } catch {
            opening.warnings.append("the message cannot be answered: \(error)")
        }
    }
}

/// A push that was received, and not yet given out.
package struct TakenPush: Sendable {
    /// The delivery, provided that nobody else hands the message over first.
    package let reception: NotificationReceiver.Reception
    fileprivate let receiver: NotificationReceiver
    fileprivate let push: IncomingPush
    /// nil for a push that did not open.
    fileprivate let taken: (message: ReplayMessage, taking: ReplayClaim)?

    /// What the guard found; nil for a push that did not open.
    package var taking: ReplayClaim? { taken?.taking }

    /// Whether the files of the message may be fetched.
    package var mayFetch: Bool { taken?.taking.mayFetch ?? false }

    /// Whether the message has rung under the same request: its files may still be there.
    package var isRepeated: Bool { taken.map { $0.taking.verdict == .again && $0.taking.isQuiet } ?? false }

    /// The withdrawn messages, some of which may be on the screen.
    package var withdrawn: Set<MessageMark> { taken?.taking.withdrawn ?? [] }

    /// The mark of what shows the message, and its account; nil for a push that did not open.
    package var mark: NotificationMark? {
        guard let mark = taken?.message.mark, let account = reception.delivery.account else { return nil }
        return NotificationMark(message: mark, account: account)
    }

    /// Hands the message over, just before its content is given out.
    ///
    /// - Returns: What is shown instead, because another has handed it over; nil for what was prepared. The problem is
    ///   for the developer.
    package func handOver(at now: Timestamp) -> (instead: Delivery?, problem: String?) {
        guard let (message, taking) = taken, taking.verdict != .withdrawn, !reception.delivery.isHidden else {
            return (nil, nil)
        }
        if let lost = lost(at: now) { return (Delivery(fallback: lost, for: push, texts: receiver.policy.texts), nil) }
        let handover = receiver.replay.handOver(message, after: taking.verdict, at: now)
        let problem = handover.problem.map { "replay guard: \($0)" }
        let unreported = problem.flatMap { reception.warnings.contains($0) ? nil : $0 }
        if handover.isWithdrawn, let opened = reception.delivery.opened {
            return (receiver.delivery(of: opened, taking, rings: false, isWithdrawn: true, push), unreported)
        }
        // What was prepared quietly stays so.
        return (handover.rings || taking.isQuiet ? nil : quiet, unreported)
    }

    /// Why the message cannot be shown any more, if its key is gone since it was opened: its account has logged out.
    package func lost(at now: Timestamp) -> Delivery.Reason? {
        guard let key = reception.delivery.opened?.openedWith, receiver.hasLost(key, at: now) else { return nil }
        return Delivery.Reason(.unknownRecipientKey(key.id))
    }

    /// What is shown if the guard does not answer in time.
    package var unanswered: Delivery? { taken?.taking.verdict == .new ? nil : quiet }

    private var quiet: Delivery? {
        guard let taken, let opened = reception.delivery.opened else { return nil }
        return receiver.delivery(of: opened, taken.taking, rings: false, push)
    }
}

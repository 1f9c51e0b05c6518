public import Pushcrypt
public import PushcryptKeyStore

/// An app's saved enrolment state.
public enum SavedEnrolment: Sendable {
    /// There is no file: this installation has never enrolled. Use this only if the system reports that there is none:
    /// existing keys are then treated as left by an earlier installation, and deleted.
    case none
    /// There is or may be a file, and it cannot be read now.
    case unreadable
    /// The contents of the file.
    case text(ContiguousArray<UInt8>)
    /// The state as read before.
    case state(EnrolmentState)
}

/// The circumstances of an installation at this launch.
public struct EnrolmentCircumstances: Hashable, Sendable {
    /// The version of the app, for example its `CFBundleShortVersionString`.
    public var appVersion: AppVersion?
    /// The device token from APNs; nil while it is unknown, which changes nothing.
    public var pushToken: ContiguousArray<UInt8>?
    /// Whether the user lets the app show alerts. If not, the system never starts a service extension.
    public var alertsAreShown: Bool

    /// Creates a value from what is known.
    public init(
        appVersion: AppVersion? = nil, pushToken: ContiguousArray<UInt8>? = nil, alertsAreShown: Bool = true
    ) {
        self.appVersion = appVersion
        self.pushToken = pushToken
        self.alertsAreShown = alertsAreShown
    }
}

/// The sender to trust before any key is pinned.
public enum FirstTrust: Hashable, Sendable {
    /// Keys shipped with the app, the current one last: nothing on the network can replace them.
    ///
    /// A pin that is one of them stays, and so does one reached from them by rotation statements, or put in place by a
    /// built-in recovery key. At launch the last replaces any other, and the plan has a notice. After a theft, ship the
    /// new key without the stolen one.
    case builtIn([ProviderPublicKey])
    /// The key in the provider's first reply, with the recovery keys in it if the app has none built in: as trustworthy as
    /// the channel of this reply.
    case reply
}

/// When an installation acts even though nothing has changed.
public struct EnrolmentPolicy: Hashable, Sendable {
    /// The age at which a device key is replaced; 30 days. nil: never automatically.
    public var keyAge: Interval? = .days(30)
    /// How long a registration counts as known to the provider, which may lose data; a day.
    public var repeatAfter = Interval.days(1)
    /// How long a replaced key still opens messages under way; 31 days.
    public var grace = SQLiteKeyStore.standardGrace

    /// Creates the default policy.
    public init() {}
}

/// One account's registration with its provider: returns at each launch what to do, and does the device's part of it.
///
///     switch enrolment.reconcile(saved, in: circumstances, at: now) {
///     case .plan(let plan):
///         var work = try enrolment.begin(plan, at: now)
///         save(work.state)                                     // before anything is sent
///         if let request = work.request {
///             let reply = try RegistrationReply(json: post(request.record.json))
///             let result = try enrolment.handle(reply, to: request, state: &work.state, at: now)
///             save(work.state)
///         }
///         for device in work.state.withdrawals {
///             // Delete it at the provider.
///             work.state.removeWithdrawal(of: device)
///             save(work.state)
///         }
///     case .later(let obstacle), .blocked(let obstacle): log(obstacle)
///     }
///
/// It sends nothing itself. The channel to the provider is the app's, and must authenticate both ends. The process may
/// be killed between any two of these lines: the next launch continues from there, and loses no key that a provider
/// seals to. It generates a key only if it is certain that there is none: a store or a state that cannot be read
/// changes nothing.
///
/// Merge the changes made by messages before (`Docs/KeyRotation.md`). Several accounts share one state and one store;
/// each has its own key and device id.
public struct Enrolment<Store: DeviceKeyStore>: Sendable {
    let store: Store
    let account: String
    let sender: String
    let topic: Topic
    let firstTrust: FirstTrust
    let recoveryKeys: [RecoveryPublicKey]
    let policy: EnrolmentPolicy

    /// Creates the enrolment of one account of an app.
    ///
    /// - Parameters:
    ///   - store: The device's keys and pins, shared by all accounts.
    ///   - account: The name of its device keys, 1 to 255 bytes without control characters.
    ///   - sender: The name under which its provider's key is pinned; the same for all accounts at one provider.
    ///   - topic: The app's bundle id, to which its keys and its registration are bound.
    ///   - firstTrust: The sender to trust before any key is pinned.
    ///   - recoveryKeys: The recovery keys built into the app, at most two, which replace any others at launch. Without
    ///     any, an app with a built-in sender has none, and any other app keeps those of the first reply.
    ///   - policy: When a registration is repeated, and a key replaced.
    public init(
        store: Store, account: String = Store.defaultName, sender: String = "provider", topic: Topic,
        firstTrust: FirstTrust, recoveryKeys: [RecoveryPublicKey] = [], policy: EnrolmentPolicy = EnrolmentPolicy()
    ) {
        precondition(
            recoveryKeys.count <= RecoveryPublicKey.maximumPerSender && Set(recoveryKeys).count == recoveryKeys.count,
            "a sender has at most two different recovery keys")
        self.recoveryKeys = recoveryKeys
        self.store = store
        self.account = account
        self.sender = sender
        self.topic = topic
        self.firstTrust = firstTrust
        self.policy = policy
    }

    /// Returns what to do; changes nothing.
    ///
    /// Keys or a state that cannot be read are not an error, and no reason to generate new keys: the result is `later`
    /// for a temporary problem, `blocked` for a permanent one.
    ///
    /// - Parameters:
    ///   - saved: The app's saved state; `none` only if the system reports that there is no file.
    ///   - circumstances: The circumstances of this launch.
    ///   - now: The present time.
    public func reconcile(
        _ saved: SavedEnrolment, in circumstances: EnrolmentCircumstances, at now: Timestamp
    ) -> Reconciliation {
        do throws(KeyStoreError) {
            switch saved {
            case .none: return .plan(try planWithoutState(circumstances))
            case .unreadable: return .later(.unreadableState)
            case .state(let state): return .plan(try plan(state, circumstances, now))
            case .text(let text): return try reconcile(text, circumstances, now)
            }
        } catch {
            let obstacle = EnrolmentObstacle(error)
            return error.passes ? .later(obstacle) : .blocked(obstacle)
        }
    }

    private func reconcile(
        _ text: ContiguousArray<UInt8>, _ circumstances: EnrolmentCircumstances, _ now: Timestamp
    ) throws(KeyStoreError) -> Reconciliation {
        let state: EnrolmentState
        do throws(EnrolmentStateError) {
            state = try EnrolmentState(json: text)
        } catch {
            guard error == .damaged else { return .blocked(EnrolmentObstacle(error)) }
            // There was a state, so the keys are this installation's: they are kept.
            var plan = try plan(EnrolmentState(), circumstances, now)
            plan.notices.append(.stateDamaged)
            return .plan(plan)
        }
        return .plan(try plan(state, circumstances, now))
    }

    private func planWithoutState(_ circumstances: EnrolmentCircumstances) throws(KeyStoreError) -> EnrolmentPlan {
        var plan = EnrolmentPlan(EnrolmentState(), circumstances)
        let hasKeys = try !store.deviceKeys().isEmpty
        let hasSenders = try !store.pinnedProviders().isEmpty
        if hasKeys || hasSenders { plan.steps.append(.purgeLeftovers) }
        plan.steps.append(.register)
        plan.noticeAlerts()
        return plan
    }

    private func plan(
        _ state: EnrolmentState, _ circumstances: EnrolmentCircumstances, _ now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentPlan {
        var plan = EnrolmentPlan(state, circumstances)
        plan.steps = state.withdrawals.map(EnrolmentPlan.Step.withdraw)
        plan.noticeAlerts()

        switch try pinCorrection() {
        case .stays: break
        case .replaced(let key):
            plan.steps.append(.replaceSender(key.id))
            plan.notices.append(.providerReplaced)
        case .removed(let key):
            plan.steps.append(.removeProvider(key.id))
            plan.notices.append(.providerReplaced)
        }
        if try recoveryKeysToPin() != nil { plan.steps.append(.replaceRecoveryKeys) }
        let keys = try deviceKeys()
        let account = state.account(account)
        guard let key = keys.current else {
            plan.steps.append(account == nil ? .register : .registerAgain([.keysLost]))
            return plan
        }
        if let acknowledged = account?.acknowledged {
            if key.state == .pending && key.publicKey == acknowledged.report.publicKey {
                plan.steps.append(.confirm(key.keyID))
            }
            let mayTryPostQuantum = account?.mayTryPostQuantum(at: now) ?? true
            var reasons = try self.reasons(
                against: acknowledged, key: key, mayTryPostQuantum: mayTryPostQuantum, circumstances, now)
            if let account, account.permitsPostQuantum, mayTryPostQuantum, CipherSuite.xwing.isSupported,
                key.state == .active, key.publicKey.suite < .xwing
            {
                reasons.append(.postQuantumPermitted)
            }
            if !reasons.isEmpty { plan.steps.append(.registerAgain(reasons)) }
        } else {
            plan.steps.append(.register)
        }
        if keys.contains(where: { $0.retiresAt.map { $0 < now } ?? false }) { plan.steps.append(.purgeRetired) }
        return plan
    }

    /// Returns why the last report to the provider is no longer enough.
    private func reasons(
        against acknowledged: EnrolmentState.Acknowledgement, key: DeviceKeyRecord, mayTryPostQuantum: Bool,
        _ circumstances: EnrolmentCircumstances, _ now: Timestamp
    ) throws(KeyStoreError) -> [EnrolmentPlan.Reason] {
        let last = acknowledged.report
        let present = try report(of: key, circumstances)
        var reasons: [EnrolmentPlan.Reason] = []
        if present.publicKey != last.publicKey {
            reasons.append(.keyNotAcknowledged)
        } else if let keyAge = policy.keyAge, key.state == .active, key.createdAt.adding(keyAge) < now,
            key.publicKey.suite < .xwing || mayTryPostQuantum
        {
            reasons.append(.keyIsOld)
        }
        if present.sender != last.sender { reasons.append(.providerChanged) }
        if present.recoveryKeys != last.recoveryKeys { reasons.append(.recoveryChanged) }
        if present.token != nil && present.token != last.token { reasons.append(.tokenChanged) }
        if present.appVersion != last.appVersion { reasons.append(.appVersionChanged) }
        if present.alertsAreShown != last.alertsAreShown { reasons.append(.alertsChanged) }
        // A clock that was set back does not tell how long ago it was.
        if now < acknowledged.at || acknowledged.at.adding(policy.repeatAfter) <= now {
            reasons.append(.timePassed)
        }
        return reasons
    }

    // MARK: The present state

    /// Returns the keys of the account, oldest generation first.
    func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] {
        try store.deviceKeys().filter { $0.name.utf8.elementsEqual(account.utf8) }
    }

    /// Returns the provider's key that the device trusts now.
    func pinnedProvider() throws(KeyStoreError) -> ProviderPublicKey? {
        try store.pinnedProviders()
            .first { $0.state == .pinned && $0.name.utf8.elementsEqual(sender.utf8) }?.key
    }

    /// What becomes of the pin at this launch.
    enum PinCorrection {
        case stays
        case replaced(by: ProviderPublicKey)
        case removed(ProviderPublicKey)
    }

    /// Compares the pin with the keys that are built in.
    ///
    /// A pin stays if it is built in, or statements lead to it from a built-in key or from a recovery by a built-in
    /// recovery key. A built-in key that was superseded here is never pinned again: then the app has replaced the pin
    /// itself, or a recovery key that is not built in has.
    func pinCorrection() throws(KeyStoreError) -> PinCorrection {
        guard case .builtIn(let keys) = firstTrust, let last = keys.last, let pin = try pinnedProvider() else {
            return .stays
        }
        let trust = try store.trust(for: topic)
        let superseded = trust.superseded
        let recovery = trust.senders.first { $0.name.utf8.elementsEqual(sender.utf8) }?.lastRecovery
        let isOwn = recovery.map { recoveryKeys.contains($0.recoveryKey) } ?? false
        var origin = pin
        for _ in 0...superseded.count {
            if keys.contains(origin) || isOwn && recovery?.newKeyBytes == origin.bytes { return .stays }
            let before = superseded.first { $0.statement?.newKeyBytes == origin.bytes }
            guard let before else { break }
            origin = before.key
        }
        guard superseded.contains(where: { $0.key == last }) else { return .replaced(by: last) }
        return recovery?.newKeyBytes == origin.bytes ? .removed(pin) : .stays
    }

    /// Returns the built-in recovery keys if the sender has others; nil if they stay, or none are built in.
    ///
    /// A pin that is built in has no recovery keys from a reply, so that nobody who once controlled the channel can
    /// replace it.
    func recoveryKeysToPin() throws(KeyStoreError) -> [RecoveryPublicKey]? {
        if recoveryKeys.isEmpty, firstTrust == .reply { return nil }
        return try store.recoveryKeys(ofProvider: sender) == recoveryKeys ? nil : recoveryKeys
    }

    func report(
        of key: DeviceKeyRecord, _ circumstances: EnrolmentCircumstances
    ) throws(KeyStoreError) -> EnrolmentState.Report {
        let pin: ProviderPublicKey? =
            switch try pinCorrection() {
            case .stays: try pinnedProvider()
            case .replaced(let key): key
            case .removed: nil
            }
        let newRecoveryKeys = try recoveryKeysToPin()
        let pinnedRecoveryKeys = try store.recoveryKeys(ofProvider: sender)
        return EnrolmentState.Report(
            publicKey: key.publicKey, sender: pin,
            recoveryKeys: newRecoveryKeys ?? pinnedRecoveryKeys, appVersion: circumstances.appVersion,
            token: circumstances.pushToken.map(EnrolmentState.Report.digest),
            alertsAreShown: circumstances.alertsAreShown)
    }
}

extension [DeviceKeyRecord] {
    /// The key to register: the pending one, otherwise the active one.
    var current: DeviceKeyRecord? { last { $0.state == .pending } ?? last { $0.state == .active } }
}

extension EnrolmentPlan {
    fileprivate mutating func noticeAlerts() {
        if !circumstances.alertsAreShown { notices.append(.alertsOff) }
    }
}

extension KeyStoreError {
    /// Whether the same call may succeed later without anyone's action.
    fileprivate var passes: Bool {
        code == .storeLocked || code == .storeBusy || code == .diskFull || code == .inputOutput
    }
}

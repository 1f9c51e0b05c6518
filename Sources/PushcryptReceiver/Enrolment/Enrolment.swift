public import Pushcrypt
public import PushcryptKeyStore

/// An app's saved enrolment state.
package enum SavedEnrolment: Sendable {
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
package struct EnrolmentCircumstances: Hashable, Sendable {
    /// The version of the app, for example its `CFBundleShortVersionString`.
    package var appVersion: AppVersion?
    /// The device token from APNs; nil while it is unknown, which changes nothing.
    package var pushToken: ContiguousArray<UInt8>?
    /// Where the token is valid: `development` for an app that Xcode has signed for this.
    package var environment: PushEnvironment?
    /// What permits the provider to push through a relay, 1 to 1,024 characters of base64url; nil without one.
    package var grant: String?
    /// Whether the user lets the app show alerts. If not, the system never starts a service extension.
    package var alertsAreShown: Bool

    /// Creates a value from what is known.
    package init(
        appVersion: AppVersion? = nil, pushToken: ContiguousArray<UInt8>? = nil, environment: PushEnvironment? = nil,
        grant: String? = nil, alertsAreShown: Bool = true
    ) {
        self.appVersion = appVersion
        self.pushToken = pushToken
        self.environment = environment
        self.grant = grant
        self.alertsAreShown = alertsAreShown
    }
}

/// The provider keys that an account trusts first.
public enum FirstTrust: Hashable, Sendable {
    /// Keys shipped with the app, one or two, each with its certificate if it has one: nothing on the network can replace
    /// them. The phone reports the first.
    ///
    /// At launch they take the place of all others, and the plan has a notice if one of those came in a reply. To change
    /// the provider key, ship the new one and the old one first; after a theft, ship the new one alone.
    case builtIn([ProviderPin])
    /// The key in the provider's first reply: as trustworthy as the channel of this reply.
    case firstReply

    /// One key shipped with the app, with its certificate if it has one: what `pushcrypt key show --json` says.
    public static func provider(_ key: ProviderPublicKey, certificate: Certificate? = nil) -> FirstTrust {
        .builtIn([ProviderPin(key, certificate: certificate)])
    }
}

/// When an installation acts even though nothing has changed.
package struct EnrolmentPolicy: Hashable, Sendable {
    /// The age at which a device key is replaced; 30 days. nil: never automatically.
    package var keyAge: Interval? = .days(30)
    /// How long a registration counts as known to the provider, which may lose data; a day.
    package var repeatAfter = Interval.days(1)
    /// How long a replaced key still opens messages under way; 31 days.
    package var grace = SQLiteKeyStore.standardGrace

    /// Creates the default policy.
    package init() {}
}

/// One account's registration with its provider: returns at each launch what to do, and does the device's part of it.
///
///     switch enrolment.reconcile(saved, in: circumstances, at: now) {
///     case .plan(let plan):
///         var work = try enrolment.begin(plan, at: now)
///         save(work.state)                                     // before anything is sent
///         if let request = work.request {
///             let reply = try RegistrationReply(json: post(request.signed.body))
///             let result = try enrolment.handle(reply, to: request, state: &work.state, at: now)
///             save(work.state)
///         }
///         for end in work.state.ends {
///             post(end.record.body)
///             work.state.removeEnd(of: end.device)
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
/// Merge what messages have taught the extension before (`Docs/KeyRotation.md`). Several accounts share one state and one
/// store; each has its own key, device id and pins, so a provider that one account trusts cannot sign for another.
package struct Enrolment<Store: DeviceKeyStore>: Sendable {
    let store: Store
    let account: String
    let topic: Topic
    let firstTrust: FirstTrust
    let policy: EnrolmentPolicy

    /// Creates the enrolment of one account of an app.
    ///
    /// - Parameters:
    ///   - store: The device's keys and pins, shared by all accounts.
    ///   - account: The name of its device keys and pins, 1 to 255 bytes without control and invisible characters.
    ///   - topic: The app's bundle id, to which its keys and its registration are bound.
    ///   - firstTrust: The provider keys that the account trusts first.
    ///   - policy: When a registration is repeated, and a key replaced.
    package init(
        store: Store, account: String = Store.defaultName, topic: Topic, firstTrust: FirstTrust,
        policy: EnrolmentPolicy = EnrolmentPolicy()
    ) {
        if case .builtIn(let pins) = firstTrust {
            precondition(
                (1...2).contains(pins.count) && Set(pins.map(\.key)).count == pins.count,
                "an app builds in one or two different provider keys")
        }
        self.store = store
        self.account = account
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
    package func reconcile(
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
            return Reconciliation(error)
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
        let hasPins = try !store.pinnedProviders().isEmpty
        if hasKeys || hasPins { plan.steps.append(.purgeLeftovers) }
        if case .builtIn(let pins) = firstTrust { plan.steps.append(.pin(pins.map(\.key.id))) }
        plan.steps.append(.register)
        plan.noticeAlerts()
        return plan
    }

    private func plan(
        _ state: EnrolmentState, _ circumstances: EnrolmentCircumstances, _ now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentPlan {
        var plan = EnrolmentPlan(state, circumstances)
        plan.steps = state.ends.map { .end(device: $0.device) }
        plan.noticeAlerts()

        try plan.pin(firstTrust, insteadOf: trust(), replied: repliedKeys())
        let keys = try deviceKeys()
        let account = state.account(account)
        guard let key = keys.current else {
            plan.steps.append(account == nil ? .register : .registerAgain([.keysLost]))
            return plan
        }
        if let acknowledged = account?.acknowledged {
            if acknowledged.at != nil, key.state == .pending, key.publicKey == acknowledged.report.publicKey {
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
        if present.provider != last.provider { reasons.append(.providerChanged) }
        if present.token != nil && (present.token, present.environment) != (last.token, last.environment) {
            reasons.append(.tokenChanged)
        }
        if present.grant != last.grant { reasons.append(.grantChanged) }
        if present.appVersion != last.appVersion { reasons.append(.appVersionChanged) }
        if present.alertsAreShown != last.alertsAreShown { reasons.append(.alertsChanged) }
        // A clock that was set back does not tell how long ago it was.
        guard let at = acknowledged.at, at <= now, now < at.adding(policy.repeatAfter) else {
            return reasons + [.timePassed]
        }
        return reasons
    }

    /// Whether the account may pair with the server of a code: it trusts no other provider key than that of the code. [P-8]
    package func mayPair(with code: PairingCode) throws(KeyStoreError) -> Bool {
        let pins = if case .builtIn(let pins) = firstTrust { pins.map(\.key) } else { try trust().pinned }
        return pins.isEmpty || pins.contains { PairingCode.fingerprint(of: $0) == code.fingerprint }
    }

    // MARK: The present state

    /// Returns the keys of the account, oldest generation first.
    package func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] {
        try store.deviceKeys().filter { $0.name.utf8.elementsEqual(account.utf8) }
    }

    /// Returns the key that the account registers; nil if it has none.
    package func currentKey() throws(KeyStoreError) -> DeviceKeyRecord? { try deviceKeys().current }

    /// Returns what the account trusts now.
    package func trust() throws(KeyStoreError) -> ProviderTrust {
        do throws(KeyStoreError) {
            return try store.trust(for: topic, account: account)
        } catch {
            // Before the first key, and on a phone that was restored from a backup, the Keychain has no items.
            guard error.code == .storeMissing else { throw error }
            return ProviderTrust(pinned: [])
        }
    }

    /// Returns the account's pins that came in a reply.
    private func repliedKeys() throws(KeyStoreError) -> [ProviderPublicKey] {
        try store.pinnedProviders()
            .filter { $0.origin == .reply && $0.account.utf8.elementsEqual(account.utf8) }.map(\.key)
    }

    /// Returns what there is to report; the provider's key is that after the plan's steps.
    func report(
        of key: DeviceKeyRecord, _ circumstances: EnrolmentCircumstances
    ) throws(KeyStoreError) -> EnrolmentState.Report {
        let provider = if case .builtIn(let pins) = firstTrust { pins.first?.key } else { try trust().pins.first?.key }
        return EnrolmentState.Report(
            publicKey: key.publicKey, provider: provider, appVersion: circumstances.appVersion,
            token: circumstances.token.map(EnrolmentState.Report.digest(of:)), environment: circumstances.environment,
            grant: circumstances.validGrant.map { EnrolmentState.Report.digest(of: ContiguousArray($0.utf8)) },
            alertsAreShown: circumstances.alertsAreShown)
    }
}

extension EnrolmentCircumstances {
    /// The token, if a record can have it: a provider would refuse the whole record.
    var token: ContiguousArray<UInt8>? { pushToken.flatMap { (1...100).contains($0.count) ? $0 : nil } }

    /// The grant, if a record can have it.
    var validGrant: String? { grant.flatMap { DeviceRegistration.isGrant($0) ? $0 : nil } }
}

extension [DeviceKeyRecord] {
    /// The key to register: the pending one, otherwise the active one.
    var current: DeviceKeyRecord? { last { $0.state == .pending } ?? last { $0.state == .active } }
}

extension EnrolmentPlan {
    fileprivate mutating func noticeAlerts() {
        if !circumstances.alertsAreShown { notices.append(.alertsOff) }
    }

    /// Adds what makes the built-in keys the account's pins, if they are not, and its certificates known.
    fileprivate mutating func pin(
        _ firstTrust: FirstTrust, insteadOf present: ProviderTrust, replied: [ProviderPublicKey]
    ) {
        guard case .builtIn(let pins) = firstTrust else { return }
        let keys = pins.map(\.key)
        var (isNews, isConflict) = (false, false)
        for pin in pins {
            guard let certificate = pin.certificate,
                let known = present.pins.first(where: { $0.key == pin.key })?.learned
            else { continue }
            let (learned, change) = known.learning(certificate)
            if learned != known { isNews = true }
            if change == .conflict { isConflict = true }
        }
        if Set(keys) != Set(present.pins.map(\.key)) || isNews {
            steps.append(.pin(keys.map(\.id)))
        }
        if !replied.allSatisfy(keys.contains) { notices.append(.providerReplaced) }
        if isConflict { notices.append(.certificateConflict) }
    }
}

extension Reconciliation {
    /// Creates the answer to an error of the store: `later` if the same call may succeed without anyone's action.
    package init(_ error: KeyStoreError) {
        let passes = [.storeLocked, .storeBusy, .diskFull, .inputOutput].contains(error.code)
        self = passes ? .later(EnrolmentObstacle(error)) : .blocked(EnrolmentObstacle(error))
    }
}

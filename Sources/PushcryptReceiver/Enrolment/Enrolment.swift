public import Pushcrypt
public import PushcryptKeyStore

/// One account's registration with its provider: says at each launch what is to be done, and does it as far as it
/// concerns the device.
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
///         for device in work.state.withdrawals { … delete it at the provider; work.state.removeWithdrawal(of: device); save(…) }
///     case .later(let obstacle), .blocked(let obstacle): log(obstacle)
///     }
///
/// It sends nothing itself. The channel to the provider is the app's, and has to authenticate both ends. A process may be
/// killed between any two of these lines: the next launch goes on from there, and loses no key that a provider seals to. It
/// makes a key only when it knows that there is none: a store or a state that cannot be read changes nothing.
///
/// What messages have changed is folded in before (`Docs/KeyRotation.md`). Several accounts share one state and one store;
/// each has a key and a device id of its own.
public struct Enrolment<Store: DeviceKeyStore>: Sendable {
    let store: Store
    let account: String
    let sender: String
    let topic: Topic
    let firstTrust: FirstTrust
    let policy: EnrolmentPolicy

    /// Takes one account of an app.
    ///
    /// - Parameters:
    ///   - store: the device's keys and pins, shared by all accounts.
    ///   - account: the name of its device keys, 1 to 255 bytes without control characters.
    ///   - sender: the name under which its provider's key is pinned; the same for all accounts at one provider.
    ///   - topic: the app's bundle id, to which its keys and its registration are bound.
    ///   - firstTrust: whom to believe before any key is pinned.
    ///   - policy: when a registration is repeated, and a key replaced.
    public init(
        store: Store, account: String = Store.defaultName, sender: String = "provider", topic: Topic,
        firstTrust: FirstTrust, policy: EnrolmentPolicy = EnrolmentPolicy()
    ) {
        self.store = store
        self.account = account
        self.sender = sender
        self.topic = topic
        self.firstTrust = firstTrust
        self.policy = policy
    }

    /// Says what is to be done; changes nothing.
    ///
    /// Keys or a state that cannot be read are no error and no reason to make others: the answer is `later` for what passes
    /// by itself, `blocked` for what does not.
    ///
    /// - Parameters:
    ///   - saved: what the app has saved of its enrolments; `none` only when the system says that there is no file.
    ///   - circumstances: what this launch is like.
    ///   - now: the present time.
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
        let hasSenders = try !store.trustedSenders().isEmpty
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
            let reasons = try self.reasons(against: acknowledged, key: key, circumstances, now)
            if !reasons.isEmpty { plan.steps.append(.registerAgain(reasons)) }
        } else {
            plan.steps.append(.register)
        }
        if keys.contains(where: { $0.retiresAt.map { $0 < now } ?? false }) { plan.steps.append(.purgeRetired) }
        return plan
    }

    /// Why what the provider was told last is not enough.
    private func reasons(
        against acknowledged: EnrolmentState.Acknowledgement, key: DeviceKeyRecord,
        _ circumstances: EnrolmentCircumstances, _ now: Timestamp
    ) throws(KeyStoreError) -> [EnrolmentPlan.Reason] {
        let last = acknowledged.report
        let present = try report(of: key, circumstances)
        var reasons: [EnrolmentPlan.Reason] = []
        if present.publicKey != last.publicKey {
            reasons.append(.keyNotAcknowledged)
        } else if let keyAge = policy.keyAge, key.state == .active, key.createdAt.adding(keyAge) < now {
            reasons.append(.keyIsOld)
        }
        if present.sender != last.sender { reasons.append(.senderChanged) }
        if present.token != nil && present.token != last.token { reasons.append(.tokenChanged) }
        if present.appVersion != last.appVersion { reasons.append(.appVersionChanged) }
        if present.alertsAreShown != last.alertsAreShown { reasons.append(.alertsChanged) }
        // A clock that was set back says nothing about how long ago it was.
        if now < acknowledged.at || acknowledged.at.adding(policy.repeatAfter) <= now {
            reasons.append(.timePassed)
        }
        return reasons
    }

    // MARK: What there is

    /// The keys of the account, oldest generation first.
    func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] {
        try store.deviceKeys().filter { $0.name.utf8.elementsEqual(account.utf8) }
    }

    /// What the device believes of its provider now.
    func pinnedSender() throws(KeyStoreError) -> SenderPublicKey? {
        try store.trustedSenders()
            .first { $0.state == .pinned && $0.name.utf8.elementsEqual(sender.utf8) }?.key
    }

    func report(
        of key: DeviceKeyRecord, _ circumstances: EnrolmentCircumstances
    ) throws(KeyStoreError) -> EnrolmentState.Report {
        EnrolmentState.Report(
            publicKey: key.publicKey, sender: try pinnedSender(), appVersion: circumstances.appVersion,
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
    /// Whether the same call may succeed without anybody doing anything.
    fileprivate var passes: Bool {
        code == .storeLocked || code == .storeBusy || code == .diskFull || code == .inputOutput
    }
}

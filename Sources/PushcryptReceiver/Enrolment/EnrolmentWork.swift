public import Pushcrypt
public import PushcryptKeyStore

/// The result of the device's part of a plan, and the rest for the app.
public struct EnrolmentWork: Sendable {
    /// The state, to be saved before anything is sent, and after every change. Its `withdrawals` are for the provider.
    public var state: EnrolmentState
    /// The registration to send; nil if the provider knows everything.
    public let request: EnrolmentRequest?
}

/// A registration on its way to the provider.
public struct EnrolmentRequest: Sendable {
    /// The registration of the key; the push token is sent beside it.
    public let record: DeviceRegistration
    let report: EnrolmentState.Report
}

/// The result of a provider's reply.
public struct EnrolmentResult: Hashable, Sendable {
    /// The result for the device key.
    public enum Key: Hashable, Sendable {
        /// The provider seals to the key that was sent.
        case acknowledged
        /// The reply is about another key than the account has now, or the account has logged out: nothing has changed.
        case anotherKey
        /// The provider has refused the registration. After `unsupportedSuite` a pending post-quantum key retires, the
        /// active key stays, and another is tried after 30 days. After `generationRollback`, `generationTooHigh`,
        /// `suiteDowngrade`, `userMismatch` and `keyTaken`, and after `unsupportedSuite` for an account's first key, the
        /// account's keys are deleted, and the next reconciliation registers a new key under a new device id.
        case refused(RegistrationReply.Refusal)
    }

    /// The result for the sender key in the reply.
    public enum Sender: Hashable, Sendable {
        /// The reply names none, or was not evaluated.
        case none
        /// The device already trusts it.
        case trusted
        /// It is the first one, and is now pinned.
        case pinned
        /// The device trusts another one, or only a built-in one; nothing has changed. A provider that has rotated its
        /// key proves that in its messages; after a theft the app decides, with `pinProvider(_:named:replace:at:)`.
        case notAccepted(ProviderPublicKey)
    }

    /// The result for the device key.
    public let key: Key
    /// The result for the sender key.
    public let sender: Sender
    /// The members of the record, `sender` or `recovery`, that name a key the provider never had: somebody else enrolled
    /// the device, or has replaced the provider's key. Nothing has changed; the app decides, with
    /// `pinProvider(_:named:replace:at:)`.
    public let foreign: [RegistrationReply.ForeignMember]

    init(key: Key, sender: Sender, foreign: [RegistrationReply.ForeignMember] = []) {
        self.key = key
        self.sender = sender
        self.foreign = foreign
    }
}

extension Enrolment {
    /// Does the device's part of a plan, and returns the rest for the app. A plan without steps changes nothing.
    ///
    /// Every key it generates is durable when it returns. Calling it twice generates no second key.
    ///
    /// - Throws: `invalidName` for an invalid account or sender name; errors of the store. Save nothing then; the next
    ///   launch continues.
    public func begin(_ plan: EnrolmentPlan, at now: Timestamp) throws(KeyStoreError) -> EnrolmentWork {
        var state = plan.state
        var request: EnrolmentRequest?
        for step in plan.steps {
            switch step {
            case .purgeLeftovers: try store.purgeEverything()
            // The app tells the provider.
            case .withdraw: break
            case .replaceSender, .removeProvider: try correctPin(now)
            case .replaceRecoveryKeys: try replaceRecoveryKeys()
            case .confirm(let key): try confirm(key, now)
            case .register: request = try register([], plan, &state, now)
            case .registerAgain(let reasons): request = try register(reasons, plan, &state, now)
            case .purgeRetired: _ = try store.purgeRetiredDeviceKeys(named: account, at: now)
            }
        }
        return EnrolmentWork(state: state, request: request)
    }

    /// Handles the provider's reply to a request; save the state afterwards, even if this throws.
    ///
    /// A reply that is late, repeated or about another key confirms nothing and pins nothing. An existing pin is never
    /// replaced.
    ///
    /// - Throws: Errors of the store. The next launch confirms what the state has by then, and otherwise requests
    ///   another reply.
    public func handle(
        _ reply: RegistrationReply, to request: EnrolmentRequest, state: inout EnrolmentState, at now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentResult {
        // Logged out or enrolled again meanwhile: the reply no longer concerns anything.
        guard let device = state.account(account)?.device, device == request.record.deviceID else {
            return EnrolmentResult(key: .anotherKey, sender: .none)
        }
        switch reply.verdict {
        case .refused(let refusal):
            // A late refusal must not delete a key that was made, and perhaps acknowledged, since.
            guard try deviceKeys().current?.publicKey == request.record.publicKey else {
                return EnrolmentResult(key: .anotherKey, sender: .none)
            }
            if refusal == .unsupportedSuite, request.record.publicKey.suite == .xwing {
                try refusePostQuantum(request.record.publicKey, &state, now)
            } else {
                try startAgain(after: refusal, &state)
            }
            return EnrolmentResult(key: .refused(refusal), sender: .none)
        case .acknowledged(let key):
            guard key == request.record.publicKey else { return EnrolmentResult(key: .anotherKey, sender: .none) }
            // First, because no further reply is requested once the key is acknowledged.
            let sender = try take(reply.sender, reply.recoveryKeys, now)
            state.acknowledge(request.report, suites: reply.suites, by: account, at: now)
            try confirm(key.id, now)
            return EnrolmentResult(key: .acknowledged, sender: sender, foreign: reply.foreign)
        }
    }

    /// Logs the account out: deletes its keys at once, and records that the provider should forget its device.
    ///
    /// The keys are deleted whatever the state. The provider's pin stays: it belongs to the provider and not to the
    /// account. If this throws, repeat it until it succeeds.
    ///
    /// - Returns: The state to save, whose `withdrawals` are for the provider; nil if there is none, or none that this
    ///   version may overwrite: then the provider is not told.
    /// - Throws: Errors of the store; the state is unchanged then.
    public func logOut(_ saved: SavedEnrolment) throws(KeyStoreError) -> EnrolmentState? {
        _ = try store.purgeDeviceKeys(named: account)
        guard var state = saved.writable else { return nil }
        state.remove(account, withdrawing: true)
        return state
    }

    // MARK: Steps

    private func register(
        _ reasons: [EnrolmentPlan.Reason], _ plan: EnrolmentPlan, _ state: inout EnrolmentState, _ now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentRequest {
        // The phone that was backed up may still use this id, so it is not withdrawn.
        if reasons.contains(.keysLost) { state.remove(account, withdrawing: false, changesOver: false) }
        let device = state.deviceID(of: account)
        let key = try key(
            isTooOld: reasons.contains(.keyIsOld), changesOver: reasons.contains(.postQuantumPermitted), state, now)
        // First, so that no pin lacks them.
        try replaceRecoveryKeys()
        try pinBuiltInProvider(now)
        let report = try report(of: key, plan.circumstances)
        let record = DeviceRegistration(
            deviceID: device, publicKey: key.publicKey, topic: topic, generation: key.generation,
            createdAt: key.createdAt, pinnedProvider: report.sender, recoveryKeys: report.recoveryKeys,
            appVersion: report.appVersion)
        return EnrolmentRequest(record: record, report: report)
    }

    /// Returns the key to register; generates one if there is none.
    private func key(
        isTooOld: Bool, changesOver: Bool, _ state: EnrolmentState, _ now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        let keys = try deviceKeys()
        guard !keys.isEmpty else {
            let saved = state.account(account)
            let isPostQuantum = saved.map { $0.isPostQuantum && $0.mayTryPostQuantum(at: now) } ?? false
            return try store.generateDeviceKey(
                named: account, topic: topic, suite: isPostQuantum && CipherSuite.xwing.isSupported ? .xwing : .x25519,
                at: now)
        }
        if let key = keys.current, !isTooOld, !changesOver { return key }
        return try store.rotateDeviceKey(named: account, suite: changesOver ? .xwing : nil, at: now)
    }

    /// Retires a pending key that the provider cannot seal to. [D-25]
    private func refusePostQuantum(
        _ key: DevicePublicKey, _ state: inout EnrolmentState, _ now: Timestamp
    ) throws(KeyStoreError) {
        state.refusePostQuantum(by: account, at: now)
        // It opens, and its generation is taken, until then: another server may have it.
        let grace = max(policy.grace, .days(31))
        let wasPending = try store.retirePendingDeviceKey(key, named: account, grace: grace, at: now)
        // An account that began with it has no other; what was acknowledged once stays.
        guard !wasPending, state.account(account)?.acknowledged == nil else { return }
        try startAgain(withdrawing: true, changesOver: true, &state)
    }

    /// Gives up the device id and its keys, which the provider refuses permanently. [D-21]
    private func startAgain(
        after refusal: RegistrationReply.Refusal, _ state: inout EnrolmentState
    ) throws(KeyStoreError) {
        let isOwn: Bool
        switch refusal {
        // This phone itself used the id before a backup was restored, or made keys too fast: restored keys stay on
        // their phone. So nobody else loses the id.
        case .generationRollback, .generationTooHigh, .suiteDowngrade: isOwn = true
        // At the provider the id or key is somebody else's, who must not lose it.
        case .userMismatch, .keyTaken: isOwn = false
        default: return
        }
        // The refusal may tell that the id had a key of suite 2 before the backup.
        let suites = try deviceKeys().map(\.publicKey.suite)
        try startAgain(
            withdrawing: isOwn, changesOver: refusal == .suiteDowngrade || suites.contains(.xwing), &state)
    }

    private func startAgain(
        withdrawing: Bool, changesOver: Bool, _ state: inout EnrolmentState
    ) throws(KeyStoreError) {
        _ = try store.purgeDeviceKeys(named: account)
        state.remove(account, withdrawing: withdrawing, changesOver: changesOver)
    }

    private func confirm(_ key: KeyID, _ now: Timestamp) throws(KeyStoreError) {
        _ = try store.confirmDeviceKey(named: account, acknowledged: key, grace: policy.grace, at: now)
    }

    private func pinBuiltInProvider(_ now: Timestamp) throws(KeyStoreError) {
        guard case .builtIn(let keys) = firstTrust, let key = keys.last else { return }
        _ = try pinFirst(key, [], now)
    }

    private func replaceRecoveryKeys() throws(KeyStoreError) {
        guard let keys = try recoveryKeysToPin() else { return }
        try store.setRecoveryKeys(keys, ofProvider: sender)
    }

    private func correctPin(_ now: Timestamp) throws(KeyStoreError) {
        switch try pinCorrection() {
        case .stays: break
        case .replaced(let key): try store.pinProvider(key, named: sender, topic: topic, replace: true, at: now)
        case .removed: try store.unpinProvider(named: sender)
        }
    }

    private func take(
        _ key: ProviderPublicKey?, _ recoveryKeys: [RecoveryPublicKey], _ now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentResult.Sender {
        guard let key else { return .none }
        if try pinnedProvider() == key { return .trusted }
        guard firstTrust == .reply, try pinFirst(key, self.recoveryKeys.isEmpty ? recoveryKeys : [], now) else {
            return .notAccepted(key)
        }
        return .pinned
    }

    /// Pins a key if none is pinned, with the recovery keys that came with it; returns whether it did. A superseded key
    /// stays superseded.
    private func pinFirst(
        _ key: ProviderPublicKey, _ recoveryKeys: [RecoveryPublicKey], _ now: Timestamp
    ) throws(KeyStoreError) -> Bool {
        guard try pinnedProvider() == nil else { return false }
        do throws(KeyStoreError) {
            try store.pinFirstProvider(key, recoveryKeys: recoveryKeys, named: sender, topic: topic, at: now)
            return true
        } catch {
            guard error.code == .senderSuperseded || error.code == .providerAlreadyPinned else { throw error }
            return false
        }
    }
}

extension SavedEnrolment {
    /// The state; an empty one instead of a damaged one.
    fileprivate var writable: EnrolmentState? {
        switch self {
        case .none, .unreadable: return nil
        case .state(let state): return state
        case .text(let text):
            do throws(EnrolmentStateError) {
                return try EnrolmentState(json: text)
            } catch {
                return error == .damaged ? EnrolmentState() : nil
            }
        }
    }
}

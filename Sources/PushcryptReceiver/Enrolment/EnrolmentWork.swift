public import Pushcrypt
public import PushcryptKeyStore

/// What the device's part of a plan has come to, and what is left for the app.
public struct EnrolmentWork: Sendable {
    /// To be saved before anything is sent, and after every change. Its `withdrawals` are for the provider.
    public var state: EnrolmentState
    /// What to send; nil when the provider knows everything.
    public let request: EnrolmentRequest?
}

/// A registration on its way to the provider.
public struct EnrolmentRequest: Sendable {
    /// What the provider is told about the key; the push token goes beside it.
    public let record: DeviceRegistration
    let report: EnrolmentState.Report
}

/// What a reply has come to.
public struct EnrolmentResult: Hashable, Sendable {
    /// What became of the key.
    public enum Key: Hashable, Sendable {
        /// The provider seals to the key that was sent.
        case acknowledged
        /// The reply is about another key, or the account has logged out: nothing has changed.
        case anotherKey
        /// The provider has not taken the record. After `generationRollback` the account has a new device id, and
        /// reconciling again registers under it.
        case refused(RegistrationReply.Refusal)
    }

    /// What became of the sender's key in the reply.
    public enum Sender: Hashable, Sendable {
        /// The reply names none, or was not looked at.
        case none
        /// It is the one that the device believes.
        case believed
        /// It is the first, and believed from now on.
        case pinned
        /// The device believes another one, or only one that is built in; nothing has changed. A provider that has rotated
        /// its key proves that in its messages; after a theft the app decides, with `trustSender(replace:)`.
        case notTaken(SenderPublicKey)
    }

    /// What became of the key.
    public let key: Key
    /// What became of the sender's key.
    public let sender: Sender
}

extension Enrolment {
    /// Does what a plan asks of the device, and says what is left for the app. A plan without steps changes nothing.
    ///
    /// Every key it makes is durable when it returns. Called twice, it makes no second one.
    ///
    /// - Throws: `invalidName` for an account or a sender that cannot be called so; what a store throws. Then nothing
    ///   is saved, and the next launch goes on.
    public func begin(_ plan: EnrolmentPlan, at now: Timestamp) throws(KeyStoreError) -> EnrolmentWork {
        var state = plan.state
        var request: EnrolmentRequest?
        for step in plan.steps {
            switch step {
            case .purgeLeftovers: try store.purgeEverything()
            // The provider is told by the app.
            case .withdraw: break
            case .confirm(let key): try confirm(key, now)
            case .register: request = try register([], plan, &state, now)
            case .registerAgain(let reasons): request = try register(reasons, plan, &state, now)
            case .purgeRetired: _ = try store.purgeRetiredDeviceKeys(named: account, at: now)
            }
        }
        return EnrolmentWork(state: state, request: request)
    }

    /// Takes in the provider's reply to a request; the state is to be saved afterwards, also when this throws.
    ///
    /// A reply that is late, repeated or about another key confirms nothing and pins nothing. A pin that exists is never
    /// replaced.
    ///
    /// - Throws: what a store throws. The next launch confirms what is in the state by then, and otherwise asks for another
    ///   reply.
    public func handle(
        _ reply: RegistrationReply, to request: EnrolmentRequest, state: inout EnrolmentState, at now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentResult {
        // Logged out meanwhile, or enrolled anew: the reply is to nobody.
        guard let device = state.account(account)?.device, device == request.record.deviceID else {
            return EnrolmentResult(key: .anotherKey, sender: .none)
        }
        switch reply.verdict {
        case .refused(let refusal):
            // This phone itself went on under this id before a backup was restored: keys that the backup brings back
            // stay with their phone. So nobody else loses the id.
            if refusal == .generationRollback { state.remove(account, withdrawing: true) }
            return EnrolmentResult(key: .refused(refusal), sender: .none)
        case .acknowledged(let key):
            guard key == request.record.publicKey else { return EnrolmentResult(key: .anotherKey, sender: .none) }
            // First, because nothing asks for a reply again once its key is acknowledged.
            let sender = try take(reply.sender, now)
            state.acknowledge(request.report, by: account, at: now)
            try confirm(key.id, now)
            return EnrolmentResult(key: .acknowledged, sender: sender)
        }
    }

    /// Logs the account out: deletes its keys at once, and notes that the provider should forget its device.
    ///
    /// The keys go whatever the state is like. The provider's pin stays: it belongs to the provider and not to the account.
    /// Can be repeated, and has to be until it returns.
    ///
    /// - Returns: the state to save, with what the provider is to be told in `withdrawals`; nil when there is none, or none
    ///   that this version may write over: the provider then hears nothing.
    /// - Throws: what a store throws; the state is as it was then.
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
        // The phone that the backup was made of may live on under its id, which is therefore not withdrawn.
        if reasons.contains(.keysLost) { state.remove(account, withdrawing: false) }
        let key = try key(isTooOld: reasons.contains(.keyIsOld), now)
        try pinBuiltInSender(now)
        let report = try report(of: key, plan.circumstances)
        let record = DeviceRegistration(
            deviceID: state.deviceID(of: account), publicKey: key.publicKey, topic: topic, generation: key.generation,
            createdAt: key.createdAt, pinnedSender: report.sender, appVersion: report.appVersion)
        return EnrolmentRequest(record: record, report: report)
    }

    /// The key to register, which is made when there is none.
    private func key(isTooOld: Bool, _ now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        let keys = try deviceKeys()
        guard !keys.isEmpty else { return try store.generateDeviceKey(named: account, topic: topic, at: now) }
        if let key = keys.current, !isTooOld { return key }
        return try store.rotateDeviceKey(named: account, at: now)
    }

    private func confirm(_ key: KeyID, _ now: Timestamp) throws(KeyStoreError) {
        _ = try store.confirmDeviceKey(named: account, acknowledged: key, grace: policy.grace, at: now)
    }

    private func pinBuiltInSender(_ now: Timestamp) throws(KeyStoreError) {
        guard case .builtIn(let key) = firstTrust else { return }
        _ = try pinFirst(key, now)
    }

    private func take(_ key: SenderPublicKey?, _ now: Timestamp) throws(KeyStoreError) -> EnrolmentResult.Sender {
        guard let key else { return .none }
        if try pinnedSender() == key { return .believed }
        guard firstTrust == .reply, try pinFirst(key, now) else { return .notTaken(key) }
        return .pinned
    }

    /// Pins a key where none is pinned; tells whether it did. A key that was superseded here stays so.
    private func pinFirst(_ key: SenderPublicKey, _ now: Timestamp) throws(KeyStoreError) -> Bool {
        guard try pinnedSender() == nil else { return false }
        do throws(KeyStoreError) {
            try store.trustSender(key, named: sender, topic: topic, replace: false, at: now)
            return true
        } catch {
            guard error.code == .senderSuperseded || error.code == .senderAlreadyTrusted else { throw error }
            return false
        }
    }
}

extension SavedEnrolment {
    /// The state, or an empty one in the place of a damaged one.
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

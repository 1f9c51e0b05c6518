package import Pushcrypt
package import PushcryptKeyStore

/// The result of the device's part of a plan, and the rest for the app.
package struct EnrolmentWork: Sendable {
    /// The state, to be saved before anything is sent, and after every change. Its `ends` are for the provider.
    package var state: EnrolmentState
    /// The registration to send; nil if the provider knows everything.
    package let request: EnrolmentRequest?
}

/// A registration on its way to the provider.
package struct EnrolmentRequest: Sendable {
    /// The registration of the key.
    package let record: DeviceRegistration
    /// The record as the phone signs it: for the account's session, or for the address of a paired account.
    package let signed: SignedRecord
    /// The address of the code that carries it: then it is a new device's, even if the account was paired before.
    package var pairingAddress: String?
    let report: EnrolmentState.Report
    let updateKey: SigningKey
}

/// The result of a provider's reply.
package struct EnrolmentResult: Hashable, Sendable, CustomStringConvertible {
    /// The result for the device key.
    package enum Key: Hashable, Sendable {
        /// The provider seals to the key that was sent.
        case acknowledged
        /// The reply is about another key than the account has now, or the account has logged out: nothing has changed.
        case anotherKey
        /// The provider has refused the registration. After `unsupportedSuite` a pending post-quantum key retires, the
        /// active key stays, and another is tried after 30 days; if it is the active one, a key of suite 1 follows. After
        /// `generationRollback`, `generationTooHigh`, `suiteDowngrade`, `userMismatch` and `keyTaken` the account's keys are
        /// deleted, and the next reconciliation registers a new key under a new device id; a paired account keeps its id and
        /// keys, and makes another key. After `staleRecord` the next record is later.
        case refused(RegistrationReply.Refusal)
    }

    /// The result for the provider key in the reply.
    package enum Provider: Hashable, Sendable {
        /// The reply names none, or was not evaluated.
        case none
        /// The account already trusts it.
        case trusted
        /// It is the first one, and is now pinned.
        case pinned
        /// The account trusts another one, or only a built-in one; nothing has changed. A provider that has replaced its
        /// signing key proves that with a certificate; another provider key comes with a release of the app.
        case notAccepted(ProviderPublicKey)
    }

    /// The result for the device key.
    package let key: Key
    /// The result for the provider key.
    package let provider: Provider
    /// The result for the certificate in the reply; nil if there is none. After a failure nothing has changed; a conflict
    /// shows that the provider key may be stolen.
    package let certificate: Result<ProviderTrust.Change, TrustError>?
    /// The members of the record that name a key the provider never had: somebody else enrolled the device. Nothing has
    /// changed; the app decides, for example by removing the account.
    package let foreign: [RegistrationReply.ForeignMember]
    /// Whether only another pairing, or another enrolment, brings the account back.
    package let needsPairing: Bool

    init(
        key: Key, provider: Provider = .none, certificate: Result<ProviderTrust.Change, TrustError>? = nil,
        foreign: [RegistrationReply.ForeignMember] = [], needsPairing: Bool = false
    ) {
        self.key = key
        self.provider = provider
        self.certificate = certificate
        self.foreign = foreign
        self.needsPairing = needsPairing
    }

    /// A description for the developer's log: the result for the device key, then what the app should hear of, for example
    /// `acknowledged, foreign-provider`.
    package var description: String { (["\(key)"] + notices).joined(separator: ", ") }

    /// What the app should hear of, as codes.
    package var notices: [String] {
        var words: [String] = []
        switch certificate {
        case .success(.conflict): words.append("certificate-conflict")
        case .failure(let error): words.append(error.code.description)
        case .success, nil: break
        }
        if needsPairing { words.append(EnrolmentPlan.Notice.pairAgain.description) }
        return words + foreign.map { "foreign-\($0)" }
    }
}

extension Enrolment {
    /// Does the device's part of a plan, and returns the rest for the app. A plan without steps changes nothing.
    ///
    /// Every key it generates is durable when it returns. Calling it twice generates no second key.
    ///
    /// - Throws: `invalidName` for an invalid account name; the codes of a built-in certificate that its key has not signed
    ///   for this app; errors of the store. Save nothing then; the next launch continues.
    package func begin(_ plan: EnrolmentPlan, at now: Timestamp) throws(KeyStoreError) -> EnrolmentWork {
        var state = plan.state
        var request: EnrolmentRequest?
        for step in plan.steps {
            switch step {
            case .purgeLeftovers: try store.purgeEverything()
            // The app tells the provider.
            case .end: break
            case .pin: try pinBuiltInProviders(now)
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
    /// replaced. The first pin and its certificate are stored in one step.
    ///
    /// - Throws: Errors of the store. The next launch confirms what the state has by then, and otherwise requests
    ///   another reply.
    package func handle(
        _ reply: RegistrationReply, to request: EnrolmentRequest, state: inout EnrolmentState, at now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentResult {
        // Logged out or enrolled again meanwhile: the reply no longer concerns anything, but that there is a device.
        guard let device = state.account(account)?.device, device == request.record.deviceID else {
            if let end = lateEnd(reply, to: request) { state.add(end, of: account, at: request.pairingAddress) }
            return EnrolmentResult(key: .anotherKey)
        }
        switch reply.verdict {
        case .refused(let refusal):
            // A late refusal must not delete a key that was made, and perhaps acknowledged, since.
            guard try deviceKeys().current?.publicKey == request.record.publicKey else {
                return EnrolmentResult(key: .anotherKey)
            }
            let certificate = try takeCertificate(of: reply, now)
            let needsPairing = try take(refusal, reply, to: request, &state, now)
            return EnrolmentResult(key: .refused(refusal), certificate: certificate, needsPairing: needsPairing)
        case .ended, .hello: return EnrolmentResult(key: .anotherKey)
        case .acknowledged(let key):
            guard key == request.record.publicKey else { return EnrolmentResult(key: .anotherKey) }
            // First, because no further reply is requested once the key is acknowledged.
            let (provider, certificate) = try take(reply, now)
            state.acknowledge(request.report, reply, by: account, at: now)
            if reply.isGrantEnded, let grant = request.record.grant { state.removeGrant(grant, of: account) }
            try confirm(key.id, now)
            return EnrolmentResult(
                key: .acknowledged, provider: provider, certificate: certificate, foreign: reply.foreign)
        }
    }

    /// Returns the state after the account's log-out, to be saved before `removeKeys`: the key that has signed the end goes
    /// with the account, and the process may be killed in between.
    ///
    /// - Returns: The state, whose `ends` are for the provider; nil if there is none, or none that this version may
    ///   overwrite: then the provider is not told.
    /// - Throws: Errors of the store that pass.
    package func logOut(_ saved: SavedEnrolment) throws(KeyStoreError) -> EnrolmentState? {
        guard var state = saved.writable else { return nil }
        var signed: SignedRecord?
        do throws(KeyStoreError) {
            signed = try end(of: state)
        } catch {
            if case .later = Reconciliation(error) { throw error }
        }
        state.remove(account, end: signed)
        return state
    }

    /// Deletes the keys and pins of the account, whatever the state. What the phone has learned of a provider's certificates
    /// stays. If this throws, repeat the log-out until it succeeds.
    package func removeKeys() throws(KeyStoreError) { _ = try store.removeAccount(account) }

    /// The end of the account's device; nil if it knows no provider yet, whose key the end has to name.
    private func end(of state: EnrolmentState) throws(KeyStoreError) -> SignedRecord? {
        guard let device = state.account(account)?.device, let provider = try trust().pins.first?.key else {
            return nil
        }
        return SignedRecord(DeviceEnd(of: device, at: provider), by: try store.updateKey(of: account), for: topic)
    }

    /// The end of a device that the provider has stored for an account which left before it knew the provider.
    private func lateEnd(_ reply: RegistrationReply, to request: EnrolmentRequest) -> SignedRecord? {
        let record = request.record
        guard reply.verdict == .acknowledged(record.publicKey), record.pinnedProvider == nil,
            let device = record.deviceID, let provider = reply.provider
        else { return nil }
        return SignedRecord(DeviceEnd(of: device, at: provider), by: request.updateKey, for: topic)
    }

    /// Removes an account that its server has never acknowledged, and that the provider need not forget.
    package func abandon(_ state: inout EnrolmentState) throws(KeyStoreError) {
        guard let saved = state.account(account), saved.acknowledged == nil else { return }
        _ = try store.removeAccount(account)
        state.remove(account, end: nil)
    }

    // MARK: Steps

    private func register(
        _ reasons: [EnrolmentPlan.Reason], _ plan: EnrolmentPlan, _ state: inout EnrolmentState, _ now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentRequest {
        // The phone that was backed up may still use this id, so it does not end.
        if reasons.contains(.keysLost) { state.remove(account, end: nil, changesOver: false) }
        let device = state.deviceAccount(named: account)
        let key = try key(
            isTooOld: reasons.contains(.keyIsOld), changesOver: reasons.contains(.postQuantumPermitted), state, now)
        let (report, circumstances) = (try report(of: key, plan.circumstances), plan.circumstances)
        let pin = try trust().pins.first { $0.key == report.provider }
        var record = DeviceRegistration(
            deviceID: device.device, publicKey: key.publicKey, topic: topic, generation: key.generation,
            createdAt: key.createdAt, pinnedProvider: pin?.key, certificate: pin?.learned.certificate,
            appVersion: report.appVersion)
        record.token = circumstances.token?.hex
        record.environment = circumstances.environment
        let updateKey = try store.updateKey(of: account)
        record.updateKey = updateKey.publicKey
        (record.sequence, record.nonce) = (state.nextSequence(of: account, at: now), RecordNonce())
        record.grant = circumstances.validGrant
        let channel: SignedRecord.Channel = device.address == nil ? .session : .open
        let signed = SignedRecord(record, by: updateKey, over: channel, for: topic)
        return EnrolmentRequest(record: record, signed: signed, report: report, updateKey: updateKey)
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

    /// Returns whether the account has to be paired again.
    private func take(
        _ refusal: RegistrationReply.Refusal, _ reply: RegistrationReply, to request: EnrolmentRequest,
        _ state: inout EnrolmentState, _ now: Timestamp
    ) throws(KeyStoreError) -> Bool {
        let (key, isPairing) = (request.record.publicKey, request.pairingAddress != nil)
        let isPaired = !isPairing && state.address(of: account) != nil
        switch refusal {
        case .staleRecord:
            state.forgetAcknowledgement(of: account)
            guard let told = reply.sequence else { return false }
            if told < DeviceEnd.sequence {
                state.raiseSequence(to: told, of: account)
            } else if !isPaired {
                // The device has ended: it was logged out elsewhere, from a copy of this phone.
                try startAgain(isOwn: false, changesOver: false, &state)
            } else {
                return true
            }
        case .unknownDevice, .badRecordSignature:
            state.forgetAcknowledgement(of: account)
            return true
        case .unsupportedSuite where key.suite == .xwing:
            state.refusePostQuantum(by: account, at: now)
            let wasPending = try store.retirePendingDeviceKey(key, named: account, grace: grace, at: now)
            // The active one: nothing else can be sealed to. [D-47]
            if !wasPending { try makeKey(after: key, .x25519, &state, now) }
        // This phone itself used the id before a backup was restored, or made keys too fast: restored keys stay on
        // their phone. So nobody else loses the id.
        case .generationRollback, .generationTooHigh, .suiteDowngrade:
            try replaceKey(key, after: refusal, isPaired: isPaired, isOwn: true, &state, now)
        // At the provider the id or key is somebody else's, who must not lose it; but for a phone that pairs again, whose
        // device a code does not replace. [P-9]
        case .userMismatch, .keyTaken:
            let isOwn = isPairing && state.account(account)?.acknowledged != nil
            try replaceKey(key, after: refusal, isPaired: isPaired, isOwn: isOwn, &state, now)
        default: break
        }
        return false
    }

    /// It opens, and its generation is taken, until then: another server may have it.
    private var grace: Interval { max(policy.grace, .days(31)) }

    /// Gives up the device id and its keys, which the provider refuses permanently [D-48]; a paired account makes another key. [D-49]
    private func replaceKey(
        _ key: DevicePublicKey, after refusal: RegistrationReply.Refusal, isPaired: Bool, isOwn: Bool,
        _ state: inout EnrolmentState, _ now: Timestamp
    ) throws(KeyStoreError) {
        // The refusal may tell that the id had a key of suite 2 before the backup.
        let suites = try deviceKeys().map(\.publicKey.suite)
        let changesOver = refusal == .suiteDowngrade || suites.contains(.xwing)
        guard isPaired else { return try startAgain(isOwn: isOwn, changesOver: changesOver, &state) }
        try makeKey(after: key, changesOver && CipherSuite.xwing.isSupported ? .xwing : .x25519, &state, now)
    }

    private func makeKey(
        after key: DevicePublicKey, _ suite: CipherSuite, _ state: inout EnrolmentState, _ now: Timestamp
    ) throws(KeyStoreError) {
        state.forgetAcknowledgement(of: account)
        guard state.mayMakeKey(of: account, at: now) else { return }
        _ = try store.replaceRefusedDeviceKey(key, named: account, suite: suite, grace: grace, at: now)
        state.noteKeyMade(of: account, at: now)
    }

    private func startAgain(
        isOwn: Bool, changesOver: Bool, _ state: inout EnrolmentState
    ) throws(KeyStoreError) {
        let end = isOwn ? try? end(of: state) : nil
        _ = try store.purgeDeviceKeys(named: account)
        state.remove(account, end: end, changesOver: changesOver)
    }

    private func confirm(_ key: KeyID, _ now: Timestamp) throws(KeyStoreError) {
        _ = try store.confirmDeviceKey(named: account, acknowledged: key, grace: policy.grace, at: now)
    }

    private func pinBuiltInProviders(_ now: Timestamp) throws(KeyStoreError) {
        guard case .builtIn(let pins) = firstTrust else { return }
        try store.setPins(pins, for: account, topic: topic, at: now)
    }

    /// Takes the provider key and the certificate of a reply.
    private func take(
        _ reply: RegistrationReply, _ now: Timestamp
    ) throws(KeyStoreError) -> (EnrolmentResult.Provider, Result<ProviderTrust.Change, TrustError>?) {
        guard let key = reply.provider else { return (.none, try takeCertificate(of: reply, now)) }
        let pins = try trust().pinned
        guard pins.isEmpty, firstTrust == .firstReply else {
            return (pins.contains(key) ? .trusted : .notAccepted(key), try takeCertificate(of: reply, now))
        }
        var certificate = reply.certificate
        var failure = reply.certificateFault
        do throws(TrustError) {
            try certificate?.check(for: key, topic: topic)
        } catch {
            (certificate, failure) = (nil, error)
        }
        try store.pinFirstProvider(ProviderPin(key, certificate: certificate), for: account, topic: topic, at: now)
        return (.pinned, failure.map { .failure($0) } ?? certificate.map { _ in .success(.raised) })
    }

    /// Takes a reply's certificate, if one of the account's pins has signed it.
    private func takeCertificate(
        of reply: RegistrationReply, _ now: Timestamp
    ) throws(KeyStoreError) -> Result<ProviderTrust.Change, TrustError>? {
        guard let certificate = reply.certificate else { return reply.certificateFault.map { .failure($0) } }
        var trust = try trust()
        // Nothing is pinned yet: the next reply brings the certificate again.
        guard !trust.pins.isEmpty else { return nil }
        do throws(TrustError) {
            _ = try trust.accept(certificate, for: topic)
        } catch {
            return .failure(error)
        }
        return .success(try store.acceptCertificate(certificate, for: account, topic: topic, at: now))
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

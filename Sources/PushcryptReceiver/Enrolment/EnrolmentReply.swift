package import Pushcrypt
package import PushcryptKeyStore

/// The result of a provider's reply.
package struct EnrolmentResult: Hashable, Sendable, CustomStringConvertible {
    /// The result for the device key.
    package enum Key: Hashable, Sendable {
        /// The provider seals to the key that was sent.
        case acknowledged
        /// The reply is about another key than the account has now, or the account has logged out: nothing has changed.
        case anotherKey
        /// The provider has refused the registration.
        case refused(RegistrationReply.Refusal)
    }

    package let key: Key
    /// The result for the certificate in the reply; nil if there is none. After a failure nothing has changed; a conflict
    /// shows that the provider key may be stolen.
    package var certificate: Result<ProviderTrust.Change, TrustError>?
    /// The members of the record that name a key the provider never had: somebody else enrolled the device. Nothing has
    /// changed; the app decides, for example by removing the account.
    package var foreign: [RegistrationReply.ForeignMember] = []
    /// Whether another record has to follow: after `stale-record` a later one, and if another key was made.
    package var goesOn = false
    /// Whether only another pairing, or another enrolment, brings the account back.
    package var needsPairing = false

    init(_ key: Key) { self.key = key }

    /// For the developer's log: the result for the device key, then what the app should hear of, for example
    /// `acknowledged, foreign-provider`.
    package var description: String { (["\(key)"] + notices).joined(separator: ", ") }

    /// News for the app, as codes.
    package var notices: [String] {
        var words: [String] = []
        switch certificate {
        case .success(.conflict): words.append(EnrolmentNotice.certificateConflict.rawValue)
        case .failure(let error): words.append(error.code.description)
        case .success, nil: break
        }
        if needsPairing { words.append(EnrolmentNotice.pairAgain.rawValue) }
        return words + foreign.map { "foreign-\($0)" }
    }
}

extension DeviceState {
    /// Handles the provider's reply to a request.
    ///
    /// A reply that is late, repeated or about another key confirms nothing and pins nothing. An existing pin is never
    /// replaced. The first pin and its certificate are stored in one step.
    package mutating func take(
        _ reply: RegistrationReply, to request: EnrolmentRequest, of name: String, _ terms: EnrolmentTerms,
        at now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentResult {
        // Logged out or begun again meanwhile: the reply no longer concerns anything, but that there is a device.
        guard let index = index(of: name), accounts[index].registration?.device == request.record.deviceID else {
            addLateEnd(of: name, reply, to: request, terms.topic)
            return EnrolmentResult(.anotherKey)
        }
        switch reply.verdict {
        case .ended, .hello: return EnrolmentResult(.anotherKey)
        case .refused(let refusal):
            // A late refusal must not delete a key that was made, and perhaps acknowledged, since.
            guard accounts[index].currentKey?.publicKey == request.record.publicKey else {
                return EnrolmentResult(.anotherKey)
            }
            var result = EnrolmentResult(.refused(refusal))
            result.certificate = try takeCertificate(of: reply, name, terms.topic)
            try take(refusal, reply, to: request, of: index, terms, &result, at: now)
            return result
        case .acknowledged(let key):
            guard key == request.record.publicKey else { return EnrolmentResult(.anotherKey) }
            var result = EnrolmentResult(.acknowledged)
            result.certificate = try takeProvider(of: reply, name, terms)
            (result.foreign, result.goesOn) = (reply.foreign, true)
            changeRegistration(of: index) { registration in
                (registration.report, registration.acknowledgedAt) = (request.report, now)
                registration.permitsPostQuantum = reply.suites.contains(CipherSuite.xwing.rawValue)
            }
            setPushKeys(reply.pushKey, reply.nextPushKey, of: index)
            // The server may be wrong, or lie: the relay is told, too.
            if reply.isGrantEnded { endGrants(of: index) { $0.text == request.record.grant } }
            try confirm(name, acknowledged: key.id, grace: terms.grace, at: now)
            return result
        }
    }

    // MARK: Refusals

    private mutating func take(
        _ refusal: RegistrationReply.Refusal, _ reply: RegistrationReply, to request: EnrolmentRequest, of index: Int,
        _ terms: EnrolmentTerms, _ result: inout EnrolmentResult, at now: Timestamp
    ) throws(KeyStoreError) {
        let (key, isPairing) = (request.record.publicKey, request.pairingAddress != nil)
        let (name, isPaired) = (accounts[index].name, !isPairing && accounts[index].registration?.address != nil)
        switch refusal {
        case .staleRecord:
            forgetAcknowledgement(of: index)
            guard let told = reply.sequence else { return result.goesOn = true }
            if told < DeviceEnd.sequence {
                // A foreign one cannot use them up. [D-46]
                changeRegistration(of: index) { $0.sequence = max($0.sequence, min(told, $0.sequence + 1 << 40)) }
                result.goesOn = true
            } else if isPaired {
                result.needsPairing = true
            } else {
                // The device has ended: it was logged out elsewhere, from a copy of this phone.
                try startAgain(index, isOwn: false, changesOver: false, terms, &result, at: now)
            }
        case .unknownDevice, .badRecordSignature:
            forgetAcknowledgement(of: index)
            result.needsPairing = true
        case .unsupportedSuite where key.suite == .xwing:
            changeRegistration(of: index) { $0.postQuantumRefusedAt = now }
            // The active one: nothing else can be sealed to. [D-47]
            if !refuse(key, of: name, at: now) { try makeKey(after: key, .x25519, of: index, terms, &result, at: now) }
        // This phone itself used the id before a backup was restored, or made keys too fast: restored keys stay on
        // their phone. So nobody else loses the id.
        case .generationRollback, .generationTooHigh, .suiteDowngrade:
            try replaceKey(key, after: refusal, of: index, isPaired, isOwn: true, terms, &result, at: now)
        // At the provider the id or key is somebody else's, who must not lose it; but for a phone that pairs again, whose
        // device a code does not replace. [P-9]
        case .userMismatch, .keyTaken:
            let isOwn = isPairing && accounts[index].registration?.report != nil
            try replaceKey(key, after: refusal, of: index, isPaired, isOwn: isOwn, terms, &result, at: now)
        default: break
        }
    }

    /// Gives up the device id and its keys, which the provider refuses permanently [D-48]; a paired account makes another
    /// key. [D-49]
    private mutating func replaceKey(
        _ key: DevicePublicKey, after refusal: RegistrationReply.Refusal, of index: Int, _ isPaired: Bool, isOwn: Bool,
        _ terms: EnrolmentTerms, _ result: inout EnrolmentResult, at now: Timestamp
    ) throws(KeyStoreError) {
        // The refusal may tell that the id had a key of suite 2 before the backup.
        let hasXWing = accounts[index].keys.contains { $0.publicKey.suite == .xwing }
        let changesOver = refusal == .suiteDowngrade || hasXWing
        guard isPaired else {
            return try startAgain(index, isOwn: isOwn, changesOver: changesOver, terms, &result, at: now)
        }
        let suite: CipherSuite = changesOver && CipherSuite.xwing.isSupported ? .xwing : .x25519
        try makeKey(after: key, suite, of: index, terms, &result, at: now)
    }

    /// Makes another key, at most one a day. [D-49]
    private mutating func makeKey(
        after key: DevicePublicKey, _ suite: CipherSuite, of index: Int, _ terms: EnrolmentTerms,
        _ result: inout EnrolmentResult, at now: Timestamp
    ) throws(KeyStoreError) {
        forgetAcknowledgement(of: index)
        if let last = accounts[index].registration?.keyMadeAt, last <= now, now < last.adding(.days(1)) { return }
        try replace(key, of: accounts[index].name, suite: suite, at: now, makeKey: terms.makeKey)
        changeRegistration(of: index) { $0.keyMadeAt = now }
        result.goesOn = true
    }

    /// Draws another device id, and makes its first key in the same step. [D-48]
    private mutating func startAgain(
        _ index: Int, isOwn: Bool, changesOver: Bool, _ terms: EnrolmentTerms, _ result: inout EnrolmentResult,
        at now: Timestamp
    ) throws(KeyStoreError) {
        guard let former = accounts[index].registration else { return }
        if isOwn { addEnd(of: accounts[index], terms.topic) } else { end(former.grants) }
        var registration = Registration()
        // If the user gives up pairing again, the server at this address says so.
        registration.address = former.address
        registration.permitsPostQuantum = changesOver || former.isPostQuantum
        // A refusal delays a change, and is no way back.
        if !former.hasChangedOver { registration.postQuantumRefusedAt = former.postQuantumRefusedAt }
        forgetKeys(of: index)
        setRegistration(registration, of: index)
        _ = try addFirstKey(to: index, registration, terms, at: now)
        result.goesOn = true
    }

    /// Notes that the provider may have nothing of an account. That it has changed over stays known. [D-47] [D-50]
    private mutating func forgetAcknowledgement(of index: Int) {
        changeRegistration(of: index) { $0.acknowledgedAt = nil }
    }

    // MARK: Trust

    /// Takes the provider key and the certificate of a reply.
    private mutating func takeProvider(
        of reply: RegistrationReply, _ name: String, _ terms: EnrolmentTerms
    ) throws(KeyStoreError) -> Result<ProviderTrust.Change, TrustError>? {
        if let key = reply.provider, terms.trust == .firstReply, account(name)?.pins.isEmpty == true {
            try pinFirst(ProviderPin(key), for: name, topic: terms.topic)
        }
        return try takeCertificate(of: reply, name, terms.topic)
    }

    /// Takes a reply's certificate, if one of the account's pins has signed it.
    private mutating func takeCertificate(
        of reply: RegistrationReply, _ name: String, _ topic: Topic
    ) throws(KeyStoreError) -> Result<ProviderTrust.Change, TrustError>? {
        guard let certificate = reply.certificate else { return reply.certificateFault.map { .failure($0) } }
        var trust = trust(for: topic, account: name)
        // Nothing is pinned yet: the next reply brings the certificate again.
        guard !trust.pinned.isEmpty else { return nil }
        do throws(TrustError) {
            _ = try trust.accept(certificate, for: topic)
        } catch {
            return .failure(error)
        }
        for pin in trust.pinned where (try? certificate.check(for: pin, topic: topic)) != nil {
            return .success(try learn(certificate, of: pin, topic: topic))
        }
        return nil
    }

    // MARK: Log-out

    /// Makes an address the one that all of an account's posts go to: the account was paired. A record follows, because the
    /// server stores nothing of a request that comes again. [P-6]
    package mutating func setAddress(_ address: String, of name: String) {
        guard let index = index(of: name) else { return }
        changeRegistration(of: index) { ($0.address, $0.acknowledgedAt) = (address, nil) }
    }

    /// Logs an account out: its keys and pins go, and its end is signed, which the provider has to hear of, before the key that
    /// signs it is gone. What the phone has learned of a provider's certificates stays.
    package mutating func logOut(_ name: String, _ topic: Topic) {
        guard let account = account(name) else { return }
        addEnd(of: account, topic)
        removeAccount(name)
    }

    /// Removes an account that its server has never acknowledged, and that the provider need not forget.
    package mutating func abandon(_ name: String) {
        guard let account = account(name), account.registration?.report == nil else { return }
        end(account.registration?.grants ?? [])
        removeAccount(name)
    }

    /// Lets a device and its grants end. The provider is not told of one that knows no provider key, which the end has to name.
    mutating func addEnd(of account: Account, _ topic: Topic) {
        guard let registration = account.registration else { return }
        end(registration.grants)
        guard let provider = account.pins.first?.key, let key = try? account.signingKey() else { return }
        let end = DeviceEnd(of: registration.device, at: provider)
        add(End(account: account.name, record: SignedRecord(end, by: key, for: topic), address: registration.address))
    }

    /// Lets a device end that the provider has stored for an account which has left: before it knew the provider, or with an end
    /// that was faster than the record.
    private mutating func addLateEnd(
        of name: String, _ reply: RegistrationReply, to request: EnrolmentRequest, _ topic: Topic
    ) {
        let record = request.record
        guard reply.verdict == .acknowledged(record.publicKey), let device = record.deviceID,
            let provider = record.pinnedProvider ?? reply.provider,
            !ends.contains(where: { $0.record.device == device })
        else { return }
        let end = DeviceEnd(of: device, at: provider)
        add(
            End(
                account: name, record: SignedRecord(end, by: request.updateKey, for: topic),
                address: request.pairingAddress))
    }

    private mutating func add(_ end: End) { ends = (ends + [end]).suffix(Self.mostEnds) }

    /// The most ends that wait.
    private static let mostEnds = 64
}

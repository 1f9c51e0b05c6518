public import Pushcrypt
public import PushcryptKeyStore

/// The provider keys that an account trusts first.
public enum FirstTrust: Hashable, Sendable {
    /// Keys shipped with the app, one or two, each with its certificate if it has one: nothing on the network can replace
    /// them. The phone reports the first.
    ///
    /// At launch they take the place of all others, and there is a notice if one of those came in a reply. To change the
    /// provider key, ship the new one and the old one first; after a theft, ship the new one alone.
    case builtIn([ProviderPin])
    /// The key in the provider's first reply: as trustworthy as the channel of this reply.
    case firstReply

    /// One key shipped with the app, with its certificate if it has one: what `pushcrypt key show --json` says.
    public static func provider(_ key: ProviderPublicKey, certificate: Certificate? = nil) -> FirstTrust {
        .builtIn([ProviderPin(key, certificate: certificate)])
    }
}

/// The terms of every account of an app.
package struct EnrolmentTerms: Sendable {
    package var topic: Topic
    package var trust: FirstTrust
    /// The age at which a device key is replaced; nil: never by age.
    package var keyAge: Interval? = .days(30)
    /// How long a registration counts as known to the provider, which may lose data.
    package var repeatAfter = Interval.days(1)
    /// How long a replaced key opens messages under way.
    package var grace = DeviceState.standardGrace
    /// Makes the device keys.
    package var makeKey: KeyMaker = DeviceState.makeKey

    package init(topic: Topic, trust: FirstTrust) {
        if case .builtIn(let pins) = trust {
            precondition(
                (1...2).contains(pins.count) && Set(pins.map(\.key)).count == pins.count,
                "an app builds in one or two different provider keys")
        }
        (self.topic, self.trust) = (topic, trust)
    }
}

/// The facts that an installation can report at this launch.
package struct EnrolmentFacts: Hashable, Sendable {
    /// The version of the app, for example its `CFBundleShortVersionString`.
    package var appVersion: AppVersion?
    /// The device token from APNs; nil while it is unknown, which changes nothing.
    package var pushToken: ContiguousArray<UInt8>?
    /// Where the token is valid: `development` for an app that Xcode has signed for this.
    package var environment: PushEnvironment?
    /// Permits the provider to push through a relay, 1 to 1,024 characters of base64url; nil without one.
    package var grant: String?
    /// Whether the user lets the app show alerts. If not, the system never starts a service extension.
    package var alertsAreShown: Bool

    package init(
        appVersion: AppVersion? = nil, pushToken: ContiguousArray<UInt8>? = nil, environment: PushEnvironment? = nil,
        grant: String? = nil, alertsAreShown: Bool = true
    ) {
        (self.appVersion, self.pushToken, self.environment) = (appVersion, pushToken, environment)
        (self.grant, self.alertsAreShown) = (grant, alertsAreShown)
    }

    /// The token, if a record can have it: a provider would refuse the whole record.
    fileprivate var token: ContiguousArray<UInt8>? { pushToken.flatMap { (1...100).contains($0.count) ? $0 : nil } }

    fileprivate var validGrant: String? { grant.flatMap { DeviceRegistration.isGrant($0) ? $0 : nil } }
}

// An account's registration with its provider. (`Docs/FormatRecords.md`)
//
// The process may be killed between any two lines: the next launch continues from the stored state, and loses no key that a
// provider seals to. Several accounts have each their own key, device id and pins, so a provider that one account trusts
// cannot sign for another.
extension DeviceState {
    /// Forgets the accounts of an earlier installation of the app, whose keys the system has kept: their devices end, and what
    /// was learned of providers stays.
    package mutating func begin(installation: String, _ topic: Topic) {
        guard self.installation != installation else { return }
        for account in accounts {
            addEnd(of: account, topic)
            removeAccount(account.name)
        }
        // All grants of the token end before the first of this installation counts.
        relay?.endsAll = true
        self.installation = installation
    }

    /// Returns what an account has to say: pins the built-in keys, makes or rotates its key, and compares what the provider
    /// knows with what there is. Store the state before anything is sent.
    ///
    /// - Parameter isForced: Registers although nothing has changed: the user pairs the account again.
    /// - Throws: `invalidName` for an invalid account name; the codes of a built-in certificate that its key has not signed
    ///   for this app.
    package mutating func next(
        for name: String, _ facts: EnrolmentFacts, _ terms: EnrolmentTerms, isForced: Bool = false, at now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentStep {
        var step = EnrolmentStep()
        if !facts.alertsAreShown { step.notices.append(.alertsOff) }
        try pinBuiltIn(name, terms, &step)
        if isContradicted(name, terms.topic), !step.notices.contains(.certificateConflict) {
            step.notices.append(.certificateConflict)
        }
        let index = try openAccount(name, terms.topic)
        purge(name, endedBefore: now.subtracting(Freshness.clockTolerance))
        let registration = accounts[index].registration ?? Registration()
        setRegistration(registration, of: index)
        let key = try currentKey(of: index, registration, terms, &step, at: now)
        let report = report(of: key, in: accounts[index], facts, terms)
        step.reasons += reasons(for: report, key, registration, terms, at: now)
        if step.reasons.isEmpty, isForced { step.reasons = [.timePassed] }
        if !step.reasons.isEmpty { step.request = try request(key, report, of: index, facts, terms, at: now) }
        return step
    }

    /// Makes the built-in keys the account's pins, if they are not, and their certificates known.
    private mutating func pinBuiltIn(
        _ name: String, _ terms: EnrolmentTerms, _ step: inout EnrolmentStep
    ) throws(KeyStoreError) {
        guard case .builtIn(let pins) = terms.trust else { return }
        let replied = account(name)?.pins.filter { $0.origin == .reply }.map(\.key) ?? []
        // Also if another account has learned it, or this one before a log-out.
        let isConflict = pins.contains { pin in
            trust(in: pin.key, for: terms.topic).pins.contains { known in
                pin.certificate.map { known.learned.learning($0).1 == .conflict } ?? false
            }
        }
        if isConflict { step.notices.append(.certificateConflict) }
        try setPins(pins, for: name, topic: terms.topic)
        if !replied.allSatisfy(pins.map(\.key).contains) { step.notices.append(.providerReplaced) }
    }

    /// Returns the key to register, and makes it if there is none, or another has to follow.
    private mutating func currentKey(
        of index: Int, _ registration: Registration, _ terms: EnrolmentTerms, _ step: inout EnrolmentStep,
        at now: Timestamp
    ) throws(KeyStoreError) -> Key {
        let (account, mayTry) = (accounts[index], registration.mayTryPostQuantum(at: now))
        guard let key = account.currentKey else { return try addFirstKey(to: index, registration, terms, at: now) }
        guard registration.report != nil, key.state == .active else { return key }
        let isXWing = key.publicKey.suite == .xwing
        if let age = terms.keyAge, key.isOld(age, at: now), key.publicKey == registration.report?.publicKey,
            !isXWing || mayTry
        {
            step.reasons.append(.keyIsOld)
        }
        let changesOver = registration.permitsPostQuantum && mayTry && CipherSuite.xwing.isSupported && !isXWing
        if changesOver { step.reasons.append(.postQuantumPermitted) }
        guard !step.reasons.isEmpty else { return key }
        return try rotate(account.name, suite: changesOver ? .xwing : nil, at: now, makeKey: terms.makeKey)
    }

    /// Makes the first key of a device.
    mutating func addFirstKey(
        to index: Int, _ registration: Registration, _ terms: EnrolmentTerms, at now: Timestamp
    ) throws(KeyStoreError) -> Key {
        let isXWing =
            registration.isPostQuantum && registration.mayTryPostQuantum(at: now)
            && CipherSuite.xwing.isSupported
        let key = try newKey(isXWing ? .xwing : .x25519, terms.makeKey)
        return try add(key, to: accounts[index].name, topic: terms.topic, at: now)
    }

    /// Returns why the last report to the provider is no longer enough.
    private func reasons(
        for present: Registration.Report, _ key: Key, _ registration: Registration, _ terms: EnrolmentTerms,
        at now: Timestamp
    ) -> [EnrolmentStep.Reason] {
        guard let last = registration.report else { return [.first] }
        var reasons: [EnrolmentStep.Reason] = []
        if present.publicKey != last.publicKey { reasons.append(.keyNotAcknowledged) }
        if present.provider != last.provider { reasons.append(.providerChanged) }
        if present.token != nil && (present.token, present.environment) != (last.token, last.environment) {
            reasons.append(.tokenChanged)
        }
        if present.grant != last.grant { reasons.append(.grantChanged) }
        if present.appVersion != last.appVersion { reasons.append(.appVersionChanged) }
        // A clock that was set back does not tell how long ago it was.
        if let at = registration.acknowledgedAt, at <= now, now < at.adding(terms.repeatAfter) { return reasons }
        return reasons + [.timePassed]
    }

    private func report(
        of key: Key, in account: Account, _ facts: EnrolmentFacts, _ terms: EnrolmentTerms
    ) -> Registration.Report {
        var report = Registration.Report(publicKey: key.publicKey)
        report.provider = account.pins.first?.key
        report.appVersion = facts.appVersion
        report.token = facts.token.map(Registration.Report.digest(of:))
        report.environment = facts.environment
        report.grant = facts.validGrant.map { Registration.Report.digest(of: ContiguousArray($0.utf8)) }
        return report
    }

    private mutating func request(
        _ key: Key, _ report: Registration.Report, of index: Int, _ facts: EnrolmentFacts, _ terms: EnrolmentTerms,
        at now: Timestamp
    ) throws(KeyStoreError) -> EnrolmentRequest {
        let name = accounts[index].name
        let certificate = trust(for: terms.topic, account: name).pins.first?.learned.certificate
        let updateKey = try updateKey(of: index)
        var registration = accounts[index].registration ?? Registration()
        registration.drawSequence(at: now)
        setRegistration(registration, of: index)
        var record = DeviceRegistration(
            deviceID: registration.device, publicKey: key.publicKey, topic: terms.topic, generation: key.generation,
            createdAt: key.createdAt, pinnedProvider: report.provider, certificate: certificate,
            appVersion: report.appVersion)
        (record.token, record.environment) = (facts.token?.hex, facts.environment)
        (record.updateKey, record.grant) = (updateKey.publicKey, facts.validGrant)
        (record.sequence, record.nonce) = (registration.sequence, RecordNonce())
        let signed = SignedRecord(
            record, by: updateKey, over: registration.address == nil ? .session : .open, for: terms.topic)
        return EnrolmentRequest(record: record, signed: signed, report: report, updateKey: updateKey)
    }

    /// Whether an account may pair with the server of a code: it trusts no other provider key than that of the code. [P-8]
    package func mayPair(_ name: String, with code: PairingCode, _ terms: EnrolmentTerms) -> Bool {
        let pins =
            if case .builtIn(let pins) = terms.trust { pins.map(\.key) } else { account(name)?.pins.map(\.key) ?? [] }
        return pins.isEmpty || pins.contains { PairingCode.fingerprint(of: $0) == code.fingerprint }
    }
}

extension DeviceState.Key {
    /// Whether it has reached an age, or was made by a clock that was ahead, which does not tell how old it is.
    fileprivate func isOld(_ age: Interval, at now: Timestamp) -> Bool {
        createdAt.adding(age) < now || now.adding(Freshness.clockTolerance) < createdAt
    }
}

extension DeviceState.Registration {
    /// Whether the provider has sealed to a key of suite 2.
    var hasChangedOver: Bool { report?.publicKey.suite == .xwing }

    /// Whether the account's next first key is of suite 2.
    var isPostQuantum: Bool { permitsPostQuantum || hasChangedOver }

    /// Whether a new key of suite 2 may be tried: 30 days after a refusal.
    func mayTryPostQuantum(at now: Timestamp) -> Bool {
        // A clock that was set back does not tell how long ago it was.
        postQuantumRefusedAt.map { now < $0 || $0.adding(.days(30)) <= now } ?? true
    }

    /// Draws the sequence of the next record: above the last one, and by the clock above that of a copy of the state. [D-45]
    fileprivate mutating func drawSequence(at now: Timestamp) {
        let clock = now <= .latestOfAClock ? now.milliseconds : 0
        sequence = min(max(sequence + 1, clock), DeviceEnd.sequence - 1)
    }
}

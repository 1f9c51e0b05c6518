public import Pushcrypt

/// What a server answers to the post of a phone, with status 200.
public struct PostAnswer: Sendable {
    /// What the post has changed, or what the server has to do.
    public enum Event: Sendable {
        /// The device is stored.
        case registered(id: String, RegistrationOutcome)
        /// The phone has paired by a code.
        case paired(id: String, RegistrationOutcome)
        /// The phone that has paired asked again; nothing has changed.
        case repeated(id: String)
        /// The device has ended itself: its user has logged out.
        case ended(id: String)
        /// Nothing has changed; the reply says why not. The error is nil where the refusal says it all.
        case refused(RegistrationReply.Refusal, KeyStoreError?)
        /// A sealed answer, for an `AnswerOpener`.
        case answer(String)
        /// The phone has made sure that this is its server.
        case hello
    }

    /// The body, for the phone.
    public let body: ContiguousArray<UInt8>
    /// What has become of the post.
    public let event: Event
    /// The provider key that the phone has pinned, if this store never had it: somebody else has enrolled the phone.
    public let foreign: [RegistrationReply.ForeignMember]

    init(_ body: ContiguousArray<UInt8>, _ event: Event, foreign: [RegistrationReply.ForeignMember] = []) {
        (self.body, self.event, self.foreign) = (body, event, foreign)
    }
}

/// What the replies of a store say beside its keys.
package struct ReplyTerms: Sendable {
    /// The suites of which phones may make keys.
    package var suites = RegistrationReply.standardSuites
    /// The app of records that name none.
    package var topic: Topic?

    package init(suites: [UInt8] = RegistrationReply.standardSuites, topic: Topic? = nil) {
        (self.suites, self.topic) = (suites, topic)
    }
}

// MARK: The posts of phones
extension SQLiteKeyStore {
    /// Takes what a phone posts: its signed record, a request to pair, an answer or a hello. (`Docs/FormatRecords.md`, Posts)
    ///
    /// - Parameters:
    ///   - post: The body, from anybody.
    ///   - session: Whose session sent it; nil without one. A reply in a session is not signed: it needs the session's channel.
    ///   - now: The present time.
    /// - Returns: The answer; nil if no open code belongs to a request to pair: status 404.
    /// - Throws: `KeyError` for a post that breaks a rule of form: status 404. `KeyStoreError` if the store cannot be used now,
    ///   `unknownName` if it has no provider key to answer a hello with: status 503, and the phone posts again.
    public func accept(
        _ post: ContiguousArray<UInt8>, session: DeviceOwner? = nil, at now: Timestamp
    ) throws -> PostAnswer? {
        try accept(
            PhonePost(json: post, over: session == nil ? .open : .session), session: session, ReplyTerms(), at: now)
    }

    /// The sequence above which the next record of a device has to be.
    package func sequence(of id: String) throws(KeyStoreError) -> UInt64 {
        try readOnce { (store) throws(KeyStoreError) in try store.known(id).signing.sequence }
    }

    /// Takes a post that was read.
    package func accept(
        _ post: PhonePost, session: DeviceOwner? = nil, _ terms: ReplyTerms, at now: Timestamp
    ) throws(KeyStoreError) -> PostAnswer? {
        switch post {
        case .answer(let text): PostAnswer([], .answer(text))
        case .hello(let nonce): try answer(hello: nonce, terms)
        case .pairing(let request): try pair(request, terms, at: now)
        case .record(let record): try accept(record, session: session, terms, at: now)
        }
    }

    private func answer(hello nonce: RecordNonce, _ terms: ReplyTerms) throws(KeyStoreError) -> PostAnswer {
        try read { (store) throws(KeyStoreError) in
            guard let provider = try store.provider(for: terms.topic, pinned: nil),
                let topic = terms.topic ?? provider.topic
            else {
                throw KeyStoreError(.unknownName, "the store has no provider key for an app, to sign the reply with")
            }
            let signer = try store.signer(of: provider, for: topic)
            let (reply, asked) = (RegistrationReply(.hello(nonce.description)), ContiguousArray(nonce.description.utf8))
            return PostAnswer(SignedReply.body(reply, to: asked, by: signer, for: topic), .hello)
        }
    }

    private func accept(
        _ record: SignedRecord, session: DeviceOwner?, _ terms: ReplyTerms, at now: Timestamp
    ) throws(KeyStoreError) -> PostAnswer? {
        try session?.check()
        func answer(_ store: StoreTransaction, isReading: Bool) throws(KeyStoreError) -> PostAnswer? {
            let known = try store.known(record.device)
            let context = try store.context(of: record, known, terms)
            do throws(KeyStoreError) {
                let isHeld = try known.check(record, session: session, for: context)
                if isReading { return nil }
                let event = try store.take(record, known: known, owner: session, isSignedAsHeld: isHeld, at: now)
                return try store.reply(to: record, event, session: session, context, terms)
            } catch {
                guard let refusal = error.refusal else { throw error }
                let sequence = refusal == .staleRecord ? known.signing.sequence : nil
                return try store.reply(
                    to: record, .refused(refusal, error), sequence: sequence, session: session, context, terms)
            }
        }
        // Somebody who knows no key must not keep others from writing.
        let refused = try read { (store) throws(KeyStoreError) in try answer(store, isReading: true) }
        if let refused { return refused }
        return try write { (store) throws(KeyStoreError) in try answer(store, isReading: false) }
    }
}

extension KnownDevice {
    /// Checks who may post this record, and that it is the device's latest. [D-22] to [D-25]
    ///
    /// - Returns: Whether it is signed under the held update key.
    func check(
        _ record: SignedRecord, session: DeviceOwner?, for context: Topic?
    ) throws(KeyStoreError) -> Bool {
        let isHeld: Bool
        if case .registration(let registration) = record.content, let session {
            try checkUser(session, of: registration.publicKey, id: record.device)
            guard let key = registration.updateKey, let context, record.isSigned(by: key, over: .session, for: context)
            else { throw .badRecordSignature(record.device) }
            isHeld = key == signing.updateKey
        } else {
            guard acceptsOpenRecords else { throw .unknownDevice(record.device) }
            guard let key = signing.updateKey, let context, record.isSigned(by: key, over: .open, for: context) else {
                throw .badRecordSignature(record.device)
            }
            if case .registration(let registration) = record.content, registration.updateKey != key {
                throw .badRecordSignature(record.device)
            }
            isHeld = true
        }
        guard record.sequence > signing.sequence else {
            throw .staleRecord(record.device, after: signing.sequence)
        }
        return isHeld
    }
}

extension KeyStoreError {
    static func staleRecord(_ id: String, after sequence: UInt64) -> KeyStoreError {
        KeyStoreError(
            .staleRecord, "the record of device '\(id)' is not later than the last one, whose sequence is \(sequence)")
    }

    static func badRecordSignature(_ id: String) -> KeyStoreError {
        KeyStoreError(
            .badRecordSignature,
            "the record of device '\(id)' is not signed by its update key, for this app and channel")
    }
}

extension StoreTransaction {
    /// Returns the app of a record: its own, or what is known of the device, its provider key or the store.
    func context(
        of record: SignedRecord, _ known: KnownDevice, _ terms: ReplyTerms
    ) throws(KeyStoreError) -> Topic? {
        if case .registration(let registration) = record.content, let topic = registration.topic { return topic }
        if let topic = known.topic { return topic }
        return try provider(for: nil, pinned: record.provider)?.topic ?? terms.topic
    }

    /// Stores a registration, or ends the device.
    fileprivate func take(
        _ record: SignedRecord, known: KnownDevice, owner: DeviceOwner?, isSignedAsHeld: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> PostAnswer.Event {
        let id = record.device
        switch record.content {
        case .registration(let registration):
            try StoreName.checkDeviceID(id)
            // Without a session the update key speaks for the user that the device has.
            let outcome = try register(
                registration, id: id, known: known, owner: owner ?? known.user.map(DeviceOwner.user) ?? .unchanged,
                at: now, isLive: true, isSignedAsHeld: isSignedAsHeld)
            return .registered(id: id, outcome)
        case .end:
            try end(known, id: id, at: now)
            return .ended(id: id)
        }
    }

    /// Returns the answer to a record, signed unless a session brings it. Of an app for which the store has no provider key nobody
    /// can sign, and the phone ignores it.
    fileprivate func reply(
        to record: SignedRecord, _ event: PostAnswer.Event, sequence: UInt64? = nil, session: DeviceOwner?,
        _ context: Topic?, _ terms: ReplyTerms
    ) throws(KeyStoreError) -> PostAnswer {
        let provider = try provider(for: context, pinned: record.provider)
        var foreign: [RegistrationReply.ForeignMember] = []
        let verdict: RegistrationReply.Verdict
        switch (event, record.content) {
        case (.refused(let refusal, _), _): verdict = .refused(refusal)
        case (_, .end(let end)): verdict = .ended(end.device)
        case (_, .registration(let registration)):
            verdict = .acknowledged(registration.publicKey)
            foreign = try foreignMembers(registration.pinnedProvider)
        }
        var reply = RegistrationReply(
            verdict, provider: provider?.publicKey, certificate: provider?.certificate, foreign: foreign,
            suites: terms.suites, pushKey: try pushKeyRow()?.record.publicKey)
        reply.sequence = sequence
        guard session == nil, let provider, let context else { return PostAnswer(reply.json, event, foreign: foreign) }
        let signer = try signer(of: provider, for: context)
        return PostAnswer(
            SignedReply.body(reply, to: record.bytes, by: signer, for: context), event, foreign: foreign)
    }

    func foreignMembers(_ pinned: ProviderPublicKey?) throws(KeyStoreError) -> [RegistrationReply.ForeignMember] {
        guard let pinned, try providerKeyRow(of: pinned) == nil else { return [] }
        return [.provider]
    }

    /// Returns the provider key for a phone of an app: the one that it has pinned; otherwise the default or the only one of those
    /// that are bound to the app, or to none.
    func provider(for topic: Topic?, pinned: ProviderPublicKey?) throws(KeyStoreError) -> ProviderKeyRow? {
        let able = try rows(ProviderKeyRow.self, "ORDER BY name").filter {
            topic == nil || $0.topic == nil || $0.topic == topic
        }
        if let row = able.first(where: { $0.publicKey == pinned }) { return row }
        let bound = able.filter { $0.topic == topic }
        let candidates = bound.isEmpty ? able : bound
        let name = try providerNames.defaultName()
        return candidates.first { row in name.map { StoreName.areEqual($0, row.name) } ?? false }
            ?? (candidates.count == 1 ? candidates.first : nil)
    }

    /// Returns what signs for a provider key.
    func signer(of row: ProviderKeyRow, for topic: Topic) throws(KeyStoreError) -> EnvelopeSigner {
        guard let credential = try row.credential(keys) else { return EnvelopeSigner(try row.key(keys)) }
        return EnvelopeSigner(verified: credential.certificate, credential.key, by: credential.provider, for: topic)
    }
}

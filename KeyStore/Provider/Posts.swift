public import Pushcrypt

/// A server's answer to the post of a phone, with status 200.
public struct PostAnswer: Sendable {
    /// The effect of a post, or the server's next step.
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
    /// The effect of this post.
    public let event: Event
    /// The provider key that the phone has pinned, if this store does not have it: unless it was removed, somebody else enrolled
    /// the phone.
    public let foreign: [RegistrationReply.ForeignMember]

    init(_ body: ContiguousArray<UInt8>, _ event: Event, foreign: [RegistrationReply.ForeignMember] = []) {
        (self.body, self.event, self.foreign) = (body, event, foreign)
    }
}

/// The content of a store's replies beside its keys.
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
        try readOnce { (store) throws(KeyStoreError) in try store.held(id)?.signing.sequence ?? 0 }
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
        guard let provider = try provider().key(for: terms.topic, pinned: nil),
            let topic = terms.topic ?? provider.topic
        else {
            throw KeyStoreError(.unknownName, "the store has no provider key for an app, to sign the reply with")
        }
        let (reply, asked) = (RegistrationReply(.hello(nonce.description)), ContiguousArray(nonce.description.utf8))
        return PostAnswer(SignedReply.body(reply, to: asked, by: try provider.signer(for: topic), for: topic), .hello)
    }

    private func accept(
        _ record: SignedRecord, session: DeviceOwner?, _ terms: ReplyTerms, at now: Timestamp
    ) throws(KeyStoreError) -> PostAnswer? {
        try session?.check()
        func answer(_ store: StoreTransaction, isReading: Bool) throws(KeyStoreError) -> PostAnswer? {
            let held = try store.held(record.device)
            let context = try store.context(of: record, held, terms)
            do throws(KeyStoreError) {
                let event = try store.take(record, held, session, context, isReading: isReading, at: now)
                return try event.map { (event) throws(KeyStoreError) in
                    try store.reply(to: record, event, session: session, context, terms, at: now)
                }
            } catch {
                guard let refusal = error.refusal else { throw error }
                let sequence = refusal == .staleRecord ? held?.signing.sequence : nil
                return try store.reply(
                    to: record, .refused(refusal, error), sequence: sequence, session: session, context, terms,
                    at: now)
            }
        }
        // Somebody who knows no key must not keep others from writing.
        let refused = try read { (store) throws(KeyStoreError) in try answer(store, isReading: true) }
        if let refused { return refused }
        return try write { (store) throws(KeyStoreError) in try answer(store, isReading: false) }
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
        of record: SignedRecord, _ held: Held?, _ terms: ReplyTerms
    ) throws(KeyStoreError) -> Topic? {
        if case .registration(let registration) = record.content, let topic = registration.topic { return topic }
        if let topic = held?.topic { return topic }
        return try provider().key(for: nil, pinned: record.provider)?.topic ?? terms.topic
    }

    /// Stores a registration, or ends the device; a reader only finds out whether that is refused, and returns nil if it is not.
    fileprivate func take(
        _ record: SignedRecord, _ held: Held?, _ session: DeviceOwner?, _ context: Topic?, isReading: Bool,
        at now: Timestamp
    ) throws(KeyStoreError) -> PostAnswer.Event? {
        let id = record.device
        switch record.content {
        case .registration(let registration):
            let arrival = Arrival(record, registration, session: session, for: context)
            guard isReading else { return .registered(id: id, try accept(arrival, at: now).registration) }
            _ = try DeviceRules.accept(arrival, held: held, holders: [], epoch: nil, at: now)
            return nil
        case .end:
            let change = try DeviceRules.end(id, held: held, at: now) { key in
                context.map { record.isSigned(by: key, over: .open, for: $0) } ?? false
            }
            guard !isReading else { return nil }
            try perform(change, at: now)
            return .ended(id: id)
        }
    }

    /// Returns the answer to a record, signed unless a session brings it. Of an app for which the store has no provider key nobody
    /// can sign, and the phone ignores it.
    fileprivate func reply(
        to record: SignedRecord, _ event: PostAnswer.Event, sequence: UInt64? = nil, session: DeviceOwner?,
        _ context: Topic?, _ terms: ReplyTerms, at now: Timestamp
    ) throws(KeyStoreError) -> PostAnswer {
        let state = try provider()
        let (provider, pushKeys) = (state.key(for: context, pinned: record.provider), state.pushKeys(at: now))
        var foreign: [RegistrationReply.ForeignMember] = []
        var isGrantEnded = false
        let verdict: RegistrationReply.Verdict
        switch (event, record.content) {
        case (.refused(let refusal, _), _): verdict = .refused(refusal)
        case (_, .end(let end)): verdict = .ended(end.device)
        case (_, .registration(let registration)):
            verdict = .acknowledged(registration.publicKey)
            foreign = try foreignMembers(registration.pinnedProvider)
            isGrantEnded = try held(record.device)?.device?.hasEnded(registration.grant) ?? false
        }
        var reply = RegistrationReply(
            verdict, provider: provider?.publicKey, certificate: provider?.certificate, foreign: foreign,
            suites: terms.suites)
        (reply.pushKey, reply.nextPushKey) = (pushKeys?.current.record.publicKey, pushKeys?.next?.record.publicKey)
        (reply.sequence, reply.isGrantEnded) = (sequence, isGrantEnded)
        guard session == nil, let provider, let context else { return PostAnswer(reply.json, event, foreign: foreign) }
        let body = SignedReply.body(reply, to: record.asked, by: try provider.signer(for: context), for: context)
        return PostAnswer(body, event, foreign: foreign)
    }

    func foreignMembers(_ pinned: ProviderPublicKey?) throws(KeyStoreError) -> [RegistrationReply.ForeignMember] {
        guard let pinned, try provider().key(of: pinned) == nil else { return [] }
        return [.provider]
    }
}

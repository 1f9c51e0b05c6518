public import Pushcrypt

/// The answer of a device to a message that came first.
struct AnswerRow: StoredRow {
    static let table = StoreTable("answers", key: "id", "digest", "opened", "ends")
    static let put = table.put

    /// A hash of the provider key, the message's id and the device's.
    let id: Bytes
    /// The hash of the answer's bytes.
    let digest: Bytes
    let openedAt: Timestamp
    /// When no answer to the message counts any more.
    let endsAt: Timestamp

    init(id: Bytes, digest: Bytes, openedAt: Timestamp, endsAt: Timestamp) {
        (self.id, self.digest, self.openedAt, self.endsAt) = (id, digest, openedAt, endsAt)
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.blob()
        digest = try columns.blob()
        openedAt = try columns.time()
        endsAt = try columns.time()
    }

    var values: [SQLiteValue] { [.blob(id), .blob(digest), .time(openedAt), .time(endsAt)] }

    static func id(_ provider: ProviderPublicKey, _ message: MessageID, _ device: String) -> Bytes {
        // Provider key and message id have fixed lengths.
        let named = provider.bytes + message.bytes + Bytes(device.utf8)
        return SHA256.digest(named.span)
    }
}

/// An answer, and the device of this store that gave it.
public struct DeviceAnswer: Hashable, Sendable {
    /// The answer.
    public let answer: Answer
    /// The provider's name for the device.
    public let device: String
    /// The user whose device it is; nil if unknown.
    public let user: String?
    /// When it was opened first, if the same answer came before; nil for a new one.
    public let firstOpenedAt: Timestamp?
}

extension SQLiteKeyStore {
    /// Opens the text of an answer by one of the devices in this store, with the answer secrets of its apps, and remembers it:
    /// of each device, the first answer to a message counts.
    ///
    /// Replaced secrets, and replaced keys of devices, open answers for 32 days; a removed device answers nothing.
    ///
    /// - Parameters:
    ///   - text: What the app sent, unchanged.
    ///   - topic: The app, for a provider key that is not bound to one.
    ///   - limit: How long after the message was sealed an answer counts; at most, and by default, 31 days.
    ///   - now: The present time.
    /// - Throws: `OpenError`: those of ``AnswerOpener/open(_:at:within:)``, and `duplicate` for another answer of the device to
    ///   the message than the first. `KeyStoreError`: those of a change.
    public func openAnswer(
        _ text: some StringProtocol, topic: Topic? = nil, within limit: Interval = .days(31), at now: Timestamp
    ) throws -> DeviceAnswer {
        let text = Bytes(text.utf8)
        return try remember(try authenticate(SealedAnswer(text: text.span), topic, within: limit, at: now), at: now)
    }

    func authenticate(
        _ sealed: SealedAnswer, _ topic: Topic? = nil, within limit: Interval = AnswerKey.life, at now: Timestamp
    ) throws -> AuthenticAnswer {
        let found = try read { (store) throws(KeyStoreError) in
            try AnswerCandidates(store, store.devices(withKey: sealed.recipientKeyID, at: now), topic, now)
        }
        let (answer, provider) = try found.open(sealed, at: now, within: limit)
        guard let device = found.devices.first(where: { $0.key == answer.device })?.record else {
            preconditionFailure("an answer is of one of the devices")
        }
        return AuthenticAnswer(sealed: sealed, answer: answer, device: device, provider: provider, topic: topic)
    }

    /// Keeps an answer if it is the first, unless it counts no more: since it was opened, the device may have been removed, or the
    /// secret destroyed.
    func remember(_ opened: AuthenticAnswer, at now: Timestamp) throws -> DeviceAnswer {
        let id = AnswerRow.id(opened.provider, opened.answer.messageID, opened.device.id)
        let digest = SHA256.digest(opened.sealed.bytes.span)
        let kept = try write { (store) throws(KeyStoreError) -> AnswerRow?? in
            guard try store.counts(opened, at: now) else { return nil }
            if let row: AnswerRow = try store.row(key: .blob(id)) { return row }
            // Later than needed: a clock that is ahead for a moment must not make an answer count twice.
            try store.purge(AnswerRow.self, "ends < ?", before: now.subtracting(AnswerSecretRow.grace))
            let end = opened.answer.sentAt.adding(AnswerKey.life)
            try store.put(AnswerRow(id: id, digest: digest, openedAt: now, endsAt: end))
            return .some(nil)
        }
        guard let first = kept else {
            throw OpenError(
                .unknownRecipientKey, "device '\(opened.device.id)', or what opens its answers, was removed meanwhile")
        }
        if let first, first.digest != digest {
            throw OpenError(
                .duplicate,
                "device '\(opened.device.id)' has answered the message otherwise, at \(first.openedAt): the first answer counts"
            )
        }
        return DeviceAnswer(
            answer: opened.answer, device: opened.device.id, user: opened.device.user, firstOpenedAt: first?.openedAt)
    }
}

/// An answer that was opened with what the store had then.
struct AuthenticAnswer {
    let sealed: SealedAnswer
    let answer: Answer
    let device: DeviceRecord
    let provider: ProviderPublicKey
    /// The app, for a provider key that is not bound to one.
    let topic: Topic?
}

extension StoreTransaction {
    fileprivate func counts(_ opened: AuthenticAnswer, at now: Timestamp) throws(KeyStoreError) -> Bool {
        guard let present = try device(id: opened.device.id)?.record else { return false }
        if present.publicKey != opened.answer.device {
            guard try hasHad(opened.answer.device, present.id) else { return false }
        }
        let left = try AnswerCandidates(self, [(present, opened.answer.device)], opened.topic, now)
        return (try? left.open(opened.sealed, at: opened.answer.sentAt, within: AnswerKey.life)) != nil
    }
}

/// What may open an answer: the devices with its key's id, and the secrets of the apps.
private struct AnswerCandidates {
    let devices: [(record: DeviceRecord, key: DevicePublicKey)]
    private var apps: [(provider: ProviderPublicKey, opener: AnswerOpener)] = []

    init(
        _ store: StoreTransaction, _ devices: [(record: DeviceRecord, key: DevicePublicKey)], _ topic: Topic?,
        _ now: Timestamp
    ) throws(KeyStoreError) {
        self.devices = devices
        for provider in try store.rows(ProviderKeyRow.self, "ORDER BY id") {
            guard let topic = provider.topic ?? topic else { continue }
            let secrets = try store.answerSecrets(of: provider.id).filter { row in
                row.replacedAt.map { now <= $0.adding(AnswerSecretRow.grace) } ?? true
            }.map { (row) throws(KeyStoreError) in try row.secret(store.keys) }
            apps.append((provider.publicKey, AnswerOpener(topic: topic, secrets: secrets, devices: devices.map(\.key))))
        }
    }

    /// Opens with the secrets of one app after the other.
    func open(
        _ sealed: SealedAnswer, at now: Timestamp, within limit: Interval
    ) throws(OpenError) -> (Answer, provider: ProviderPublicKey) {
        var refusal: OpenError?
        for (provider, opener) in apps {
            do throws(OpenError) {
                return (try opener.open(sealed, at: now, within: limit), provider)
            } catch {
                guard error.code == .authenticationFailed else { throw error }
                refusal = error
            }
        }
        throw refusal
            ?? OpenError(.authenticationFailed, "the store has no answer secret: none of its messages can be answered")
    }
}

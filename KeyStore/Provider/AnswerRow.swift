public import Pushcrypt

/// The answer of a device to a message that came first.
struct AnswerRow: StoredRow {
    static let table = StoreTable("answers", key: "id", "digest", "opened", "ends")
    static let put = table.put
    static let counted: CountedTable? = .answers

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
    /// Replaced secrets, and replaced keys of devices, open answers for 32 days; a removed device answers nothing. The
    /// devices are looked through for the key: of a million, that takes about a second.
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
        let sealed = try SealedAnswer(text: text.span)
        let found = try read { (store) throws(KeyStoreError) in
            try AnswerCandidates(store, store.devices(withKey: sealed.recipientKeyID, at: now), topic, now)
        }
        let (answer, provider) = try found.open(sealed, at: now, within: limit)
        guard let record = found.devices.first(where: { $0.key == answer.device })?.record else {
            preconditionFailure("an answer is of one of the devices")
        }
        let kept = try keep(sealed, answer, of: record.id, provider, at: now) { (store) throws(KeyStoreError) in
            // Since it was opened, the device may have been removed, or the secret destroyed.
            guard let present = try store.device(id: record.id)?.record else { return false }
            if present.publicKey != answer.device {
                guard try store.hasHad(answer.device, record.id) else { return false }
            }
            let left = try AnswerCandidates(store, [(present, answer.device)], topic, now)
            return (try? left.open(sealed, at: answer.sentAt, within: AnswerKey.life)) != nil
        }
        guard let first = kept else {
            throw OpenError(
                .unknownRecipientKey, "device '\(record.id)', or what opens its answers, was removed meanwhile")
        }
        if let first, first.digest != SHA256.digest(sealed.bytes.span) {
            throw OpenError(
                .duplicate,
                "device '\(record.id)' has answered the message otherwise, at \(first.openedAt): the first answer counts"
            )
        }
        return DeviceAnswer(answer: answer, device: record.id, user: record.user, firstOpenedAt: first?.openedAt)
    }

    /// Remembers an answer that is the first; returns the one that was. Nothing is kept, and the result is nil, if it does not count any
    /// more.
    private func keep(
        _ sealed: SealedAnswer, _ answer: Answer, of device: String, _ provider: ProviderPublicKey, at now: Timestamp,
        if counts: (StoreTransaction) throws(KeyStoreError) -> Bool
    ) throws(KeyStoreError) -> AnswerRow?? {
        let id = AnswerRow.id(provider, answer.messageID, device)
        return try write(at: now) { (store) throws(KeyStoreError) -> AnswerRow?? in
            guard try counts(store) else { return nil }
            if let row: AnswerRow = try store.row(key: .blob(id)) { return row }
            // Later than needed: a clock that is ahead for a moment must not make an answer count twice.
            try store.purge(AnswerRow.self, "ends < ?", before: now.subtracting(AnswerSecretRow.grace))
            try store.put(
                AnswerRow(
                    id: id, digest: SHA256.digest(sealed.bytes.span), openedAt: now,
                    endsAt: answer.sentAt.adding(AnswerKey.life)))
            return .some(nil)
        }
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

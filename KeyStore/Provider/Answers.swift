public import Pushcrypt

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
    /// - Throws: `OpenError`: those of `AnswerOpener.open`, and `duplicate` for another answer of the device to
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
        let digest = SHA256.digest(opened.sealed.bytes.span)
        let kept = try write { (store) throws(KeyStoreError) -> FirstAnswer?? in
            guard try store.counts(opened, at: now) else { return nil }
            if let first = try store.firstAnswer(opened.id) { return first }
            // Later than needed: a clock that is ahead for a moment must not make an answer count twice.
            let past = Int64(clamping: now.subtracting(ProviderState.answerGrace).milliseconds)
            try store.connection.rows(
                "DELETE FROM answers WHERE id IN (SELECT id FROM answers WHERE ends < ? LIMIT 100)", [.integer(past)])
            try store.connection.rows(
                "INSERT INTO answers (id, digest, opened, ends) VALUES (?, ?, ?, ?)",
                [
                    .blob(opened.id), .blob(digest), .time(now), .time(opened.answer.sentAt.adding(AnswerKey.life)),
                ])
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

/// The answer of a device to a message that came first. It is not authenticated: a forged one only takes an answer away.
private struct FirstAnswer {
    /// The hash of the answer's bytes.
    let digest: Bytes
    let openedAt: Timestamp
}

/// An answer that was opened with what the store had then.
struct AuthenticAnswer {
    let sealed: SealedAnswer
    let answer: Answer
    let device: DeviceRecord
    let provider: ProviderPublicKey
    /// The app, for a provider key that is not bound to one.
    let topic: Topic?

    /// A hash of the provider key, the message's id and the device's; the first two have fixed lengths.
    var id: Bytes {
        let named = provider.bytes + answer.messageID.bytes + Bytes(device.id.utf8)
        return SHA256.digest(named.span)
    }
}

extension StoreTransaction {
    fileprivate func firstAnswer(_ id: Bytes) throws(KeyStoreError) -> FirstAnswer? {
        let row = try connection.rows("SELECT digest, opened FROM answers WHERE id = ?", [.blob(id)]).first
        guard let row else { return nil }
        guard case .blob(let digest) = row[0], case .integer(let time) = row[1] else { throw connection.damaged }
        return FirstAnswer(digest: digest, openedAt: Timestamp(milliseconds: UInt64(bitPattern: time)))
    }

    fileprivate func counts(_ opened: AuthenticAnswer, at now: Timestamp) throws(KeyStoreError) -> Bool {
        guard let present = try held(opened.device.id)?.device else { return false }
        if present.publicKey != opened.answer.device {
            guard try hasHad(opened.answer.device, present.id) else { return false }
        }
        let left = try AnswerCandidates(self, [(present, opened.answer.device)], opened.topic, now)
        return (try? left.open(opened.sealed, at: opened.answer.sentAt, within: AnswerKey.life)) != nil
    }
}

/// The keys that may open an answer: the devices with its key's id, and the secrets of the apps.
private struct AnswerCandidates {
    let devices: [(record: DeviceRecord, key: DevicePublicKey)]
    private var apps: [(provider: ProviderPublicKey, opener: AnswerOpener)] = []

    init(
        _ store: StoreTransaction, _ devices: [(record: DeviceRecord, key: DevicePublicKey)], _ topic: Topic?,
        _ now: Timestamp
    ) throws(KeyStoreError) {
        self.devices = devices
        for key in try store.provider().keys {
            guard let topic = key.topic ?? topic else { continue }
            let secrets = try key.answers.filter { $0.opens(at: now) }.map { (answers) throws(KeyStoreError) in
                try answers.answerSecret()
            }
            apps.append((key.publicKey, AnswerOpener(topic: topic, secrets: secrets, devices: devices.map(\.key))))
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

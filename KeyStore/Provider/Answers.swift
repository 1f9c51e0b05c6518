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
        let sealed = try SealedAnswer(text: text.span)
        let found = try read { (store) throws(KeyStoreError) in
            try AnswerCandidates(store, store.devices(withKey: sealed.recipientKeyID, at: now), topic, now)
        }
        let (answer, provider) = try found.open(sealed, at: now, within: limit)
        guard let device = found.devices.first(where: { $0.key == answer.device })?.record else {
            preconditionFailure("an answer is of one of the devices")
        }
        let digest = SHA256.digest(sealed.bytes.span)
        // Provider key and message id have fixed lengths.
        let named = provider.bytes + answer.messageID.bytes + Bytes(device.id.utf8)
        let first = try write { (store) throws(KeyStoreError) in
            try store.keepFirst(answer, SHA256.digest(named.span), digest, at: now)
        }
        if let first, first.digest != digest {
            throw OpenError(
                .duplicate,
                "device '\(device.id)' gave another answer to the message at \(first.openedAt): the first one counts"
            )
        }
        return DeviceAnswer(answer: answer, device: device.id, user: device.user, firstOpenedAt: first?.openedAt)
    }
}

/// The answer of a device to a message that came first. It is not authenticated: a forged one only takes an answer away.
private struct FirstAnswer {
    /// The hash of the answer's bytes.
    let digest: Bytes
    let openedAt: Timestamp
}

extension StoreTransaction {
    /// Returns the answer that came first; nil if it is this one, which is kept.
    fileprivate func keepFirst(
        _ answer: Answer, _ id: Bytes, _ digest: Bytes, at now: Timestamp
    ) throws(KeyStoreError) -> FirstAnswer? {
        if let row = try connection.rows("SELECT digest, opened FROM answers WHERE id = ?", [.blob(id)]).first {
            guard case .blob(let digest) = row[0], case .integer(let time) = row[1] else { throw connection.damaged }
            return FirstAnswer(digest: digest, openedAt: Timestamp(milliseconds: UInt64(bitPattern: time)))
        }
        // Kept longer than needed: a clock that is ahead for a moment must not make an answer count twice.
        let past = Int64(clamping: now.subtracting(ProviderState.answerGrace).milliseconds)
        try connection.rows(
            "DELETE FROM answers WHERE id IN (SELECT id FROM answers WHERE ends < ? LIMIT 100)", [.integer(past)])
        try connection.rows(
            "INSERT INTO answers (id, digest, opened, ends) VALUES (?, ?, ?, ?)",
            [.blob(id), .blob(digest), .time(now), .time(answer.sentAt.adding(AnswerKey.life))])
        return nil
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

/// What a provider answers to a registration, over the app's own authenticated channel.
///
/// It names the key that the provider seals to from now on, so that an answer which comes late or twice confirms no other
/// key; and the provider's own key, which an app without a built-in one pins first. (`Docs/Format.md`, Registration reply)
public struct RegistrationReply: Hashable, Sendable {
    /// The version of the reply that this code reads and writes.
    public static let version = 1

    /// What became of a registration.
    public enum Verdict: Hashable, Sendable {
        /// The provider seals to this key from now on.
        case acknowledged(DevicePublicKey)
        /// The provider has not taken the record.
        case refused(Refusal)
    }

    /// Why a provider has not taken a record: 1 to 64 lower-case letters, digits and hyphens.
    public struct Refusal: Hashable, Sendable, LosslessStringConvertible {
        private static let maximumLength = 64

        /// The provider holds a later key under this device id, or another one of the same generation: the device was
        /// restored from a backup, and enrols under a new id.
        public static let generationRollback = Refusal(unchecked: "generation-rollback")
        /// The provider holds this device id for another app.
        public static let topicMismatch = Refusal(unchecked: "topic-mismatch")

        /// The reason as programs read it.
        public let description: String

        /// Takes a reason of the provider's own, or gives nil.
        public init?(_ description: String) {
            guard (1...Self.maximumLength).contains(description.utf8.count),
                description.utf8.allSatisfy(\.isOfCode)
            else { return nil }
            self.init(unchecked: description)
        }

        private init(unchecked description: String) { self.description = description }
    }

    /// What became of the registration.
    public let verdict: Verdict
    /// The key that the provider signs with.
    public let sender: SenderPublicKey?

    /// Makes a reply.
    public init(_ verdict: Verdict, sender: SenderPublicKey? = nil) {
        self.verdict = verdict
        self.sender = sender
    }

    /// Reads a reply.
    ///
    /// Throws `malformedRecord` for anything but one object of version 1 with either `acknowledged` or `refused`, or what
    /// reading the text of its keys throws. Members it does not know are passed over.
    public init(json: ContiguousArray<UInt8>) throws(KeyError) {
        let record = try KeyRecord(json)
        guard try record.number("version") == UInt64(Self.version) else {
            throw KeyError(.malformedRecord, "the reply's version is not \(Self.version), the one this version knows")
        }
        let verdict: Verdict
        switch (try record.text("acknowledged"), try record.text("refused")) {
        case (let key?, nil): verdict = .acknowledged(try DevicePublicKey(text: key))
        case (nil, let reason?):
            guard let refusal = Refusal(reason) else {
                throw KeyError(.malformedRecord, "the reply's refused is no reason: lower-case words with hyphens")
            }
            verdict = .refused(refusal)
        case (nil, nil), (_?, _?):
            throw KeyError(.malformedRecord, "the reply does not say either acknowledged or refused")
        }
        self.init(verdict, sender: try record.sender())
    }

    /// The reply as minified JSON.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            switch verdict {
            case .acknowledged(let key): json.string(key.description, for: "acknowledged")
            case .refused(let refusal): json.string(refusal.description, for: "refused")
            }
            if let sender { json.string(sender.description, for: "sender") }
        }
        return json.bytes
    }
}

/// What a provider tells its app's phones about its signing key, built into the app or in the reply to a registration.
public struct SenderAnnouncement: Hashable, Sendable {
    /// What to trust.
    public let publicKey: SenderPublicKey
    /// The app that the key is for; nil when the key is not bound to one.
    public let topic: Topic?
    /// Counts the sender's keys.
    public let generation: UInt64
    /// When the key was made.
    public let createdAt: Timestamp

    /// Makes a record.
    public init(publicKey: SenderPublicKey, topic: Topic?, generation: UInt64, createdAt: Timestamp) {
        self.publicKey = publicKey
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
    }

    /// Reads a sender's record; `generation` is 1 and `created` is `now` when it has none.
    ///
    /// Throws `malformedRecord`, or what reading the text of its key throws.
    public init(json: ContiguousArray<UInt8>, at now: Timestamp) throws(KeyError) {
        let record = try KeyRecord(json)
        let publicKey = try SenderPublicKey(text: record.publicKey())
        try record.checkID(publicKey.id)
        self.init(
            publicKey: publicKey, topic: try record.topic(), generation: try record.number("generation") ?? 1,
            createdAt: try record.time("created") ?? now)
    }

    /// The record as minified JSON.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(publicKey.description, for: "public_key")
            json.string(publicKey.id.description, for: "key_id")
            if let topic { json.string(topic.bundleID, for: "topic") }
            json.integer(generation, for: "generation")
            json.integer(createdAt.milliseconds, for: "created")
        }
        return json.bytes
    }
}

/// A provider's answer to a registration, over the app's own authenticated channel.
///
/// It names the key that the provider seals to from now on, so that a late or repeated answer does not confirm another
/// key. It can also name the provider's key, which an app without a built-in key pins first. (`Docs/FormatRecords.md`,
/// Registration reply)
public struct RegistrationReply: Hashable, Sendable {
    /// The version of the reply that this library reads and writes.
    public static let version = 1

    /// The outcome of a registration.
    public enum Verdict: Hashable, Sendable {
        /// The provider seals to this key from now on.
        case acknowledged(DevicePublicKey)
        /// The provider has refused the record.
        case refused(Refusal)
    }

    /// The reason for refusing a record: 1 to 64 lower-case letters, digits and hyphens.
    public struct Refusal: Hashable, Sendable, LosslessStringConvertible {
        private static let maximumLength = 64

        /// The provider has a later key for this device id, or another one of the same generation: the device was
        /// restored from a backup and has to enrol under a new id.
        public static let generationRollback = Refusal(unchecked: "generation-rollback")
        /// The provider has this device id for another app.
        public static let topicMismatch = Refusal(unchecked: "topic-mismatch")

        /// The reason as programs read it.
        public let description: String

        /// Creates another reason; returns nil if the text is not valid.
        public init?(_ description: String) {
            guard (1...Self.maximumLength).contains(description.utf8.count),
                description.utf8.allSatisfy(\.isOfCode)
            else { return nil }
            self.init(unchecked: description)
        }

        private init(unchecked description: String) { self.description = description }
    }

    /// The outcome of the registration.
    public let verdict: Verdict
    /// The key that the provider signs with.
    public let sender: SenderPublicKey?

    /// Creates a reply.
    public init(_ verdict: Verdict, sender: SenderPublicKey? = nil) {
        self.verdict = verdict
        self.sender = sender
    }

    /// Parses a reply. Unknown members are ignored.
    ///
    /// - Throws: `malformedRecord` for anything but an object of version 1 with either `acknowledged` or `refused`, or
    ///   the error of a key in the reply.
    public init(json: ContiguousArray<UInt8>) throws(KeyError) {
        let record = try KeyRecord(json)
        guard try record.number("version") == UInt64(Self.version) else {
            throw KeyError(
                .malformedRecord, "the reply's version is not \(Self.version), the only one that this library supports")
        }
        let verdict: Verdict
        switch (try record.text("acknowledged"), try record.text("refused")) {
        case (let key?, nil): verdict = .acknowledged(try DevicePublicKey(text: key))
        case (nil, let reason?):
            guard let refusal = Refusal(reason) else {
                throw KeyError(.malformedRecord, "the reply's refused is not a reason: lower-case words with hyphens")
            }
            verdict = .refused(refusal)
        case (nil, nil), (_?, _?):
            throw KeyError(.malformedRecord, "the reply must have either acknowledged or refused")
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

/// A provider's announcement of its signing key to phones, built into the app or sent by the provider.
public struct SenderAnnouncement: Hashable, Sendable {
    /// The key to trust.
    public let publicKey: SenderPublicKey
    /// The app that the key is for; nil if the key is not bound to one.
    public let topic: Topic?
    /// The number of the key among the sender's keys.
    public let generation: UInt64
    /// When the key was generated.
    public let createdAt: Timestamp

    /// Creates an announcement.
    public init(publicKey: SenderPublicKey, topic: Topic?, generation: UInt64, createdAt: Timestamp) {
        self.publicKey = publicKey
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
    }

    /// Parses a sender's record; `generation` is 1 and `created` is `now` if they are missing.
    ///
    /// - Throws: `malformedRecord`, or the error of the key in the record.
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

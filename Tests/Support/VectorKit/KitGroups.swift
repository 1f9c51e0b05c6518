extension KitGroup {
    /// Every group that there is.
    public static let all: [KitGroup] = [
        envelopes, pushes, notifications, sequences, certificates, plans, contexts, keys, records, posts, replies,
        payloads,
        attachments, references, attachmentLists, reserved, fullBodies, suite2Envelopes, suite2Keys,
    ]

    // MARK: Opening

    /// Codes of step 2 but for the text itself, and of the steps after it.
    private static let laterCodes: Set = [
        "unknown-recipient-key", "authentication-failed", "unsupported-message", "wrong-push-class", "expired",
        "not-yet-valid", "malformed-payload",
    ]
    private static let openingCodes = laterCodes.union(["malformed-envelope", "unsupported-suite"])
    private static let pushCodes = openingCodes.union(["malformed-notification", "not-encrypted"])
    private static let before: Set = ["pin", "learned"]
    private static let after: Set = ["learned-after"]
    private static let opened: Set = ["payload-sha256", "message-id", "sent-at", "time-to-live", "provider", "epoch"]

    /// Texts under `ENCRYPTED_DATA`.
    public static let envelopes = ofEnvelopes("envelopes")

    /// The same, of suite 0x02.
    public static let suite2Envelopes = ofEnvelopes("suite-2-envelopes")

    private static func ofEnvelopes(_ name: String) -> KitGroup {
        KitGroup(
            name, taken: ["opened"], refused: openingCodes, once: ["time", "context", "fingerprint"],
            whenTaken: opened, optional: ["recipient-key-id", "bucket", "push-type"],
            many: before.union(after).union(["device", "told"]),
            bound: [
                after.union(["told"]): ["opened"],
                ["recipient-key-id", "bucket"]: laterCodes.union(["opened"]),
            ])
    }

    /// Whole pushes.
    public static let pushes = KitGroup(
        "pushes", taken: ["opened"], refused: pushCodes, once: ["time", "context"], whenTaken: opened,
        optional: ["push-type"],
        many: before.union(after).union(["device", "told"]),
        bound: [after.union(["told"]): ["opened"]])

    /// Lists of certificates, one after the other.
    public static let certificates = KitGroup(
        "certificates", taken: ["accepted", "unchanged"],
        refused: ["certificate-conflict", "malformed-certificate", "weak-key", "bad-certificate-signature"],
        once: ["context"], many: before.union(after).union(["body", "expect"]))

    /// The content of the next certificate.
    public static let plans = KitGroup(
        "plans", taken: ["accepted"], refused: ["epochs-exhausted"], once: ["time", "kind"],
        whenTaken: ["epoch", "floor", "grace-until", "expires-at"], optional: ["certificate", "proven", "lifetime"],
        many: ["past"])

    private static let fallback: Set = [
        "shown-title", "shown-title-key", "shown-title-arguments", "shown-subtitle", "shown-body", "shown-sound",
    ]
    private static let fields: Set = [
        "shown-subtitle-key", "shown-subtitle-arguments", "shown-body-key",
        "shown-body-arguments", "shown-launch-image", "shown-badge", "shown-thread-id", "shown-category",
        "shown-target-content-id", "shown-filter-criteria", "shown-interruption-level", "shown-relevance-score",
    ]

    /// Pushes, and what a person is shown of them.
    public static let notifications = KitGroup(
        "notifications", taken: ["opened", "passed"], refused: pushCodes, once: ["time", "context"],
        optional: fallback.union(fields).union(["may-pass-in-the-clear", "repeated", "shown-user-info-json"]),
        many: before.union(["device", "shown-user-info", "not-shown"]),
        bound: [fields.union(["shown-user-info", "shown-user-info-json"]): ["opened", "passed"]],
        withholds: { !$0.all("not-shown").isEmpty })

    /// Lists of a receiver's events.
    public static let sequences = KitGroup(
        "sequences", taken: ["new", "again", "copy", "accepted", "unchanged", "pinned", "unpinned"],
        refused: openingCodes.union([
            "again-handed-over", "seen", "again-quietly", "duplicate-quietly", "duplicate", "withdrawn",
            "certificate-conflict", "too-many-pins",
        ]),
        once: ["context", "floor"], optional: ["pending", "strict", "room"],
        many: before.union(after).union(["body", "device", "device-after", "account", "account-pin"]))

    // MARK: Sealing

    /// The inputs of a sealer.
    public static let payloads = KitGroup(
        "payloads", taken: ["accepted"], refused: ["refused"], once: ["push-type", "time", "time-to-live"],
        whenTaken: ["bucket", "payload-sha256", "clear", "length", "widest-length"],
        optional: ["title", "clear-sound", "certificate", "certificate-expires-at", "sent-exactly"],
        many: ["kept", "attachment"])

    // MARK: Keys

    /// Bundle ids.
    public static let contexts = KitGroup("contexts", taken: ["accepted"], refused: ["refused"])

    private static let keyCodes: Set = ["malformed-key", "wrong-checksum", "wrong-kind-of-key", "weak-key"]

    /// The texts of keys.
    public static let keys = KitGroup(
        "keys", taken: ["accepted"], refused: keyCodes, once: ["kind"], optional: ["bytes", "key-id", "public-key"],
        bound: [["key-id", "public-key"]: ["accepted"], ["bytes"]: ["accepted", "weak-key"]])

    /// The texts of keys of suite 0x02.
    public static let suite2Keys = KitGroup(
        "suite-2-keys", taken: ["accepted"], refused: keyCodes, once: ["kind"],
        optional: ["bytes", "key-id", "public-key"],
        bound: [["key-id", "public-key", "bytes"]: ["accepted"]])

    private static let recordCodes = keyCodes.union(["malformed-record"])
    private static let recordMembers: Set = [
        "device", "suites", "topic", "created", "provider", "certificate", "app-version", "token", "environment",
        "update-key", "sequence", "nonce", "grant", "stale",
    ]

    /// A record of a phone's key, or of a provider's.
    public static let records = KitGroup(
        "records", taken: ["accepted"],
        refused: recordCodes.union([
            "user-mismatch", "generation-rollback", "generation-too-high", "suite-downgrade", "unsupported-suite",
            "topic-mismatch", "key-taken",
        ]), once: ["kind"], whenTaken: ["key", "generation"],
        optional: recordMembers.union([
            "checked", "held-key", "held-generation", "held-topic", "held-user", "removed", "user", "elsewhere",
            "replace", "seals",
        ]), many: ["provider-has", "issued", "foreign"],
        bound: [recordMembers: ["accepted"], ["foreign"]: ["accepted"]],
        withholds: { !$0.all("foreign").isEmpty || $0.optional("stale") != nil })

    /// Posts of phones to a provider, one after another.
    public static let posts = KitGroup(
        "posts", taken: ["added", "updated", "unchanged", "ended", "hello"],
        refused: recordCodes.union([
            "unknown-device", "bad-record-signature", "stale-record", "user-mismatch", "generation-rollback",
            "generation-too-high", "suite-downgrade", "unsupported-suite", "topic-mismatch", "key-taken",
        ]), once: ["context", "provider-seed", "id"],
        optional: [
            "key-after", "removed-after", "update-key-after", "sequence-after", "user-after", "grant-after", "seals",
        ], many: ["body", "foreign"], bound: [["foreign"]: ["added", "updated", "unchanged"]],
        withholds: { !$0.all("foreign").isEmpty })

    private static let replyMembers: Set = [
        "acknowledged", "refused", "ended", "hello", "sequence", "provider", "certificate", "push-key",
        "next-push-key", "grant", "suites",
    ]

    /// A provider's reply.
    public static let replies = KitGroup(
        "replies", taken: ["accepted"], refused: recordCodes, once: ["device", "context"], whenTaken: ["confirms"],
        optional: replyMembers.union(["built-in"]), many: before.union(after).union(["foreign", "pin-after", "told"]),
        bound: [replyMembers: ["accepted"], after.union(["foreign", "pin-after", "told"]): ["accepted"]],
        withholds: { reply in
            let provider = reply.all("provider")
            let isPassedOver = reply.all("pin-after").isEmpty && !provider.isEmpty && provider != reply.all("pin")
            return reply.optional("confirms") == "no" || !reply.all("told").isEmpty || isPassedOver
        })

    // MARK: Attachments

    /// Sealed files.
    public static let attachments = KitGroup(
        "attachments", taken: ["opened"],
        refused: [
            "not-a-sealed-file", "authentication-failed", "wrong-size", "wrong-hash",
        ], once: ["key", "size", "sha256"], whenTaken: ["plain-size", "plain-sha256"])

    /// References to sealed files.
    public static let references = KitGroup(
        "references", taken: ["accepted"], refused: ["malformed-reference"],
        whenTaken: ["url", "key", "size", "sha256", "type", "file-name"])

    /// Payloads with references.
    public static let attachmentLists = KitGroup(
        "attachment-lists", taken: ["opened"], refused: [], optional: ["full-body"], many: ["attachment", "dropped"],
        withholds: { !$0.all("dropped").isEmpty })

    /// Payloads with withdrawals, drops and senders.
    public static let reserved = KitGroup(
        "reserved", taken: ["opened"], refused: [],
        optional: ["drop", "sender-name", "handle", "conversation", "avatar"],
        many: ["withdraws", "recipient", "dropped"],
        withholds: { $0.optional("drop") == nil && $0.optional("sender-name") == nil && $0.all("withdraws").count != 2 }
    )

    /// Plain files of full bodies.
    public static let fullBodies = KitGroup("full-bodies", taken: ["accepted"], refused: ["malformed-file"])
}

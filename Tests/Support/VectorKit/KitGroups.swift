extension KitGroup {
    /// Every group that there is.
    public static let all: [KitGroup] = [
        envelopes, pushes, notifications, sequences, statements, contexts, keys, records, replies, payloads,
        attachments, references, attachmentLists, reserved, fullBodies, stores, suite2Envelopes, suite2Keys,
    ]

    // MARK: Opening

    /// Codes of step 2 but for the text itself, and of the steps after it.
    private static let laterCodes: Set = [
        "unknown-recipient-key", "authentication-failed", "rotation-conflict", "recovery-conflict",
        "unsupported-message", "expired", "not-yet-valid", "malformed-payload",
    ]
    private static let openingCodes = laterCodes.union(["malformed-envelope", "unsupported-suite"])
    private static let pushCodes = openingCodes.union(["malformed-notification", "not-encrypted"])
    private static let before: Set = ["sender", "superseded", "recovery", "last-recovery"]
    private static let after: Set = ["sender-after", "superseded-after", "last-recovery-after"]
    private static let opened: Set = ["payload-sha256", "message-id", "sent-at", "time-to-live", "signed-by"]

    /// Texts under `ENCRYPTED_DATA`.
    public static let envelopes = KitGroup(
        "envelopes", taken: ["opened"], refused: openingCodes, once: ["time", "context", "fingerprint"],
        whenTaken: opened, optional: ["recipient-key-id", "bucket"],
        many: before.union(after).union(["device", "told"]),
        bound: [
            after.union(["told"]): ["opened"],
            ["recipient-key-id", "bucket"]: laterCodes.union(["opened"]),
        ])

    /// The same, of suite 0x02.
    public static let suite2Envelopes = KitGroup(
        "suite-2-envelopes", taken: ["opened"], refused: openingCodes, once: ["time", "context", "fingerprint"],
        whenTaken: opened, optional: ["recipient-key-id", "bucket"],
        many: before.union(after).union(["device", "told"]),
        bound: [
            after.union(["told"]): ["opened"],
            ["recipient-key-id", "bucket"]: laterCodes.union(["opened"]),
        ])

    /// Whole pushes.
    public static let pushes = KitGroup(
        "pushes", taken: ["opened"], refused: pushCodes, once: ["time", "context"], whenTaken: opened,
        many: before.union(after).union(["device", "told"]),
        bound: [after.union(["told"]): ["opened"]])

    /// Lists of rotation and recovery statements.
    public static let statements = KitGroup(
        "statements", taken: ["accepted", "unchanged"],
        refused: [
            "malformed-statement", "untrusted-old-key", "bad-statement-signature", "weak-key", "rotation-conflict",
            "superseded-new-key", "overlap-too-long", "statement-not-yet-valid", "statement-expired",
            "unknown-recovery-key", "recovery-conflict",
        ], once: ["time", "context"], many: before.union(after).union(["body", "expect", "told"]),
        bound: [after: ["accepted"]])

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
        optional: fallback.union(fields).union(["may-pass-in-the-clear", "repeated"]),
        many: before.union(["device", "shown-user-info", "not-shown"]),
        bound: [fields.union(["shown-user-info"]): ["opened", "passed"]],
        withholds: { !$0.all("not-shown").isEmpty })

    /// Lists of a receiver's events.
    public static let sequences = KitGroup(
        "sequences", taken: ["new", "again", "copy"],
        refused: openingCodes.union([
            "again-handed-over", "seen", "again-quietly", "duplicate-quietly", "duplicate", "withdrawn",
        ]),
        once: ["context", "floor"], optional: ["pending", "strict", "room"],
        many: before.union(after).union(["body", "device", "device-after", "account"]))

    // MARK: Sealing

    /// The inputs of a sealer.
    public static let payloads = KitGroup(
        "payloads", taken: ["accepted"], refused: ["refused"], once: ["push-type", "time", "time-to-live"],
        whenTaken: ["bucket", "payload-sha256", "clear", "length", "widest-length"],
        optional: ["title", "clear-sound", "statements", "sent-exactly"], many: ["kept", "attachment"])

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
    private static let recordMembers: Set = ["device", "suites", "topic", "created", "sender", "app-version"]

    /// A record of a phone's key, or of a provider's.
    public static let records = KitGroup(
        "records", taken: ["accepted"],
        refused: recordCodes.union([
            "user-mismatch", "generation-rollback", "generation-too-high", "suite-downgrade", "unsupported-suite",
            "topic-mismatch", "key-taken",
        ]), once: ["kind"], whenTaken: ["key", "generation"],
        optional: recordMembers.union([
            "held-key", "held-generation", "held-topic", "held-user", "user", "elsewhere", "replace", "seals",
        ]), many: ["recovery", "provider-has", "foreign"],
        bound: [recordMembers: ["accepted"], ["foreign"]: ["accepted"]],
        withholds: { !$0.all("foreign").isEmpty })

    private static let replyMembers: Set = ["acknowledged", "refused", "sender", "pinned-after"]

    /// A provider's reply.
    public static let replies = KitGroup(
        "replies", taken: ["accepted"], refused: recordCodes, once: ["device"], whenTaken: ["confirms"],
        optional: replyMembers.union(["pinned"]),
        many: ["recovery", "held-recovery", "built-in", "foreign", "recovery-after"],
        bound: [replyMembers: ["accepted"]],
        withholds: { reply in
            let isPassedOver = reply.optional("confirms") == "no"
            return isPassedOver || reply.optional("sender").map { $0 != reply.optional("pinned-after") } ?? false
        })

    private static let storeCodes: Set = [
        "corrupt-store", "newer-version", "older-version", "wrong-passphrase", "passphrase-needed", "store-key-missing",
    ]
    private static let rows: Set = ["device-key", "sender-key", "trusted", "device", "setting"]

    /// Databases of key stores.
    public static let stores = KitGroup(
        "stores", taken: ["opened"], refused: storeCodes, optional: ["store-key", "passphrase", "fails-at"],
        many: rows.union(["body"]), bound: [rows: ["opened"], ["fails-at"]: storeCodes])

    // MARK: Attachments

    /// Sealed files.
    public static let attachments = KitGroup(
        "attachments", taken: ["opened"],
        refused: [
            "not-a-sealed-file", "authentication-failed", "malformed-file", "truncated-file", "wrong-size",
            "wrong-hash",
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

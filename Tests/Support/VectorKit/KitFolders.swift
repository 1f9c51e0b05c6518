extension KitFolder {
    /// Every folder that there is.
    public static let all: [KitFolder] = [
        envelopes, pushes, notifications, sequences, statements, contexts, keys, records, replies, payloads,
        attachments,
        references, attachmentLists, fullBodies, stores,
    ]

    // MARK: Opening

    private static let openingCodes: Set = [
        "opened", "malformed-envelope", "unsupported-suite", "unknown-recipient-key", "authentication-failed",
        "rotation-conflict", "unsupported-message", "expired", "not-yet-valid", "malformed-payload",
    ]
    private static let trust: Set = ["sender", "superseded", "sender-after", "superseded-after"]
    private static let opened: Set = [
        "payload-sha256", "message-id", "sent-at", "time-to-live", "signed-by", "told",
    ]

    /// Texts under `ENCRYPTED_DATA`.
    public static let envelopes = KitFolder(
        "envelopes", openingCodes, once: ["time", "context", "fingerprint"],
        optional: opened.union(["recipient-key-id", "bucket"]), many: trust.union(["device"]))

    /// Whole pushes.
    public static let pushes = KitFolder(
        "pushes", pushCodes, once: ["time", "context"],
        optional: opened, many: trust.union(["device"]))

    /// Rotation statements, one a line.
    public static let statements = KitFolder(
        "statements",
        [
            "accepted", "unchanged", "malformed-statement", "untrusted-old-key", "bad-statement-signature", "weak-key",
            "rotation-conflict", "superseded-new-key", "overlap-too-long", "statement-not-yet-valid",
            "statement-expired",
        ], once: ["time"], many: trust.union(["expect"]))

    private static let pushCodes = openingCodes.union(["malformed-notification", "not-encrypted"])

    /// Pushes, and what a person is shown of them.
    public static let notifications = KitFolder(
        "notifications", pushCodes.union(["passed"]), once: ["time", "context"],
        optional: [
            "may-pass-in-the-clear", "shown-title", "shown-title-key", "shown-title-arguments", "shown-subtitle",
            "shown-subtitle-key", "shown-subtitle-arguments", "shown-body", "shown-body-key", "shown-body-arguments",
            "shown-launch-image", "shown-badge", "shown-sound", "shown-thread-id", "shown-category",
            "shown-target-content-id", "shown-filter-criteria", "shown-interruption-level", "shown-relevance-score",
        ], many: trust.union(["device", "shown-user-info"]))

    /// Envelopes one after the other, one a line.
    public static let sequences = KitFolder(
        "sequences", openingCodes.union(["new", "again", "again-quietly", "duplicate-quietly", "duplicate"]),
        once: ["context", "floor"], optional: ["pending", "strict"], many: trust.union(["device", "device-after"]))

    // MARK: Sealing

    /// What a provider gives a sealer.
    public static let payloads = KitFolder(
        "payloads", ["accepted", "refused"], once: ["push-type", "time", "time-to-live"],
        optional: [
            "title", "clear-sound", "statements", "sent-exactly", "bucket", "payload-sha256", "clear", "length",
            "widest-length",
        ], many: ["kept", "attachment"])

    // MARK: Keys

    /// Bundle ids.
    public static let contexts = KitFolder("contexts", ["accepted", "refused"])

    /// The texts of keys.
    public static let keys = KitFolder(
        "keys", ["accepted", "malformed-key", "wrong-checksum", "wrong-kind-of-key", "weak-key"], once: ["kind"],
        optional: ["bytes", "key-id", "public-key"])

    private static let recordCodes: Set = [
        "accepted", "malformed-record", "malformed-key", "wrong-checksum", "wrong-kind-of-key", "weak-key",
    ]

    /// What a phone tells its provider of its key, or a provider its phones.
    public static let records = KitFolder(
        "records", recordCodes.union(["generation-rollback", "topic-mismatch"]), once: ["kind"],
        optional: [
            "held-key", "held-generation", "held-topic", "set-up-anew", "key", "device", "suites", "topic",
            "generation", "created", "sender", "app-version",
        ])

    /// What a provider answers.
    public static let replies = KitFolder(
        "replies", recordCodes, once: ["device"],
        optional: [
            "pinned", "acknowledged", "refused", "sender", "confirms", "pinned-after",
        ])

    /// Databases of key stores.
    public static let stores = KitFolder(
        "stores",
        [
            "opened", "corrupt-store", "newer-version", "wrong-passphrase", "passphrase-needed", "store-key-missing",
        ], optional: ["store-key", "passphrase", "fails-at"],
        many: ["device-key", "sender-key", "trusted", "device", "setting"])

    // MARK: Attachments

    /// Sealed files.
    public static let attachments = KitFolder(
        "attachments",
        [
            "opened", "not-a-sealed-file", "authentication-failed", "malformed-file", "truncated-file", "wrong-size",
            "wrong-hash",
        ], once: ["key", "size", "sha256"], optional: ["plain-size", "plain-sha256"])

    /// References to sealed files.
    public static let references = KitFolder(
        "references", ["accepted", "malformed-reference"], optional: ["url", "key", "size", "sha256", "type", "name"])

    /// Payloads with references.
    public static let attachmentLists = KitFolder(
        "attachment-lists", ["opened"], optional: ["full-body"], many: ["attachment", "dropped"])

    /// Plain files of full bodies.
    public static let fullBodies = KitFolder("full-bodies", ["accepted", "malformed-file"])
}

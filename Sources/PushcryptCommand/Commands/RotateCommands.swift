internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let rotate = Command(group: "rotate", "change a key without losing a notification in flight") {
        CommandGroup(
            commands: [
                Command("device", "change this device's key", RotateDeviceCommand.self),
                Command("sender", "change this provider's signing key", RotateSenderCommand.self),
                Command("signer", "change a signing key that is in no store", RotateSignerCommand.self),
            ])
    }
}

extension Arguments {
    /// `--if-older-than`.
    fileprivate mutating func minimumAge() -> Interval? {
        seconds(
            "--if-older-than", "TIME", 1...3650 * 86_400, help: "do nothing while the key is younger, for cron"
        ).map { .seconds(UInt64($0)) }
    }

    mutating func overlap() -> Interval {
        seconds(
            "--overlap", "TIME", 0...Int(RotationStatement.maximumOverlap.seconds),
            help: "how long devices accept messages of the old key; default 31d"
        ).map { .seconds(UInt64($0)) } ?? RotationStatement.standardOverlap
    }

    mutating func announcement(help: String) -> Interval {
        seconds("--announce", "TIME", 86_400...400 * 86_400, help: help).map { .seconds(UInt64($0)) }
            ?? SQLiteKeyStore.standardAnnouncement
    }
}

extension Console {
    fileprivate func hintYoung(_ date: Timestamp?) {
        hint("the key was made \(date.map { "\($0)" } ?? "just now"): nothing to do yet")
    }

    fileprivate func hintPurged(_ keys: [DeviceKeyRecord]) {
        let ids = keys.map(\.keyID.description).joined(separator: ", ")
        hint("ending \(ids): what is sealed to \(keys.count == 1 ? "it" : "them") opens no more")
    }
}

// MARK: Device

struct RotateDeviceCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Creates a pending key, or finds the pending one, and prints what to register. It opens from now on. Register it with the provider, then run --confirm; the first message that opens with it also confirms it. See Docs/KeyRotation.md."
            ],
            examples: [
                Example("pushcrypt rotate device --json", "the record to register"),
                Example("pushcrypt rotate device --confirm"), Example("pushcrypt rotate device --purge"),
            ])
    }

    private let name: String?
    private let confirms: Bool
    private let acknowledged: String?
    private let purges: Bool
    private let purgesEverything: Bool
    /// In seconds.
    private let grace: Int?
    private let minimumAge: Interval?
    private let isPostQuantum: Bool
    private let clock: ClockArgument
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        name = arguments.keyName(of: .deviceKey)
        isPostQuantum = arguments.postQuantum()
        confirms = arguments.flag(
            "--confirm", help: "the provider has the pending key: make it active")
        acknowledged = arguments.value(
            "--key", "KEY-ID",
            help: "with --confirm: the acknowledged key; nothing happens if another is pending")
        purges = arguments.flag("--purge", help: "destroy the old keys whose grace period has passed")
        purgesEverything = arguments.flag(
            "--everything", help: "with --purge: destroy every key of the name, for a log-out")
        grace = arguments.seconds(
            "--grace", "TIME", 0...400 * 86_400,
            help:
                "with --confirm: how long the old key opens; default the store's, or 31d"
        )
        minimumAge = arguments.minimumAge()
        clock = ClockArgument(&arguments)
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        arguments.atMostOne(of: "--confirm", "--purge", "--if-older-than")
        arguments.option("--post-quantum", excludes: ["--confirm", "--purge"], hint: "it is about a new key")
        arguments.option("--everything", needs: "--purge")
        arguments.option("--key", needs: "--confirm")
        arguments.option("--grace", needs: "--confirm")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        if purges { return try purge(store, console) }
        if confirms { return try confirm(store, console) }
        return try rotate(store, console)
    }

    private func rotate(_ store: SQLiteKeyStore, _ console: Console) throws(CommandFailure) -> ExitCode {
        let record = try withStoreErrors { () throws(KeyStoreError) in
            try store.rotateDeviceKey(
                named: name, suite: isPostQuantum ? .xwing : nil, ifOlderThan: minimumAge,
                clock: clock.assurance(console), at: console.timestamp)
        }
        guard let record else {
            let keys = try withStoreErrors { () throws(KeyStoreError) in try store.deviceKeys(named: name) }
            console.hintYoung(keys.map(\.createdAt).max())
            return .done
        }
        let text = try isJSON ? registrationText(record, store) : "\(record.publicKey)"
        try console.write(text + "\n")
        let named = name.map { " --name \(quoted($0))" } ?? ""
        console.hint(
            "key \(record.keyID) is pending and opens already; register it (pushcrypt export device\(named) --json), then: pushcrypt rotate device\(named) --confirm"
        )
        return .done
    }

    private func confirm(_ store: SQLiteKeyStore, _ console: Console) throws(CommandFailure) -> ExitCode {
        let setting = try withStoreErrors { () throws(KeyStoreError) in try store.seconds(.grace) }
        let grace = (grace ?? setting).map { Interval.seconds(UInt64($0)) } ?? SQLiteKeyStore.standardGrace
        let keyID = acknowledged.flatMap(KeyID.init)
        if keyID == nil, let acknowledged {
            throw .usage(
                "--key cannot be \(quoted(acknowledged))",
                hint: "write the key_id of the record, eight hexadecimal digits")
        }
        let record = try withStoreErrors { () throws(KeyStoreError) in
            try store.confirmDeviceKey(
                named: name, acknowledged: keyID, grace: grace, clock: clock.assurance(console),
                at: console.timestamp)
        }
        guard let record else {
            console.hint(
                keyID.map { "key \($0) is not pending: it was confirmed before, or the reply is an old one" }
                    ?? "no key is pending: it was confirmed before, or a message has confirmed it")
            return .done
        }
        if isJSON { try console.write(registrationText(record, store) + "\n") }
        let old = grace.seconds == 0 ? "opens no more" : "opens for \(durationText(Int(clamping: grace.seconds))) more"
        console.hint("key \(record.keyID) is active; the old one \(old)")
        return .done
    }

    private func purge(_ store: SQLiteKeyStore, _ console: Console) throws(CommandFailure) -> ExitCode {
        let now = console.timestamp
        let purged = try withStoreErrors { () throws(KeyStoreError) in
            purgesEverything
                ? try store.purgeDeviceKeys(named: name, willEnd: console.hintPurged)
                : try store.purgeRetiredDeviceKeys(
                    named: name, clock: clock.assurance(console), at: now, willEnd: console.hintPurged)
        }
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                json.array(for: "purged") { json in
                    for record in purged { json.string(record.keyID.description) }
                }
            }
            try console.write(line: json.bytes)
        }
        if purged.isEmpty {
            let keys = (try? store.deviceKeys(named: name)) ?? []
            let end = keys.compactMap(\.retiresAt).min()
            let reason = end.map { "the next one opens until \($0)" } ?? "none is retiring"
            console.hint("no key is destroyed: \(reason)")
            if let end, end < now {
                console.hint(
                    "that is over only if the clock is right, which shows \(now), long after the store's last change; \(ClockArgument.option) says so"
                )
            }
        } else {
            console.hint("destroyed: \(purged.map(\.keyID.description).joined(separator: ", "))")
        }
        return .done
    }
}

// MARK: Sender

struct RotateSenderCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Creates a key, signs a statement with the old and the new one, and destroys the old. Messages carry the statement while it is announced, so a phone that was off still opens its next push.",
                "After a theft or a lost store, use --recover if the app has a recovery key: prepare here, sign with 'recover sign' where the key is, finish here. Otherwise use 'sender trust --replace' on the devices.",
            ],
            examples: [
                Example("pushcrypt rotate sender --if-older-than 30d", "from cron"),
                Example(
                    "pushcrypt rotate sender --recover prepare --recovery-key pcv1… --output request.json",
                    "after a theft"),
                Example("pushcrypt rotate sender --recover finish statement.json"),
            ])
    }

    private let name: String?
    private let overlap: Interval
    private let announcement: Interval
    private let force: Bool
    private let minimumAge: Interval?
    private let recovery: RecoveryArguments
    private let clock: ClockArgument
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        name = arguments.keyName(of: .providerKey)
        overlap = arguments.overlap()
        announcement = arguments.announcement(help: "how long messages carry the statement; default 60d")
        force = arguments.flag(
            "--force", help: "rotate even if four statements are announced already, or replace the output file")
        minimumAge = arguments.minimumAge()
        recovery = RecoveryArguments(&arguments)
        clock = ClockArgument(&arguments)
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        switch recovery.step {
        case .prepare:
            try recovery.prepare(named: name, in: store, clock.assurance(console), force: force, console)
            return .done
        case .finish:
            try recovery.finish(named: name, in: store, clock.assurance(console), isJSON: isJSON, console)
            return .done
        case nil: try recovery.refuseStatement()
        }
        let rotation = try withStoreErrors { () throws(KeyStoreError) in
            try store.rotateProviderKey(
                named: name, ifOlderThan: minimumAge, overlap: overlap, announceFor: announcement, force: force,
                clock: clock.assurance(console), at: console.timestamp
            ) { old, end in
                console.hint(
                    "ending key \(old.keyID) of \(quoted(old.name)): nothing brings it back, and what it has signed opens until \(end)"
                )
            }
        }
        guard let rotation else {
            let record = try withStoreErrors { () throws(KeyStoreError) in try store.providerKey(named: name).record }
            console.hintYoung(record.createdAt)
            return .done
        }
        // Before the output, which may fail: a caller who sees only the failure would rotate once more.
        console.hint(
            "key \(rotation.statement.keyID) is destroyed; messages announce \(rotation.record.keyID) for \(durationText(Int(clamping: announcement.seconds))), and devices follow automatically"
        )
        try console.write((isJSON ? announcementText(rotation.record, store) : "\(rotation.record.publicKey)") + "\n")
        return .done
    }
}

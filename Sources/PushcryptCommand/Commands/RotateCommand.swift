internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let rotate = Command(
        group: "rotate", "change a key without losing a notification in flight",
        examples: [Example("pushcrypt rotate device"), Example("pushcrypt rotate sender --if-older-than 30d")],
        commands: [rotateDevice, rotateSender])

    private static let rotateDevice = Command(
        "device", "change this device's key",
        discussion: [
            "Without --confirm or --purge: makes a pending key, or finds the one that is pending already, and prints what to register. It opens from now on. Register it with the provider, then confirm; the first message that opens with it confirms too. The old key goes on opening for the grace."
        ],
        options: [
            .name(of: .deviceKey),
            Option(flag: "--confirm", help: "the provider has the pending key: it becomes the active one"),
            Option(
                "--key", "KEY-ID",
                help:
                    "with --confirm: the key that the provider has acknowledged; nothing happens if another is pending"),
            Option(flag: "--purge", help: "destroy the old keys whose grace has passed"),
            Option(flag: "--everything", help: "with --purge: destroy every key of the name at once, for a log-out"),
            Option(
                "--grace", "TIME", .duration(0...400 * 86_400),
                help:
                    "how long the old key goes on opening; otherwise the store's, otherwise 31d, because a push is kept for 30"
            ),
            olderThan, .store, .passphraseFile, .json,
        ],
        examples: [
            Example("pushcrypt rotate device --json", "the record to register"),
            Example("pushcrypt rotate device --confirm"), Example("pushcrypt rotate device --purge"),
        ], run: runRotateDevice)

    private static let rotateSender = Command(
        "sender", "change this provider's signing key",
        discussion: [
            "Makes a new key, signs a statement with the old and the new one, and destroys the old. Every message carries the statement while it is announced, so that a phone that was off for all of it still opens its next push. This is hygiene; after a theft use 'sender trust --replace' on the devices."
        ],
        options: [
            .name(of: .senderKey),
            Option(
                "--overlap", "TIME", .duration(0...Int(RotationStatement.maximumOverlap.seconds)),
                help: "how long devices go on taking messages of the old key; 31d otherwise"),
            Option(
                "--announce", "TIME", .duration(86_400...400 * 86_400),
                help: "how long messages carry the statement; 60d otherwise"),
            Option(flag: "--force", help: "rotate although four statements are being announced already"),
            olderThan, .store, .passphraseFile, .json,
        ],
        examples: [Example("pushcrypt rotate sender --if-older-than 30d", "from cron")], run: runRotateSender)

    private static let olderThan = Option(
        "--if-older-than", "TIME", .duration(1...3650 * 86_400), help: "do nothing while the key is younger, for cron")
}

// MARK: Device

private func runRotateDevice(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--confirm", "--purge", "--if-older-than")
    if invocation.flag("--everything"), !invocation.flag("--purge") {
        throw .usage("--everything goes with --purge")
    }
    if invocation.flag("--key"), !invocation.flag("--confirm") { throw .usage("--key goes with --confirm") }
    if invocation.flag("--grace"), !invocation.flag("--confirm") { throw .usage("--grace goes with --confirm") }
    let store = try console.openStore(invocation)
    if invocation.flag("--purge") { return try purge(store, invocation, console) }
    if invocation.flag("--confirm") { return try confirm(store, invocation, console) }

    let name = invocation.value("--name")
    let now = console.timestamp
    let records = try withStoreErrors { () throws(KeyStoreError) in try store.deviceKeys(named: name) }
    if let age = invocation.seconds("--if-older-than"), let newest = records.map(\.createdAt).max(),
        now.milliseconds(since: newest) < UInt64(age) * 1000
    {
        console.hint("the key was made \(newest): nothing to do yet")
        return .done
    }
    let record = try withStoreErrors { () throws(KeyStoreError) in try store.rotateDeviceKey(named: name, at: now) }
    let text = try invocation.flag("--json") ? registrationText(record, store) : "\(record.publicKey)"
    try console.write(text + "\n")
    let named = name.map { " --name \(quoted($0))" } ?? ""
    console.hint(
        "key \(record.keyID) is pending and opens already; register it (pushcrypt export device\(named) --json), then: pushcrypt rotate device\(named) --confirm"
    )
    return .done
}

private func confirm(
    _ store: SQLiteKeyStore, _ invocation: Invocation, _ console: Console
) throws(CommandFailure) -> ExitCode {
    let setting = try withStoreErrors { () throws(KeyStoreError) in try store.seconds(.grace) }
    let grace = (invocation.seconds("--grace") ?? setting).map { .seconds(UInt64($0)) } ?? SQLiteKeyStore.standardGrace
    let acknowledged = invocation.value("--key").flatMap(KeyID.init)
    if acknowledged == nil, let text = invocation.value("--key") {
        throw .usage(
            "--key cannot be \(quoted(text))", hint: "write the key_id of the record, eight hexadecimal digits")
    }
    let record = try withStoreErrors { () throws(KeyStoreError) in
        try store.confirmDeviceKey(
            named: invocation.value("--name"), acknowledged: acknowledged, grace: grace, at: console.timestamp)
    }
    guard let record else {
        console.hint(
            acknowledged.map { "key \($0) is not pending: it was confirmed before, or the reply is an old one" }
                ?? "no key is pending: it was confirmed before, or a message has confirmed it")
        return .done
    }
    if invocation.flag("--json") { try console.write(registrationText(record, store) + "\n") }
    let old = grace.seconds == 0 ? "opens no more" : "opens for \(durationText(Int(clamping: grace.seconds))) more"
    console.hint("key \(record.keyID) is active; the old one \(old)")
    return .done
}

private func purge(
    _ store: SQLiteKeyStore, _ invocation: Invocation, _ console: Console
) throws(CommandFailure) -> ExitCode {
    let purged = try withStoreErrors { () throws(KeyStoreError) in
        let name = invocation.value("--name")
        return invocation.flag("--everything")
            ? try store.purgeDeviceKeys(named: name)
            : try store.purgeRetiredDeviceKeys(named: name, at: console.timestamp)
    }
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { json in
            json.array(for: "purged") { json in
                for record in purged { json.string(record.keyID.description) }
            }
        }
        try console.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    }
    if purged.isEmpty {
        let keys = (try? store.deviceKeys(named: invocation.value("--name"))) ?? []
        let end = keys.compactMap(\.retiresAt).min()
        let reason = end.map { "the next one opens until \($0)" } ?? "none is retiring"
        console.hint("no key is destroyed: \(reason)")
    } else {
        console.hint("destroyed: \(purged.map(\.keyID.description).joined(separator: ", "))")
    }
    return .done
}

// MARK: Sender

private func runRotateSender(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let name = invocation.value("--name")
    let now = console.timestamp
    if let age = invocation.seconds("--if-older-than") {
        let record = try withStoreErrors { () throws(KeyStoreError) in try store.senderKey(named: name).record }
        if now.milliseconds(since: record.createdAt) < UInt64(age) * 1000 {
            console.hint("the key was made \(record.createdAt): nothing to do yet")
            return .done
        }
    }
    let announce = invocation.seconds("--announce").map { .seconds(UInt64($0)) } ?? SQLiteKeyStore.standardAnnouncement
    let overlap = invocation.seconds("--overlap").map { .seconds(UInt64($0)) } ?? RotationStatement.standardOverlap
    let rotation = try withStoreErrors { () throws(KeyStoreError) in
        try store.rotateSenderKey(
            named: name, overlap: overlap, announceFor: announce, force: invocation.flag("--force"),
            at: now)
    }
    // Before the output, which may fail: whoever sees only the failure would rotate once more.
    console.hint(
        "key \(rotation.statement.oldKeyID) is destroyed; messages announce \(rotation.record.keyID) for \(durationText(Int(clamping: announce.seconds))), and devices follow by themselves"
    )
    try console.write(
        (invocation.flag("--json") ? announcementText(rotation.record) : "\(rotation.record.publicKey)") + "\n")
    return .done
}

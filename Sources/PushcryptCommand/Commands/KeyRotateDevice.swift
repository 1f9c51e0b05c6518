internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The rotation of a device's key: a new one is pending until the provider has it.
struct DeviceRotation: Sendable {
    private let confirms: Bool
    private let acknowledged: String?
    private let purges: Bool
    /// In seconds.
    private let grace: Int?
    private let isPostQuantum: Bool
    /// The names of the options that were given.
    let given: [String]

    init(_ arguments: inout Arguments) {
        ((confirms, acknowledged, purges, grace, isPostQuantum), given) = arguments.given { arguments in
            arguments.group("of a device's key")
            let confirms = arguments.flag("--confirm", help: "the provider has the pending key: make it active")
            let purges = arguments.flag("--purge", help: "destroy the old keys whose grace period has passed")
            arguments.group("of a device's key", isAdvanced: true)
            return (
                confirms,
                arguments.value(
                    "--acknowledged", "KEY-ID",
                    help: "with --confirm: the acknowledged key; nothing happens if another is pending"),
                purges,
                arguments.seconds(
                    "--grace", "TIME", 0...400 * 86_400,
                    help: "with --confirm: how long the old key opens; default the store's, or 31d"),
                arguments.postQuantum()
            )
        }
        arguments.atMostOne(of: "--confirm", "--purge", "--if-older-than")
        arguments.option("--post-quantum", excludes: ["--confirm", "--purge"], hint: "it is about a new key")
        arguments.option("--acknowledged", needs: "--confirm")
        arguments.option("--grace", needs: "--confirm")
    }

    func run(_ key: RotatedKey, _ console: Console) throws(CommandFailure) -> ExitCode {
        if purges { return try purge(key, console) }
        if confirms { return try confirm(key, console) }
        return try rotate(key, console)
    }

    private func rotate(_ key: RotatedKey, _ console: Console) throws(CommandFailure) -> ExitCode {
        let record = try withStoreErrors { () throws(KeyStoreError) in
            try key.store.rotateDeviceKey(
                named: key.name, suite: isPostQuantum ? .xwing : nil, ifOlderThan: key.minimumAge,
                at: console.timestamp)
        }
        guard let record else {
            let keys = try withStoreErrors { () throws(KeyStoreError) in try key.store.deviceKeys(named: key.name) }
            console.hintYoung(keys.map(\.createdAt).max())
            return .done
        }
        let text = try key.isJSON ? registrationText(record, key.store) : "\(record.publicKey)"
        try console.write(text + "\n")
        let named = key.name.map { " \(quoted($0))" } ?? ""
        console.changed("\(record.text(after: "rotated")), pending, opens already")
        console.hint(
            "register it (pushcrypt key show\(named) --json), then: pushcrypt key rotate\(named) --confirm")
        return .done
    }

    private func confirm(_ key: RotatedKey, _ console: Console) throws(CommandFailure) -> ExitCode {
        let setting = try withStoreErrors { () throws(KeyStoreError) in try key.store.seconds(.grace) }
        let grace = (grace ?? setting).map { Interval.seconds(UInt64($0)) } ?? SQLiteKeyStore.standardGrace
        let keyID = acknowledged.flatMap(KeyID.init)
        if keyID == nil, let acknowledged {
            throw .usage(
                "--acknowledged cannot be \(quoted(acknowledged))",
                hint: "write the key_id of the record, eight hexadecimal digits")
        }
        let record = try withStoreErrors { () throws(KeyStoreError) in
            try key.store.confirmDeviceKey(
                named: key.name, acknowledged: keyID, grace: grace, at: console.timestamp)
        }
        guard let record else {
            console.hint(
                keyID.map { "key \($0) is not pending: it was confirmed before, or the reply is an old one" }
                    ?? "no key is pending: it was confirmed before, or a message has confirmed it")
            return .done
        }
        if key.isJSON { try console.write(registrationText(record, key.store) + "\n") }
        let old = grace.seconds == 0 ? "opens no more" : "opens for \(durationText(Int(clamping: grace.seconds))) more"
        console.changed("\(record.text(after: "confirmed")), active; the old key \(old)")
        return .done
    }

    private func purge(_ key: RotatedKey, _ console: Console) throws(CommandFailure) -> ExitCode {
        let purged = try withStoreErrors { () throws(KeyStoreError) in
            try key.store.purgeRetiredDeviceKeys(named: key.name, at: console.timestamp, willEnd: console.hintPurged)
        }
        if key.isJSON {
            var json = JSONWriter()
            json.object { json in
                json.array(for: "purged") { json in
                    for record in purged { json.string(record.keyID.description) }
                }
            }
            try console.write(line: json.bytes)
        }
        if purged.isEmpty {
            let keys = (try? key.store.deviceKeys(named: key.name)) ?? []
            let end = keys.compactMap(\.retiresAt).min()
            let reason = end.map { "the next one opens until \($0)" } ?? "none is retiring"
            console.hint("no key is destroyed: \(reason)")
        } else {
            console.changed("purged \(purged.map(\.keyID.description).joined(separator: ", "))")
        }
        return .done
    }
}

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
            let purges = arguments.flag("--purge", help: "destroy the old keys that ended a day ago")
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

    func run(_ key: RotatedKey, _ console: Console) throws -> ExitCode {
        if purges { return try purge(key, console) }
        if confirms { return try confirm(key, console) }
        return try rotate(key, console)
    }

    private func rotate(_ key: RotatedKey, _ console: Console) throws -> ExitCode {
        let (suite, now): (CipherSuite?, Timestamp) = (isPostQuantum ? .xwing : nil, console.timestamp)
        // In one step, so that only one of two processes makes a key.
        let (state, account, rotated) = try key.store.change {
            (state) throws(KeyStoreError) -> (DeviceState, DeviceState.Account, DeviceState.Key?) in
            let account = try state.accountWithKeys(key.name)
            if let age = key.minimumAge, let newest = account.keys.map(\.createdAt).max(),
                !newest.isOlder(than: age, at: now)
            {
                return (state, account, nil)
            }
            let rotated = try state.rotate(account.name, suite: suite, at: now)
            return (state, account, rotated)
        }
        guard let rotated else {
            console.hintYoung(account.keys.map(\.createdAt).max())
            return .done
        }
        let text = key.isJSON ? state.registrationText(of: rotated, in: account) : "\(rotated.publicKey)"
        try console.write(text + "\n")
        let named = key.name.map { " \(quoted($0))" } ?? ""
        console.changed("\(account.text(of: rotated, after: "rotated")), pending, opens already")
        console.hint(
            "register it (pushcrypt key show\(named) --json), then: pushcrypt key rotate\(named) --confirm")
        return .done
    }

    private func confirm(_ key: RotatedKey, _ console: Console) throws -> ExitCode {
        let setting = try key.store.seconds(.grace)
        let grace = (grace ?? setting).map { Interval.seconds(UInt64($0)) } ?? DeviceState.standardGrace
        let keyID = acknowledged.flatMap(KeyID.init)
        if keyID == nil, let acknowledged {
            throw Failure.usage(
                "--acknowledged cannot be \(quoted(acknowledged))",
                hint: "write the key_id of the record, eight hexadecimal digits")
        }
        let (state, confirmed) = try key.store.change { (state) throws(KeyStoreError) in
            let confirmed = try state.confirm(
                key.name, acknowledged: keyID, grace: grace, at: console.timestamp)
            return (state, confirmed)
        }
        guard let confirmed, let account = state.key(confirmed.keyID, at: console.timestamp)?.account else {
            console.hint(
                keyID.map { "key \($0) is not pending: it was confirmed before, or the reply is an old one" }
                    ?? "no key is pending: it was confirmed before, or a message has confirmed it")
            return .done
        }
        if key.isJSON { try console.write(state.registrationText(of: confirmed, in: account) + "\n") }
        let old = grace.seconds == 0 ? "opens no more" : "opens for \(durationText(Int(clamping: grace.seconds))) more"
        console.changed("\(account.text(of: confirmed, after: "confirmed")), active; the old key \(old)")
        return .done
    }

    private func purge(_ key: RotatedKey, _ console: Console) throws -> ExitCode {
        let end = console.timestamp.subtracting(Freshness.clockTolerance)
        let (account, purged) = try key.store.change { (state) throws(KeyStoreError) in
            let name = try state.accountWithKeys(key.name).name
            let purged = state.purge(name, endedBefore: end)
            return (try state.accountWithKeys(name), purged)
        }
        try key.store.eraseDeleted()
        if key.isJSON {
            var json = JSONWriter()
            json.object { json in
                json.array(for: "purged") { json in
                    for key in purged { json.string(key.keyID.description) }
                }
            }
            try console.write(line: json.bytes)
        }
        if purged.isEmpty {
            let next = account.keys.compactMap(\.retiresAt).min()?.adding(Freshness.clockTolerance)
            console.hint("no key is destroyed: \(next.map { "the next one at \($0)" } ?? "none is retiring")")
        } else {
            console.changed("purged \(purged.map(\.keyID.description).joined(separator: ", "))")
        }
        return .done
    }
}

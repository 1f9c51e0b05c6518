internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyRotate = Command(
        "rotate", "change a key without losing a notification in flight",
        about: """
            Of a provider: creates a signing key, certifies it with the provider key, and destroys the signing key before it. Phones follow with their next push. Planned, what the old key signed opens for 38 more days; with --stolen it ends at once. With several provider keys, name one.
            Docs/Keys.md has the recipes.
            """,
        more: """
            With the provider key offline, --request and --install are the two halves, and 'key certify' is between them. --provider-signer runs a program that has it certify, for example for a key in a hardware module.
            Of a device: creates a pending key, or finds the pending one, and prints what to register. It opens from now on. Register it with the provider, then run --confirm; the first message that opens with it also confirms it.
            """,
        examples: [
            Example("pushcrypt key rotate --if-older-than 90d", "from cron"),
            Example("pushcrypt key rotate --request --stolen -o request.json", "after a theft"),
            "pushcrypt key rotate --install certificate.json",
            Example("pushcrypt key rotate --json", "of a device: the record to register"),
            Example("pushcrypt key rotate --confirm", "the provider has it"),
        ]
    ) { a in
        let minimumAge: Interval? = a.seconds(
            "--if-older-than", "TIME", 1...3650 * 86_400, help: "do nothing while the key is younger, for cron"
        ).map { .seconds(UInt64($0)) }
        let (provider, ofProvider) = a.given { ProviderRotation(&$0) }
        let (device, ofDevice) = a.given { DeviceRotation(&$0) }
        a.group(nil)
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let (kind, name) = (a.keyKind(), a.keyName())
        return { console in
            let store = try console.open(store)
            // Options that only one kind of key has say which one is meant.
            let meant: KeyKind? = !ofDevice.isEmpty ? .device : !ofProvider.isEmpty ? .provider : nil
            let kind = try store.kind(kind ?? meant, of: name)
            if let option = (kind == .device ? ofProvider : ofDevice).first {
                throw Failure.usage(
                    "\(option) does not apply to a \(kind)'s key",
                    hint: "leave it out, or say with --kind which key is meant")
            }
            let key = RotatedKey(store: store, name: name, minimumAge: minimumAge, isJSON: isJSON)
            switch kind {
            case .device: try device.run(key, console)
            case .provider: try provider.run(key, console)
            case .push:
                throw Failure.usage(
                    "a push key does not rotate", hint: "'key new push --next' makes the one that replaces it")
            }
        }
    }
}

/// The key that `key rotate` changes, and how.
struct RotatedKey {
    let store: SQLiteKeyStore
    let name: String?
    let minimumAge: Interval?
    let isJSON: Bool
}

extension Console {
    func hintYoung(_ date: Timestamp?) {
        hint("the key was made \(date.map { "\($0)" } ?? "just now"): nothing to do yet")
    }
}

// MARK: Devices

/// The rotation of a device's key: a new one is pending until the provider has it.
private struct DeviceRotation: Sendable {
    private let confirms: Bool
    private let purges: Bool
    /// In seconds.
    private let grace: Int?
    private let isPostQuantum: Bool

    init(_ arguments: inout Arguments) {
        arguments.group("of a device's key")
        confirms = arguments.flag("--confirm", help: "the provider has the pending key: make it active")
        purges = arguments.flag("--purge", help: "destroy the old keys that ended a day ago")
        arguments.group("of a device's key", isAdvanced: true)
        grace = arguments.seconds(
            "--grace", "TIME", 0...400 * 86_400,
            help: "with --confirm: how long the old key opens; default the store's, or 31d")
        isPostQuantum = arguments.postQuantum()
        arguments.atMostOne(of: "--confirm", "--purge", "--if-older-than")
        arguments.option("--post-quantum", excludes: ["--confirm", "--purge"], hint: "it is about a new key")
        arguments.option("--grace", needs: "--confirm")
    }

    func run(_ key: RotatedKey, _ console: Console) throws {
        if purges {
            try purge(key, console)
        } else if confirms {
            try confirm(key, console)
        } else {
            try rotate(key, console)
        }
    }

    private func rotate(_ key: RotatedKey, _ console: Console) throws {
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
        guard let rotated else { return console.hintYoung(account.keys.map(\.createdAt).max()) }
        try console.write(state.text(of: rotated, in: account, asJSON: key.isJSON) + "\n")
        let named = key.name.map { " \(quoted($0))" } ?? ""
        console.changed("\(account.text(of: rotated, after: "rotated")), pending, opens already")
        console.hint(
            "register it (pushcrypt key show\(named) --json), then: pushcrypt key rotate\(named) --confirm")
    }

    private func confirm(_ key: RotatedKey, _ console: Console) throws {
        let setting = try key.store.seconds(.grace)
        let grace = (grace ?? setting).map { Interval.seconds(UInt64($0)) } ?? DeviceState.standardGrace
        let (state, confirmed) = try key.store.change { (state) throws(KeyStoreError) in
            let confirmed = try state.confirm(key.name, grace: grace, at: console.timestamp)
            return (state, confirmed)
        }
        guard let confirmed, let account = state.key(confirmed.keyID, at: console.timestamp)?.account else {
            return console.hint("no key is pending: it was confirmed before, or a message has confirmed it")
        }
        if key.isJSON { try console.write(state.text(of: confirmed, in: account, asJSON: true) + "\n") }
        let old = grace.seconds == 0 ? "opens no more" : "opens for \(durationText(Int(clamping: grace.seconds))) more"
        console.changed("\(account.text(of: confirmed, after: "confirmed")), active; the old key \(old)")
    }

    private func purge(_ key: RotatedKey, _ console: Console) throws {
        let end = console.timestamp.subtracting(Freshness.clockTolerance)
        let (account, purged) = try key.store.change { (state) throws(KeyStoreError) in
            let name = try state.accountWithKeys(key.name).name
            let purged = state.purge(name, endedBefore: end)
            return (try state.accountWithKeys(name), purged)
        }
        try key.store.eraseDeleted()
        let ids = purged.map(\.keyID.description)
        if key.isJSON { try console.writeObject { $0.strings(ids, for: "purged") } }
        if ids.isEmpty {
            let next = account.keys.compactMap(\.retiresAt).min()?.adding(Freshness.clockTolerance)
            console.hint("no key is destroyed: \(next.map { "the next one at \($0)" } ?? "none is retiring")")
        } else {
            console.changed("purged \(ids.joined(separator: ", "))")
        }
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let export = Command(
        group: "export", "print a public key, or write a secret one to a file",
        examples: [
            Example("pushcrypt export device --json", "the record that a phone registers with"),
            Example("pushcrypt export sender > sender.pub"),
        ],
        commands: [exportDevice, exportSender])

    private static let exportDevice = Command(
        "device", "print what a provider needs to seal for this device",
        discussion: [
            "A pending key is exported in preference to the active one, because it is the one to register; it already opens."
        ],
        options: exportOptions(of: .deviceKey),
        examples: [Example("pushcrypt export device | pushcrypt --store P device add phone1 -")],
        run: runExportDevice)

    private static let exportSender = Command(
        "sender", "print what devices need to trust this provider",
        options: exportOptions(of: .senderKey),
        examples: [Example("pushcrypt export sender | pushcrypt --store D sender trust provider -")],
        run: runExportSender)

    private static func exportOptions(of keys: StoredName) -> [Option] {
        [
            .name(of: keys),
            Option(flag: "--secret", help: "write the active secret key instead: to --output FILE, or into a pipe"),
            .store, .passphraseFile, .json, .output, .force,
        ]
    }
}

private func runExportDevice(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--secret", "--json")
    let store = try console.openStore(invocation)
    let name = invocation.value("--name")
    if invocation.flag("--secret") {
        let key = try withStoreErrors { () throws(KeyStoreError) in try store.deviceSecret(named: name) }
        try key.withText { (text) throws(CommandFailure) in try console.deliverSecret(text, of: invocation) }
        return .done
    }
    let record = try store.deviceKeyToRegister(named: name)
    let text = try invocation.flag("--json") ? registrationText(record, store) : "\(record.publicKey)"
    try console.deliver(ContiguousArray((text + "\n").utf8).span, of: invocation)
    return .done
}

extension SQLiteKeyStore {
    /// The pending key of a name, else the active one.
    func deviceKeyToRegister(named name: String?) throws(CommandFailure) -> DeviceKeyRecord {
        let records = try withStoreErrors { () throws(KeyStoreError) in try deviceKeys(named: name) }
        guard
            let record = records.first(where: { $0.state == .pending }) ?? records.first(where: { $0.state == .active })
        else {
            throw .usage("the store has no device key to export", hint: "pushcrypt keygen device makes one")
        }
        return record
    }
}

private func runExportSender(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--secret", "--json")
    let store = try console.openStore(invocation)
    let stored = try withStoreErrors { () throws(KeyStoreError) in
        try store.senderKey(named: invocation.value("--name"))
    }
    if invocation.flag("--secret") {
        try stored.key.withText { (text) throws(CommandFailure) in try console.deliverSecret(text, of: invocation) }
        return .done
    }
    let text = invocation.flag("--json") ? announcementText(stored.record) : "\(stored.record.publicKey)"
    try console.deliver(ContiguousArray((text + "\n").utf8).span, of: invocation)
    return .done
}

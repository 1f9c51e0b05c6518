internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let `init` = Command(
        "init", "make a key store",
        discussion: [
            "A provider's store holds signing keys and the devices to seal for; a device's store holds its keys and the senders it trusts. One store may be both.",
            "The store is a directory that only you can read. Its secrets are sealed under store.key beside the database, or under a passphrase, so that a copied database alone opens nothing.",
        ],
        options: [
            Option(flag: "--passphrase", help: "seal the secrets under a passphrase, asked for on the terminal"),
            .passphraseFile, .store, .json,
        ],
        examples: [
            Example("pushcrypt init", "in the user's data directory"),
            Example("pushcrypt --store /var/lib/pushcrypt init"),
        ], run: runInit)
}

private func runInit(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let path = try console.storePath(invocation)
    let now = console.timestamp
    let passphrase = try newPassphrase(invocation, console)
    _ = try withStoreErrors { () throws(KeyStoreError) in
        try SQLiteKeyStore.create(in: path, passphrase: passphrase, at: now)
    }
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { $0.string(path, for: "store") }
        try console.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else {
        console.hint(
            "made the key store \(quoted(path)); next: pushcrypt keygen sender (provider) or keygen device (phone)")
    }
    return .done
}

private func newPassphrase(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> StorePassphrase? {
    if let source = invocation.value("--passphrase-file") {
        return try console.passphrase(console.readSecret(from: source))
    }
    guard invocation.flag("--passphrase") else { return nil }
    let first = try console.askPassphrase("new passphrase: ")
    let second = try console.askPassphrase("the same again: ")
    guard first.withSpan({ first in second.withSpan { Sodium.areEqual(first, $0) } }) else {
        throw .refused("the two passphrases differ", hint: "run the command again")
    }
    return try console.passphrase(first)
}

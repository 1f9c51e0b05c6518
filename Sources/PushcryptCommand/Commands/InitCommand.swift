internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let initStore = Command(
        "init", "create a key store",
        about: [
            "A provider's store holds its keys and the devices, a phone's store its keys and the providers that it trusts; one store may be both. Only you can read it. The secrets are sealed under the file store.key in it, or under a passphrase, so a copied database alone opens nothing."
        ],
        examples: [
            Example("pushcrypt init", "in the user's data directory"),
            "pushcrypt --store /var/lib/pushcrypt init",
        ]
    ) { a in
        let command = InitCommand(&a)
        return { try command.run($0) }
    }
}

struct InitCommand {
    private let asksPassphrase: Bool
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        asksPassphrase = arguments.flag(
            "--passphrase", help: "seal the secrets under a passphrase, entered on the terminal")
        let passphraseFile = arguments.passphraseFile()
        store = StoreArguments(path: arguments.storePath(), passphraseFile: passphraseFile)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws -> ExitCode {
        let path = try console.path(of: store)
        let now = console.timestamp
        let passphrase = try newPassphrase(console)
        let made = try SQLiteKeyStore.create(in: path, passphrase: passphrase, at: now)
        console.warn(of: made)
        if isJSON {
            var json = JSONWriter()
            json.object { $0.string(path, for: "store") }
            try console.write(line: json.bytes)
        }
        console.changed("made the key store \(path)")
        console.hint("next: pushcrypt key new provider (on a server), or pushcrypt key new device (on a phone)")
        return .done
    }

    private func newPassphrase(_ console: Console) throws -> StorePassphrase? {
        if let source = store.passphraseFile {
            let passphrase = try console.readSecret(from: source)
            console.warn(ofShort: passphrase)
            return try console.passphrase(passphrase)
        }
        guard asksPassphrase else { return nil }
        let first = try console.askPassphrase("new passphrase: ")
        let second = try console.askPassphrase("the same again: ")
        guard first.withSpan({ first in second.withSpan { Sodium.areEqual(first, $0) } }) else {
            throw Failure.refused("the two passphrases differ", hint: "run the command again")
        }
        console.warn(ofShort: first)
        return try console.passphrase(first)
    }
}

extension Console {
    /// The least length of a passphrase in bytes that is not warned of.
    private static let shortPassphrase = 10

    /// Warns of a new passphrase that a thief of the store would soon have tried.
    fileprivate func warn(ofShort passphrase: borrowing Ephemeral) {
        let count = passphrase.withSpan { $0.count }
        guard count < Self.shortPassphrase else { return }
        warning(
            "a passphrase of \(count) \(count == 1 ? "character" : "characters") is soon guessed by a thief of the store: take several words that belong to no sentence"
        )
    }
}

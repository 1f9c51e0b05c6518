internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let backup = Command(
        "backup", "copy the key store while it is in use",
        about: [
            "Writes the key store's database, as it is at one moment, to one new file, and checks every row of it. The store may be in use. Secrets in it are sealed: without store.key, or the passphrase, it opens nothing. Keep the key elsewhere. See Docs/Operations.md."
        ],
        examples: [
            "pushcrypt backup /backups/keystore-2026-11-23",
            Example("pushcrypt backup keystore.backup --store-key-output store.key.backup", "the key too, once"),
        ]
    ) { a in
        let keyFile = a.value("--store-key-output", "FILE", .file, help: "also copy store.key to this new file")
        let store = StoreArguments(&a)
        let file = a.operand("FILE", .file, help: "the new file")
        return { console in
            guard file != "-", keyFile != "-" else {
                throw Failure.usage("a backup is written to a file, not to standard output")
            }
            for path in [file, keyFile ?? ""] { _ = try console.utf8(path) }
            let store = try console.open(store)
            let (file, keyFile) = (file, keyFile)
            try store.backUp(to: file, key: keyFile)
            console.changed("wrote \(file), and checked every row of it")
            return .done
        }
    }
}

extension Command {
    static let restore = Command(
        "restore", "replace the key store with a backup",
        about: [
            "Replaces the content of the key store with a backup, after checking every row. Processes that use the store go on running. An existing store is replaced only with --replace. It loses what changed since the backup, with three exceptions: removed devices stay removed, answers that were opened stay opened, and later certificates are remembered. Phones register again when the app starts, if their last registration is a day old. If the signing key was rotated since the backup, phones that know the new key refuse what the restored one signs: run 'key rotate'. A store with another store.key is never replaced: name an empty directory."
        ],
        examples: [
            Example("pushcrypt restore keystore.backup", "beside its store.key"),
            Example(
                "pushcrypt --store /var/lib/pushcrypt restore keystore.backup --store-key store.key.backup",
                "on another machine"),
        ]
    ) { a in
        let command = RestoreCommand(&a)
        return { try command.run($0) }
    }
}

struct RestoreCommand {
    private let file: String
    private let keyFile: String?
    private let replaces: Bool
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        keyFile = arguments.value(
            "--store-key", "FILE", .file, help: "the copy of store.key; default the one in the store")
        replaces = arguments.flag("--replace", help: "also replace a store that is there, even if it cannot be read")
        store = StoreArguments(&arguments)
        file = arguments.operand("FILE", .file, help: "the backup")
    }

    func run(_ console: Console) throws -> ExitCode {
        guard file != "-", keyFile != "-" else {
            throw Failure.usage("a backup is read from a file, not from standard input")
        }
        for path in [file, keyFile ?? ""] { _ = try console.utf8(path) }
        let path = try console.path(of: store)
        if let keyFile { console.warnIfOfEverybody(keyFile) }
        let passphrase: StorePassphrase?
        if let source = store.passphraseFile {
            passphrase = try console.passphrase(console.readSecret(from: source))
        } else {
            passphrase = nil
        }
        var unread: KeyStoreError?
        do throws(KeyStoreError) {
            unread = try restore(to: path, passphrase, console)
        } catch {
            guard error.code == .passphraseNeeded else { throw failure(error) }
            let passphrase = try console.passphrase(console.askPassphrase("passphrase for \(quoted(file)): "))
            do throws(KeyStoreError) { unread = try restore(to: path, passphrase, console) } catch {
                throw failure(error)
            }
        }
        if let unread {
            console.warning(
                "the earlier store could not be read (\(unread.code)), so its removals, opened answers and later certificates are lost"
            )
        }
        console.changed("restored the key store \(path)")
        console.hint("next: pushcrypt doctor; if a key was rotated since the backup, pushcrypt key rotate")
        return .done
    }

    private func restore(
        to path: String, _ passphrase: StorePassphrase?, _ console: Console
    ) throws(KeyStoreError) -> KeyStoreError? {
        try SQLiteKeyStore.restore(
            file, to: path, key: keyFile, passphrase: passphrase, replace: replaces, at: console.timestamp)
    }

    private func failure(_ error: KeyStoreError) -> Failure {
        let failure = Failure(error)
        let hint: String
        switch error.code {
        case .storeExists where !replaces: hint = "--replace replaces it"
        case .storeKeyMissing where keyFile == nil: hint = "--store-key FILE names the copy of store.key"
        case .wrongPassphrase where keyFile == nil && store.passphraseFile == nil:
            hint = "--store-key FILE names the copy of store.key that opens this backup"
        default: return failure
        }
        return failure.advising([hint])
    }
}

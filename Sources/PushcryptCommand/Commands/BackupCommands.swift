internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `backup`.
struct BackupCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Writes the key store's database, as it is at one moment, to one new file, and checks every row of it. The store may be in use. Secrets in it are sealed: without store.key, or the passphrase, it opens nothing. Keep the key elsewhere. See Docs/Operations.md."
            ],
            examples: [
                Example("pushcrypt backup /backups/keystore-2026-11-23"),
                Example("pushcrypt backup keystore.backup --key-output store.key.backup", "the key too, once"),
            ])
    }

    private let file: String
    private let keyFile: String?
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        file = arguments.operand("FILE", .file, help: "the new file")
        keyFile = arguments.value("--key-output", "FILE", .file, help: "also copy store.key to this new file")
        store = StoreArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let (file, keyFile) = (file, keyFile)
        try withStoreErrors { () throws(KeyStoreError) in
            if let keyFile { try store.backUpKey(to: keyFile) }
            try store.backUp(to: file)
        }
        console.hint("every row of \(quoted(file)) was checked")
        return .done
    }
}

/// `restore`.
struct RestoreCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Makes a backup the database of the key store, after checking every row. Stop every process that uses the store first. What has changed since the backup is lost: devices, removals, rotations. A store that has rotated a sender key since is replaced only with --replace: phones that follow the new key do not open what the old one signs. See Docs/Operations.md."
            ],
            examples: [
                Example("pushcrypt restore keystore.backup", "beside its store.key"),
                Example(
                    "pushcrypt --store /var/lib/pushcrypt restore keystore.backup --key store.key.backup",
                    "on another machine"),
            ])
    }

    private let file: String
    private let keyFile: String?
    private let replaces: Bool
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        file = arguments.operand("FILE", .file, help: "the backup")
        keyFile = arguments.value("--key", "FILE", .file, help: "the copy of store.key; default the one in the store")
        replaces = arguments.flag(
            "--replace", help: "also replace a store that has rotated since, cannot be read, or is another one")
        store = StoreArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let path = try console.path(of: store)
        let passphrase: StorePassphrase?
        if let source = store.passphraseFile {
            passphrase = try console.passphrase(console.readSecret(from: source))
        } else {
            passphrase = nil
        }
        do throws(KeyStoreError) {
            try restore(to: path, passphrase, console)
        } catch {
            guard error.code == .passphraseNeeded else { throw failure(error) }
            let passphrase = try console.passphrase(console.askPassphrase("passphrase for \(quoted(file)): "))
            do throws(KeyStoreError) { try restore(to: path, passphrase, console) } catch { throw failure(error) }
        }
        console.hint("the store at \(quoted(path)) is the backup's; next: pushcrypt doctor")
        return .done
    }

    private func restore(to path: String, _ passphrase: StorePassphrase?, _ console: Console) throws(KeyStoreError) {
        try SQLiteKeyStore.restore(
            file, to: path, key: keyFile, passphrase: passphrase, replace: replaces, at: console.timestamp)
    }

    private func failure(_ error: KeyStoreError) -> CommandFailure {
        let failure = CommandFailure(error)
        guard error.code == .storeExists else { return failure }
        return CommandFailure(failure.exit, failure.message, hints: ["--replace replaces it"])
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

// The commands for a key store as a whole.

extension Command {
    static let initStore = Command(
        "init", "create a key store",
        about:
            "A provider's store holds its keys and the devices, a phone's store its keys and the providers that it trusts; one store may be both. Only you can read it. The secrets are sealed under the file store.key in it, or under a passphrase, so a copied database alone opens nothing.",
        examples: [
            Example("pushcrypt init", "in the user's data directory"),
            "pushcrypt --store /var/lib/pushcrypt init",
        ]
    ) { a in
        let asks = a.flag("--passphrase", help: "seal the secrets under a passphrase, entered on the terminal")
        let passphraseFile = a.passphraseFile()
        let store = StoreArguments(path: a.storePath(), passphraseFile: passphraseFile)
        let isJSON = a.json()
        return { console in
            let path = try console.path(of: store)
            var passphrase: StorePassphrase?
            if let passphraseFile {
                passphrase = try console.newPassphrase(console.readSecret(from: passphraseFile))
            } else if asks {
                let first = try console.askPassphrase("new passphrase: ")
                let second = try console.askPassphrase("the same again: ")
                guard first.withSpan({ first in second.withSpan { Sodium.areEqual(first, $0) } }) else {
                    throw Failure.refused("the two passphrases differ", hint: "run the command again")
                }
                passphrase = try console.newPassphrase(first)
            }
            console.warn(of: try SQLiteKeyStore.create(in: path, passphrase: passphrase))
            if isJSON { try console.writeObject { $0.string(path, for: "store") } }
            console.changed("made the key store \(path)")
            console.hint("next: pushcrypt key new provider (on a server), or pushcrypt key new device (on a phone)")
        }
    }

    static let backup = Command(
        "backup", "copy the key store while it is in use",
        about:
            "Writes the key store's database, as it is at one moment, to one new file, and checks every row of it. The store may be in use. Secrets in it are sealed: without store.key, or the passphrase, it opens nothing. Keep the key elsewhere. See Docs/Operations.md.",
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
            let damaged = try console.open(store).backUp(to: file, key: keyFile)
            for row in damaged { console.warning(row.message) }
            console.changed("wrote \(file), and checked every row of it")
        }
    }

    static let restore = Command(
        "restore", "replace the key store with a backup",
        about:
            "Replaces the content of the key store with a backup, after checking every row. Processes that use the store go on running. An existing store is replaced only with --replace. It loses what changed since the backup, but removed devices stay removed, opened answers stay opened, and later certificates and push keys are kept. Phones register again when the app starts, if their last registration is a day old. If the signing key was rotated since the backup, phones that know the new key refuse what the restored one signs: run 'key rotate'. A store with another store.key is never replaced: name an empty directory.",
        examples: [
            Example("pushcrypt restore keystore.backup", "beside its store.key"),
            Example(
                "pushcrypt --store /var/lib/pushcrypt restore keystore.backup --store-key store.key.backup",
                "on another machine"),
        ]
    ) { a in
        let keyFile = a.value("--store-key", "FILE", .file, help: "the copy of store.key; default the one in the store")
        let replaces = a.flag("--replace", help: "also replace a store that is there, even if it cannot be read")
        let store = StoreArguments(&a)
        let file = a.operand("FILE", .file, help: "the backup")
        var hints: [KeyStoreError.Code: String] = [:]
        if !replaces { hints[.storeExists] = "--replace replaces it" }
        if keyFile == nil {
            hints[.storeKeyMissing] = "--store-key FILE names the copy of store.key"
            if store.passphraseFile == nil {
                hints[.wrongPassphrase] = "--store-key FILE names the copy of store.key that opens this backup"
            }
        }
        return { [hints] console in
            guard file != "-", keyFile != "-" else {
                throw Failure.usage("a backup is read from a file, not from standard input")
            }
            let path = try console.path(of: store)
            if let keyFile { console.warnIfOfEverybody(keyFile) }
            let restored = try advising(hints) {
                try console.withPassphrase(of: store, for: file) { passphrase in
                    try SQLiteKeyStore.restore(
                        file, to: path, key: keyFile, passphrase: passphrase, replace: replaces, at: console.timestamp)
                }
            }
            for row in restored.damaged { console.warning(row.message) }
            if let unread = restored.unread {
                console.warning(
                    "the earlier store could not be read (\(unread.code)), so its removals, opened answers, later certificates and push keys are lost"
                )
            }
            console.changed("restored the key store \(path)")
            console.hint("next: pushcrypt doctor; if a key was rotated since the backup, pushcrypt key rotate")
        }
    }
}

extension Console {
    /// Takes a new passphrase; warns of one that a thief of the store would soon have tried.
    fileprivate func newPassphrase(_ passphrase: consuming Ephemeral) throws -> StorePassphrase {
        let count = passphrase.withSpan { $0.count }
        if count < 10 {
            warning(
                "a passphrase of \(count) \(count == 1 ? "character" : "characters") is soon guessed by a thief of the store: take several words that belong to no sentence"
            )
        }
        return try self.passphrase(passphrase)
    }
}

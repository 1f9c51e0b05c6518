internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyOffline = Command(
        "offline", "move a provider key out of the store",
        about: [
            "Writes the secret of a provider key to --output, reads it back, and destroys it in the store. If it signed messages itself, a signing key with a certificate takes over, and what it signed opens for 38 more days. Backups made before still hold the secret: destroy them. See Docs/Keys.md."
        ], examples: ["pushcrypt key offline default -o provider.key"]
    ) { a in
        let topic = TopicArgument(&a, help: "the app, if the key is not bound to it")
        let path = a.requiredValue("--output", short: "-o", "FILE", .file, help: "the file for the secret key")
        let force = a.force()
        let store = StoreArguments(&a)
        let isJSON = a.json()
        let name = a.operand("NAME", help: "the provider key's name in the store")
        return { console in
            guard path != "-" else { throw Failure.usage("the secret key is written to a file, which is read back") }
            let topic = try topic.topic(console)
            let store = try console.open(store)
            let secret = try store.providerSecret(named: name)
            try secret.withText { text in
                try OutputFile.write(text, to: path, mode: 0o600, force: force)
            }
            // The store's copy is destroyed only if this one can be read.
            let saved = try console.readProviderKey(from: path)
            let record: ProviderKeyRecord
            do throws(KeyStoreError) {
                record = try store.takeProviderKeyOffline(
                    saved, named: name, topic: topic, at: console.timestamp)
            } catch {
                throw Failure(
                    error, hint: error.code == .topicMismatch ? "--topic BUNDLE-ID names the app" : nil)
            }
            if isJSON { try console.write(record.json + "\n") }
            console.changed("\(record.text(after: "moved")), to \(path)")
            console.hint(
                "backups made before still have the secret: destroy them, and move the file away from this machine")
            return .done
        }
    }
}

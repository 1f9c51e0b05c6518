internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyNewDevice = Command(
        "device", "create a device's key, which opens",
        about: "Prints the public key, to register with the provider. The secret key stays in the store.",
        examples: [
            "pushcrypt key new device",
            "pushcrypt key new device --name work --topic com.example.app",
            Example("pushcrypt key new device --output device.key", "into a key file, without a store"),
            Example("pushcrypt key new device --post-quantum", "one that a quantum computer does not break"),
        ]
    ) { a in
        let suite: CipherSuite = a.postQuantum() ? .xwing : .x25519
        let destination = NewKeyArguments(&a)
        return { console in
            if destination.output.path == nil {
                try console.keep(nil, suite, in: destination)
            } else {
                let key = try naming("--post-quantum", exit: .usage) { try DeviceKey(suite) }
                try console.deliverKeyFile(key, to: destination)
            }
        }
    }

    static let keyNewProvider = Command(
        "provider", "create a provider's key, which phones trust",
        about: """
            Prints the public key, for phones to pin. Without --offline the secret key stays in the store and signs messages itself, which is for trying: anyone who copies the store speaks as the provider for ever.
            --offline writes the secret key to --output, never to the store. The store gets a signing key, and a certificate of the provider key for it. Move the file to a machine that serves nothing, and keep it twice on paper. See Docs/Keys.md.
            """,
        more:
            "With --provider and --provider-signer the key already exists in a key service: the program signs a challenge, and then a certificate for the signing key that the store gets.",
        examples: [
            "pushcrypt key new provider --topic com.example.app",
            Example(
                "pushcrypt key new provider --topic com.example.app --offline -o provider.key", "before going live"),
            Example("pushcrypt key new provider -o provider.key", "into a key file, without a store"),
            "pushcrypt key new provider --topic com.example.app --provider pcs1… --provider-signer ./signer",
        ]
    ) { a in
        let isOffline = a.flag(
            "--offline", help: "keep the secret key out of the store, which gets a signing key and a certificate")
        let lifetime = a.certificateLifetime()
        let destination = NewKeyArguments(&a, mayKeepBoth: true)
        a.group("a key in a key service", isAdvanced: true)
        let provider = a.value("--provider", "KEY", help: "the public half of the provider key (pcs1…)")
        let signer = a.providerSigner()
        a.group(nil)
        let forOneApp = "a certificate is for one app: add its bundle id"
        a.option("--offline", needs: "--output", hint: "add -o FILE for the secret key")
        a.option("--offline", needs: "--topic", hint: forOneApp)
        a.option("--provider-signer", needs: "--provider", hint: "add the public half of its key (pcs1…)")
        a.option("--provider-signer", needs: "--topic", hint: forOneApp)
        a.option("--provider", needs: "--provider-signer", hint: "add the program that signs with the key")
        a.option(
            "--provider-signer", excludes: ["--offline", "--output"], hint: "the secret key is where the program has it"
        )
        return { console in
            if let provider, let signer {
                let provider = try ProviderPublicKey(provider, inOption: "--provider")
                try console.certify(
                    destination, by: ProviderSigner(program: signer, provider: provider), expires: lifetime)
            } else if lifetime != nil, !isOffline {
                throw Failure.usage(
                    "--expires goes with --offline or --provider-signer",
                    hint: "only a certificate has an end: leave it out")
            } else if isOffline {
                try console.makeOffline(destination, expires: lifetime)
            } else if destination.output.path != nil {
                try destination.refuseStore()
                try console.deliverKeyFile(ProviderKey(), to: destination)
            } else {
                try console.keep(nil, in: destination)
            }
        }
    }

    static let keyNewPush = Command(
        "push", "create the push key, which signs requests to a relay",
        about: """
            For a server whose app's publisher has a relay: 'device add --reply' then names the key, phones fetch grants for it, and 'send --relay' signs with it. A store has one. Prints the public key.
            With --next, the new key replaces the present one in 7 days. Until then phones fetch grants for both. Afterwards 'send' signs with the old key for phones that have sent no record since.
            """, examples: ["pushcrypt key new push", "pushcrypt key new push --next"]
    ) { a in
        let isNext = a.flag("--next", help: "replace the present push key in 7 days")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        return { console in
            try console.keep(PushKey(), isNext: isNext, in: store, "made", asJSON: isJSON)
        }
    }
}

extension Arguments {
    mutating func postQuantum() -> Bool {
        flag("--post-quantum", help: "of suite 2, which a quantum computer cannot read; needs libsodium 1.0.22")
    }

    /// `--expires`.
    mutating func certificateLifetime() -> Interval? {
        seconds(
            "--expires", "TIME", 86_400...3650 * 86_400,
            help: "how long the certificate is good: even a phone that hears nothing believes a thief no longer"
        )
        .map { .seconds(UInt64($0)) }
    }
}

// MARK: A provider key out of the store

extension Console {
    fileprivate func makeOffline(_ destination: NewKeyArguments, expires lifetime: Interval?) throws {
        let (store, topic) = try open(destination)
        let key = ProviderKey()
        try key.withText { text in try deliverSecret(text, to: destination.output) }
        let record = try store.addOfflineProviderKey(
            key, named: destination.name, topic: topic, expires: lifetime, at: timestamp)
        try finish(record, in: store, destination, "made", showsKey: destination.output.file != nil)
        hint("the secret of the provider key is only where it was written: move it away from this machine")
    }

    /// Adds a key that exists elsewhere, once the program there has proven that it has the key, and has certified a signing key.
    fileprivate func certify(
        _ destination: NewKeyArguments, by signer: ProviderSigner, expires lifetime: Interval?
    ) throws {
        let (store, topic) = try open(destination)
        try signer.prove()
        let (key, now) = (SigningKey(), timestamp)
        let unsigned = try UnsignedCertificate(
            CertificatePlan(offlineAt: now, expires: lifetime), for: key.publicKey, provider: signer.provider,
            topic: topic)
        let credential = try SigningCredential(key, signer.sign(unsigned), by: signer.provider)
        let record = try store.addOfflineProviderKey(
            signing: credential, named: destination.name, topic: topic, at: now)
        try finish(record, in: store, destination, "added", showsKey: true)
    }

    /// Opens the store. A name that is taken is refused before anything is written or signed.
    private func open(_ destination: NewKeyArguments) throws -> (SQLiteKeyStore, Topic) {
        guard let topic = try destination.topic.topic(self) else { preconditionFailure("a rule needs --topic") }
        let store = try open(destination.store)
        if try store.providerKeys().contains(where: { $0.name == destination.name }) {
            throw KeyStoreError(.nameTaken, "a provider key is already named '\(destination.name)'")
        }
        return (store, topic)
    }

    private func finish(
        _ record: ProviderKeyRecord, in store: SQLiteKeyStore, _ destination: NewKeyArguments, _ verb: String,
        showsKey: Bool
    ) throws {
        if destination.isDefault { try store.setDefaultProviderKey(named: destination.name) }
        if showsKey { try write(record.text(asJSON: destination.isJSON) + "\n") }
        changed("\(record.text(after: verb)), signing key of epoch \(record.epoch)")
    }
}

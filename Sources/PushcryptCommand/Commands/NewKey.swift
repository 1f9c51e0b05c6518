internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The destination of a new key, or of an imported one: the store, or a key file.
struct NewKeyArguments: Sendable {
    let name: String
    let topic: TopicArgument
    let isDefault: Bool
    let store: StoreArguments
    let isJSON: Bool
    /// The key file; its path is nil for a key in the store.
    let output: OutputArguments
    /// The options that were given and are about a store.
    private let ofStore: [String]

    /// - Parameter mayKeepBoth: Whether there may be a key file beside a key in the store.
    init(_ arguments: inout Arguments, mayKeepBoth: Bool = false) {
        ((name, topic, isDefault, store), ofStore) = arguments.given { arguments in
            (
                arguments.value("--name", "NAME", help: "the new key's name in the store; default 'default'")
                    ?? DeviceState.defaultName,
                TopicArgument(&arguments, help: "bind the key to this app"),
                arguments.flag("--default", help: "make it the default key"),
                StoreArguments(&arguments)
            )
        }
        isJSON = arguments.json()
        output = OutputArguments(&arguments, help: "write the secret key to a key file instead of a store")
        if !mayKeepBoth { arguments.keyFile("--output", excludesStoreAnd: ["--name", "--default", "--topic"]) }
    }

    /// Refuses what a push key does not have: a store has one, for all apps.
    fileprivate func refuseAllButStore() throws {
        let names =
            ofStore.filter { ["--name", "--topic", "--default"].contains($0) }
            + (output.path == nil ? [] : ["--output"])
        guard let name = names.first else { return }
        throw Failure.usage("a push key has no \(name)", hint: "a store has one push key, for all of its apps")
    }

    /// Refuses options about a store beside a key file.
    func refuseStore() throws {
        guard let name = ofStore.first else { return }
        throw Failure.usage("--output and \(name) exclude each other", hint: StoreArguments.keyFileHint)
    }
}

// MARK: Into the store

extension Console {
    /// Stores a device's key, a new one without `imported`, and prints what the provider needs.
    func keep(_ imported: DeviceKey?, _ suite: CipherSuite = .x25519, in arguments: NewKeyArguments) throws {
        let store = try open(arguments.store)
        let topic = try arguments.topic.topic(self)
        let (name, now) = (arguments.name, timestamp)
        // Before the first key that is made here, because nothing sent earlier can be for it, and so that a failure leaves no
        // key that nobody was told of.
        let isFirst = try store.namesWithKeys().isEmpty
        if imported == nil, isFirst { try createExtensionDatabase(of: arguments.store) }
        let (state, account, key) = try store.change { (state) throws(KeyStoreError) in
            let key = if let imported { imported } else { try state.newKey(suite, DeviceState.makeKey) }
            let added = try state.add(key, to: name, topic: topic, at: now)
            if arguments.isDefault { try state.setDefault(name) }
            return (state, try state.accountWithKeys(name), added)
        }
        try write(state.text(of: key, in: account, asJSON: arguments.isJSON) + "\n")
        changed(account.text(of: key, after: imported == nil ? "made" : "imported"))
    }

    /// Stores a provider's key, a new one without `imported`, and prints what the phones need.
    func keep(_ imported: ProviderKey?, in arguments: NewKeyArguments) throws {
        let store = try open(arguments.store)
        let topic = try arguments.topic.topic(self)
        let (name, now) = (arguments.name, timestamp)
        let record =
            if let imported {
                try store.importProviderKey(imported, named: name, topic: topic, at: now)
            } else {
                try store.generateProviderKey(named: name, topic: topic, at: now)
            }
        if arguments.isDefault { try store.setDefaultProviderKey(named: name) }
        try write(record.text(asJSON: arguments.isJSON) + "\n")
        changed(record.text(after: imported == nil ? "made" : "imported"))
    }

    /// Stores an imported push key.
    func keep(_ imported: PushKey, in arguments: NewKeyArguments) throws {
        try arguments.refuseAllButStore()
        try keep(imported, isNext: false, in: arguments.store, "imported", asJSON: arguments.isJSON)
    }

    /// Stores a push key, and prints it.
    func keep(
        _ key: PushKey, isNext: Bool, in store: StoreArguments, _ verb: String, asJSON: Bool
    ) throws {
        let store = try open(store)
        let hints: [KeyStoreError.Code: String] = [
            .nameTaken: isNext
                ? "if a key was stolen: pushcrypt key remove push" : "pushcrypt key new push --next replaces it",
            .unknownName: "pushcrypt key new push makes one",
        ]
        let record = try advising(hints) {
            try isNext ? store.addNextPushKey(key, at: timestamp) : store.addPushKey(key, at: timestamp)
        }
        try write(record.text(asJSON: asJSON) + "\n")
        changed("\(verb) push: push key \(PushKey.fingerprint(of: record.publicKey))")
    }
}

// MARK: Into a key file

extension Console {
    /// Writes a device's key file, and prints the public key.
    func deliverKeyFile(_ key: DeviceKey, to arguments: NewKeyArguments) throws {
        try key.withText { text in try deliverSecret(text, to: arguments.output) }
        let record = DeviceRegistration(publicKey: key.publicKey, createdAt: timestamp).json
        try write("\(key.publicKey)", record, beside: arguments)
    }

    /// Writes a provider's key file, and prints the public key.
    func deliverKeyFile(_ key: ProviderKey, to arguments: NewKeyArguments) throws {
        try key.withText { text in try deliverSecret(text, to: arguments.output) }
        let record = ProviderRecord(publicKey: key.publicKey, topic: nil, generation: 1, createdAt: timestamp).json
        try write("\(key.publicKey)", record, beside: arguments)
    }

    private func write(_ key: String, _ record: ContiguousArray<UInt8>, beside arguments: NewKeyArguments) throws {
        guard arguments.output.file != nil else { return }
        try write((arguments.isJSON ? String(decoding: record, as: UTF8.self) : key) + "\n")
    }

    /// Writes the text of a secret key and a newline to a file that only its owner can read, or to a pipe; never to a
    /// terminal.
    func deliverSecret(_ text: Span<UInt8>, to destination: OutputArguments) throws {
        if destination.file == nil {
            if showsOutput {
                throw Failure.usage(
                    "a secret key is not shown on a terminal", hint: "write it to a file with --output FILE")
            }
            warnIfOthersRead("the secret key goes", option: "--output")
        }
        var line = Ephemeral(count: text.count + 1)
        line.withMutableSpan { line in
            for index in text.indices { line[index] = text[index] }
            line[text.count] = newline
        }
        try line.withSpan { try deliver($0, to: destination, isSecret: true) }
    }
}

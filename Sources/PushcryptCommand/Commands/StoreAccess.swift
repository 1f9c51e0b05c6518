internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Option {
    static let store = Option(
        "--store", "DIR", .folder,
        help: "the key store; otherwise PUSHCRYPT_STORE, otherwise the user's data directory")
    static let topic = Option(
        "--topic", "BUNDLE-ID", help: "the app, for example com.example.app; needed where no key is bound to one")
    static let topicHint = "add --topic with the app's bundle id, for example com.example.app"
    static func name(of keys: StoredName) -> Option {
        Option("--name", "NAME", .name(keys), help: "which of the store's keys; otherwise the default one")
    }
    static let passphraseFile = Option(
        "--passphrase-file", "FILE", .secret,
        help: "the store's passphrase: a file, fd:N, or - for standard input; a terminal is asked otherwise")
}

extension Console {
    /// Where the store is: `--store`, else PUSHCRYPT_STORE, else the user's data directory (XDG).
    func storePath(_ invocation: Invocation) throws(CommandFailure) -> String {
        guard let path = storePath(given: invocation.value("--store")) else {
            throw .usage("there is no place for a key store", hint: "name one with --store DIR")
        }
        return path
    }

    /// The same for what `--store` says; nil where there is no place for a store.
    func storePath(given path: String?) -> String? {
        if let path { return path }
        if let path = variable("PUSHCRYPT_STORE"), !path.isEmpty { return path }
        if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/pushcrypt" }
        if let home = variable("HOME"), home.hasPrefix("/") { return home + "/.local/share/pushcrypt" }
        return nil
    }

    /// Opens the key store, asking for its passphrase if it has one.
    func openStore(_ invocation: Invocation) throws(CommandFailure) -> SQLiteKeyStore {
        let path = try storePath(invocation)
        if let source = invocation.value("--passphrase-file") {
            let passphrase = try passphrase(readSecret(from: source))
            return try withStoreErrors { () throws(KeyStoreError) in
                try SQLiteKeyStore.open(in: path, passphrase: passphrase)
            }
        }
        do throws(KeyStoreError) {
            return try SQLiteKeyStore.open(in: path, passphrase: nil)
        } catch {
            guard error.code == .passphraseNeeded else { throw CommandFailure(error) }
        }
        let passphrase = try passphrase(askPassphrase("passphrase for \(quoted(path)): "))
        return try withStoreErrors { () throws(KeyStoreError) in
            try SQLiteKeyStore.open(in: path, passphrase: passphrase)
        }
    }

    /// Makes the replay guard beside the store's database, unless there is one.
    ///
    /// Its floor lies before now by what clocks may differ: a phone that runs ahead of its provider must not take its
    /// first notifications for old ones. Only for the first key of a store; a guard that is missing later is made by the
    /// next message, with a floor close to now.
    func createReplayFile(_ invocation: Invocation) throws(CommandFailure) {
        let path = try storePath(invocation)
        do throws(KeyStoreError) {
            _ = try ReplayFile.create(in: path, floor: timestamp.subtracting(milliseconds: Freshness.clockTolerance))
        } catch {
            guard error.code == .storeExists else { throw CommandFailure(error) }
        }
    }

    /// Opens the replay guard beside the store's database.
    func openReplayFile(_ invocation: Invocation) throws(CommandFailure) -> ReplayFile {
        ReplayFile.open(in: try storePath(invocation), at: timestamp)
    }
}

// MARK: Secrets

extension Console {
    /// Reads a sender's secret key as text.
    func readSenderKey(from source: String) throws(CommandFailure) -> SenderKey {
        try withKey(from: source) { (text) throws(KeyError) in try SenderKey(text: text) }
    }

    /// Reads a device's secret key as text.
    func readDeviceKey(from source: String) throws(CommandFailure) -> DeviceKey {
        try withKey(from: source) { (text) throws(KeyError) in try DeviceKey(text: text) }
    }

    /// Reads a key; `isShared` for one of which only the public half is wanted.
    func withKey<R>(
        from source: String, isShared: Bool = false, _ body: (Span<UInt8>) throws(KeyError) -> R
    ) throws(CommandFailure) -> R {
        let secret = try readSecret(from: source, isShared: isShared)
        do throws(KeyError) {
            return try secret.withSpan(body)
        } catch {
            throw CommandFailure(error, in: source == "-" ? "standard input" : quoted(source))
        }
    }

    /// Reads a secret into memory that is wiped.
    func readSecret(from source: String, isShared: Bool = false) throws(CommandFailure) -> Ephemeral {
        try exactly { (buffer) throws(CommandFailure) in
            try readSecret(from: source, isShared: isShared, into: &buffer)
        }
    }

    /// Asks for a passphrase on the terminal.
    func askPassphrase(_ question: String) throws(CommandFailure) -> Ephemeral {
        try exactly { (buffer) throws(CommandFailure) in
            try askSecret(
                question, otherwise: "a passphrase is needed: name the file that holds it with --passphrase-file",
                into: &buffer)
        }
    }

    func passphrase(_ text: consuming Ephemeral) throws(CommandFailure) -> StorePassphrase {
        try withStoreErrors { () throws(KeyStoreError) in
            try text.withSpan { (text) throws(KeyStoreError) in try StorePassphrase(text) }
        }
    }

    private func exactly(
        _ fill: (inout MutableSpan<UInt8>) throws(CommandFailure) -> Int
    ) throws(CommandFailure) -> Ephemeral {
        var buffer = Ephemeral(count: Self.secretCapacity)
        let count = try buffer.withMutableSpan(fill)
        return buffer.withSpan { Ephemeral(copying: $0.extracting(0..<count)) }
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `--store` and `--passphrase-file`: a key store.
struct StoreArguments: Sendable {
    static let keyFileHint = "a key file is used without a store"

    /// The given path; nil for the default place.
    let path: String?
    let passphraseFile: String?

    init(_ arguments: inout Arguments) {
        path = arguments.storePath()
        passphraseFile = arguments.passphraseFile()
    }

    init(path: String?, passphraseFile: String?) {
        self.path = path
        self.passphraseFile = passphraseFile
    }

    /// Whether the command line names a store.
    var isGiven: Bool { path != nil || passphraseFile != nil }
}

extension Arguments {
    mutating func storePath() -> String? {
        value(
            "--store", "DIR", .folder,
            help: "the key store; default PUSHCRYPT_STORE, or the user's data directory")
    }

    mutating func passphraseFile() -> String? {
        value(
            "--passphrase-file", "FILE", .secret,
            help: "the store's passphrase: a file, fd:N or -; otherwise entered on the terminal")
    }

    /// Refuses a store, and what is about one, beside a key file.
    mutating func keyFile(_ name: String, excludesStoreAnd others: [String] = []) {
        option(name, excludes: ["--store", "--passphrase-file"] + others, hint: StoreArguments.keyFileHint)
    }
}

// MARK: Opening

extension Console {
    /// The path of the store: `--store`, else PUSHCRYPT_STORE, else the user's data directory (XDG).
    func path(of store: StoreArguments) throws -> String {
        guard let path = storePath(given: store.path) else {
            throw Failure.usage("there is no place for a key store", hint: "name one with --store DIR")
        }
        return path
    }

    /// The same for the value of `--store`; nil if there is no place for a store.
    func storePath(given path: String?) -> String? {
        if let path { return path }
        if let path = variable("PUSHCRYPT_STORE"), !path.isEmpty { return path }
        if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/pushcrypt" }
        if let home = variable("HOME"), home.hasPrefix("/") { return home + "/.local/share/pushcrypt" }
        return nil
    }

    /// Opens the key store; prompts for its passphrase if it has one. Warns if other users can read or change it.
    func open(_ store: StoreArguments) throws -> SQLiteKeyStore {
        let store = try openQuietly(store)
        warn(of: store)
        return store
    }

    /// Gives the first of a store's warnings; `doctor` lists all.
    func warn(of store: SQLiteKeyStore) {
        if let found = store.warnings().first { warningOnce("\(found.message): \(found.fix)") }
    }

    /// Warns that the store may be an old copy.
    func warn(ofStale warning: KeyStoreError?) {
        if let warning { self.warning("\(warning.code): \(warning)") }
    }

    /// Opens the key store like `open`, without a warning.
    func openQuietly(_ store: StoreArguments) throws -> SQLiteKeyStore {
        let path = try path(of: store)
        return try withPassphrase(of: store, for: path) { try SQLiteKeyStore.open(in: path, passphrase: $0) }
    }

    /// Calls `body` with the passphrase that the command line names, or without one; asks for it if it is needed.
    func withPassphrase<R>(
        of store: StoreArguments, for file: String, _ body: (StorePassphrase?) throws -> R
    ) throws -> R {
        if let source = store.passphraseFile { return try body(passphrase(readSecret(from: source))) }
        do {
            return try body(nil)
        } catch let error as KeyStoreError where error.code == .passphraseNeeded {
            return try body(passphrase(askPassphrase("passphrase for \(quoted(file)): ")))
        }
    }

    /// Creates the database of the extension beside the store's, unless it exists.
    ///
    /// A phone whose clock is ahead of its provider's must not treat its first notifications as old ones.
    func createExtensionDatabase(of store: StoreArguments) throws {
        let path = try path(of: store)
        do {
            _ = try ExtensionDatabase.create(in: path, floor: timestamp.subtracting(ReplayRules.firstFloorAge))
        } catch {
            guard error.code == .storeExists else { throw error }
        }
    }

    /// Opens the database of the extension, beside the store's.
    func openExtensionDatabase(of store: StoreArguments) throws -> ExtensionDatabase {
        ExtensionDatabase(in: try path(of: store))
    }
}

// MARK: Secrets

extension Console {
    /// Reads a provider's secret key as text.
    func readProviderKey(from source: String) throws -> ProviderKey {
        try withKey(from: source) { try ProviderKey(text: $0) }
    }

    /// Reads a key; `isShared` if only its public half is needed.
    func withKey<R>(from source: String, isShared: Bool = false, _ body: (Span<UInt8>) throws -> R) throws -> R {
        let secret = try readSecret(from: source, isShared: isShared)
        return try naming(inputName(source)) { try secret.withSpan(body) }
    }

    /// Reads a secret into memory that is wiped.
    func readSecret(from source: String, isShared: Bool = false) throws -> Ephemeral {
        try exactly { try readSecret(from: source, isShared: isShared, into: &$0) }
    }

    /// Asks for a passphrase on the terminal.
    func askPassphrase(_ question: String) throws -> Ephemeral {
        try exactly {
            try askSecret(
                question, otherwise: "a passphrase is needed: name the file that holds it with --passphrase-file",
                into: &$0)
        }
    }

    func passphrase(_ text: consuming Ephemeral) throws -> StorePassphrase {
        try text.withSpan { try StorePassphrase($0) }
    }

    private func exactly(_ fill: (inout MutableSpan<UInt8>) throws -> Int) throws -> Ephemeral {
        var buffer = Ephemeral(count: Self.secretCapacity)
        let count = try buffer.withMutableSpan(fill)
        return buffer.withSpan { Ephemeral(copying: $0.extracting(0..<count)) }
    }
}

extension Console {
    /// Warns of a secret that goes to a file which others can read.
    func warnIfOthersRead(_ what: String, option: String) {
        guard output.isFileOpenToOthers else { return }
        warning("others may read the file that \(what) to; chmod 0600 it, or use \(option) FILE")
    }
}

extension SQLiteKeyStore {
    /// The accounts that have device keys.
    func namesWithKeys() throws -> [String] {
        try state().accounts.filter { !$0.keys.isEmpty }.map(\.name)
    }
}

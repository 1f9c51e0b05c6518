internal import Pushcrypt
internal import PushcryptKeyStore

extension Option {
    /// With which key `seal` signs.
    static let sealSender = [
        Option("--from", "NAME", help: "the sender key in the store; otherwise the default one"),
        Option(
            "--sender-key-file", "FILE", .secret,
            help: "sign with this key and use no store: a file, fd:N, or - for standard input"),
    ]
}

/// Where `seal` takes its keys from.
enum SealSource: Sendable {
    case key(SenderKey)
    /// The key of a name, which nil means the default one, and the devices of a store.
    case store(SQLiteKeyStore, senderName: String?)

    init(_ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        guard let source = invocation.value("--sender-key-file") else {
            self = .store(try console.openStore(invocation), senderName: invocation.value("--from"))
            return
        }
        for name in ["--store", "--from", "--passphrase-file"] where invocation.flag(name) {
            throw .usage("--sender-key-file and \(name) exclude each other", hint: "a key file is used without a store")
        }
        self = .key(try console.readSenderKey(from: source))
    }

    /// The keys of one thread.
    func keys() throws(KeyStoreError) -> SealingKeys {
        switch self {
        case .key(let key): SealingKeys(key)
        case .store(let store, let name): try SealingKeys(store, senderName: name)
        }
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyShow = Command(
        "show", "print the public key, or the record for the other side",
        about: [
            "--json prints the record: of a device, to register with; of a provider, for phones to pin, with its certificate. Of a device whose key is changing, the pending key is shown: it is the one to register, and already opens."
        ],
        examples: [
            Example("pushcrypt key show --json", "the record"),
            "pushcrypt key show | pushcrypt --store P device add phone1 -",
        ]
    ) { a in
        let command = KeyShowCommand(&a)
        return { try command.run($0) }
    }
}

struct KeyShowCommand {
    private let key: OwnKeyArguments
    private let store: StoreArguments
    private let isJSON: Bool
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        output = OutputArguments(&arguments)
        key = OwnKeyArguments(&arguments)
    }

    func run(_ console: Console) throws -> ExitCode {
        let store = try console.open(store)
        try console.deliver(try text(store, at: console.timestamp) + "\n", to: output)
        return .done
    }

    private func text(_ store: SQLiteKeyStore, at now: Timestamp) throws -> String {
        switch try key.kind(in: store) {
        case .device:
            let state = try store.state()
            let account = try state.accountWithKeys(key.name)
            let current = try account.keyToRegister()
            return isJSON ? state.registrationText(of: current, in: account) : "\(current.publicKey)"
        case .provider:
            let record = try store.providerKey(named: key.name)
            return isJSON ? record.json : "\(record.publicKey)"
        case .push:
            let record = try store.ownPushKey(at: now)
            return isJSON ? record.json : record.publicKey.text
        }
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let export = Command(group: "export", "print a public key, or write a secret one to a file") {
        CommandGroup(
            commands: [
                Command("device", "print what a provider needs to seal for this device", ExportDeviceCommand.self),
                Command("sender", "print what devices need to trust this provider", ExportSenderCommand.self),
            ])
    }
}

/// The options of both exports.
private struct ExportArguments: Sendable {
    let name: String?
    let isSecret: Bool
    let store: StoreArguments
    let isJSON: Bool
    let output: OutputArguments

    init(_ arguments: inout Arguments, of kind: StoredName) {
        name = arguments.keyName(of: kind)
        isSecret = arguments.flag(
            "--secret", help: "write the active secret key: to --output, or into a pipe")
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        output = OutputArguments(&arguments)
        arguments.atMostOne(of: "--secret", "--json")
    }
}

struct ExportDeviceCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Prints the pending key if there is one: it is the one to register, and already opens."
            ],
            examples: [
                Example("pushcrypt export device --json", "the record that a phone registers with"),
                Example("pushcrypt export device | pushcrypt --store P device add phone1 -"),
            ])
    }

    private let arguments: ExportArguments

    init(_ arguments: inout Arguments) { self.arguments = ExportArguments(&arguments, of: .deviceKey) }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(arguments.store)
        if arguments.isSecret {
            let key = try withStoreErrors { () throws(KeyStoreError) in try store.deviceSecret(named: arguments.name) }
            try key.withText { (text) throws(CommandFailure) in
                try console.deliverSecret(text, to: arguments.output)
            }
            return .done
        }
        let record = try store.deviceKeyToRegister(named: arguments.name)
        let text = try arguments.isJSON ? registrationText(record, store) : "\(record.publicKey)"
        try console.deliver(text + "\n", to: arguments.output)
        return .done
    }
}

extension SQLiteKeyStore {
    /// The pending key of a name, else the active one.
    func deviceKeyToRegister(named name: String?) throws(CommandFailure) -> DeviceKeyRecord {
        let records = try withStoreErrors { () throws(KeyStoreError) in try deviceKeys(named: name) }
        guard
            let record = records.first(where: { $0.state == .pending }) ?? records.first(where: { $0.state == .active })
        else {
            throw .usage("the store has no device key to export", hint: "pushcrypt keygen device makes one")
        }
        return record
    }
}

struct ExportSenderCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(examples: [
            Example(
                "pushcrypt export sender --statements -o statements", "for 'seal --statement', beside the key file")
        ])
    }

    private let arguments: ExportArguments
    private let isForStatements: Bool

    init(_ arguments: inout Arguments) {
        isForStatements = arguments.flag(
            "--statements", help: "the rotations that messages announce now, a line each; nothing if there are none")
        self.arguments = ExportArguments(&arguments, of: .providerKey)
        arguments.atMostOne(of: "--statements", "--secret", "--json")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(arguments.store)
        let stored = try withStoreErrors { () throws(KeyStoreError) in try store.providerKey(named: arguments.name) }
        if arguments.isSecret {
            try stored.key.withText { (text) throws(CommandFailure) in
                try console.deliverSecret(text, to: arguments.output)
            }
            return .done
        }
        if isForStatements {
            let chain = try withStoreErrors { () throws(KeyStoreError) in try store.announcements() }
            let text = chain.text(endingAt: stored.record.publicKey, at: console.timestamp)
            try console.deliver(text, to: arguments.output)
            return .done
        }
        let text = try arguments.isJSON ? announcementText(stored.record, store) : "\(stored.record.publicKey)"
        try console.deliver(text + "\n", to: arguments.output)
        return .done
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let device = Command(group: "device", "the devices that a provider seals for") {
        CommandGroup(
            discussion: ["Docs/Devices.md explains records, removals, imports and exports."],
            commands: [
                Command("add", "register a device's public key, or a newer one", DeviceAddCommand.self),
                Command("list", "list the devices, one per line", DeviceListCommand.self),
                Command("remove", "remove devices, and remember that they are gone", DeviceRemoveCommand.self),
                Command(
                    "import", "register many devices, or import what another store knows of them",
                    DeviceImportCommand.self),
                Command(
                    "export", "write all devices, for 'device import --from-export'",
                    DeviceExportCommand.self),
                Command("purge", "forget that devices were removed", DevicePurgeCommand.self),
                Command("test", "create a test notification for a device", DeviceTestCommand.self),
            ])
    }
}

/// `device add`.
struct DeviceAddCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Reads the output of 'export device': the key (pcr1…) or the registration record (--json). A record with a lower generation than the store's is refused: it is old, or replayed. A key alone counts as generation 1, so it enrols a device; after a rotation, register the record.",
                "Take ID and USER from the session that sent the record: the record's own 'device' is ignored. Another user's device or key is refused; between one user's devices a key moves. A removed device is registered again.",
                "--reply prints what an enrolling phone expects: the key that is sealed to from now on and the sender's, or why the record was refused. A warning, and 'foreign' in the answer, says that the phone trusts a sender key which this store never had.",
            ],
            examples: [
                Example("pushcrypt export device | pushcrypt --store P device add phone1 -"),
                Example("pushcrypt device add phone1 record.json --user alice"),
                Example("pushcrypt device add phone1 record.json --reply", "the answer for the phone"),
            ])
    }

    private let id: String
    private let file: String
    private let owner: DeviceOwner
    private let topic: TopicArgument
    private let replaces: Bool
    private let wantsReply: Bool
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        id = arguments.operand("ID", .name(.device), help: "the provider's name for the device")
        file = arguments.optionalInput("FILE", help: "the key or record; default standard input")
        let user = arguments.value(
            "--user", "USER", .name(.user), help: "the device's user; default unchanged")
        let isNobodys = arguments.flag("--no-user", help: "the device has no user any more")
        owner = user.map(DeviceOwner.user) ?? (isNobodys ? .nobody : .unchanged)
        topic = TopicArgument(&arguments, help: "the key's app, if the record does not say it")
        replaces = arguments.flag(
            "--replace", help: "accept any generation, user and app, for example after a reinstall")
        wantsReply = arguments.flag("--reply", help: "print the phone's registration reply, as JSON")
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        arguments.atMostOne(of: "--reply", "--json")
        arguments.atMostOne(of: "--user", "--no-user")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let bytes = try console.read(file, limit: DeviceInput.maximumRecord)
        var registration = try DeviceInput.registration(bytes)
        if let topic = try topic.topic(console) {
            guard registration.topic == nil || registration.topic == topic else {
                throw .usage("the record is for another topic than --topic", hint: "leave --topic out")
            }
            registration.topic = topic
        }
        let store = try console.open(store)
        let outcome: RegistrationOutcome
        do throws(KeyStoreError) {
            outcome = try store.addDevice(
                registration, id: id, owner: owner, replace: replaces, at: console.timestamp)
        } catch {
            let failure = CommandFailure(error)
            if wantsReply, let refusal = error.refusal {
                try console.write(line: RegistrationReply(.refused(refusal)).json)
            }
            guard error.code == .generationRollback, !DeviceInput.isRecord(bytes) else { throw failure }
            throw CommandFailure(
                failure.exit, failure.message,
                hints: ["after a rotation give the record, which has a generation: pushcrypt export device --json"])
        }
        var foreign = try ForeignSenders(of: store)
        foreign.add(id, trusting: registration.pinnedSender, registration.recoveryKeys)
        console.warn(of: foreign)
        if wantsReply {
            let sender = try Self.defaultSender(store)
            let reply = RegistrationReply(
                .acknowledged(registration.publicKey), sender: sender?.key, recoveryKeys: sender?.recoveryKeys ?? [],
                foreign: foreign.members,
                suites: try withStoreErrors { () throws(KeyStoreError) in try store.permittedSuites() })
            try console.write(line: reply.json)
        }
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                json.string(id, for: "device")
                json.string(outcome.name, for: "outcome")
                json.string(registration.publicKey.id.description, for: "key_id")
                json.integer(registration.generation, for: "generation")
                if foreign.count > 0 {
                    json.array(for: "foreign") { json in
                        for member in foreign.members { json.string(member.description) }
                    }
                }
            }
            try console.write(line: json.bytes)
        }
        return .done
    }

    /// The default key that signs, and its recovery keys; nil for a store that only keeps devices.
    private static func defaultSender(
        _ store: SQLiteKeyStore
    ) throws(CommandFailure) -> (key: SenderPublicKey, recoveryKeys: [RecoveryPublicKey])? {
        do throws(KeyStoreError) {
            return (try store.senderKey(named: nil).record.publicKey, try store.announcedRecoveryKeys())
        } catch {
            guard error.code == .unknownName || error.code == .ambiguousName else { throw CommandFailure(error) }
            return nil
        }
    }
}

extension RegistrationOutcome {
    /// The name in JSON.
    fileprivate var name: String {
        switch self {
        case .added: "added"
        case .updated: "updated"
        case .unchanged: "unchanged"
        }
    }
}

internal import Pushcrypt
internal import PushcryptKeyStore

extension Command {
    static let device = Command(
        group: "device", "the devices that a provider seals for",
        examples: [Example("pushcrypt device add phone1 phone1.json"), Example("pushcrypt device list")],
        commands: [deviceAdd, deviceList, deviceRemove, deviceImport, deviceTest])

    private static let deviceAdd = Command(
        "add", "take a device's public key, or a newer one",
        discussion: [
            "Takes what 'pushcrypt export device' prints: the key (pcr1…) or the registration record (--json). A record with a lower generation than the store has is refused: it is an old one, or somebody plays one back.",
            "A key alone counts as generation 1, so it enrols a device; what a rotation made is registered with the record.",
            "--reply prints what a phone that enrols expects for an answer: the key that is sealed to from now on and the sender's, or why the record was refused.",
        ],
        operands: [
            Operand("ID", help: "what the provider calls the device"),
            Operand("FILE", .input, .optional, help: "the key or the record; standard input otherwise"),
        ],
        options: [
            Option("--topic", "BUNDLE-ID", help: "the app that the key is for, where the record does not say"),
            Option(flag: "--replace", help: "take the key whatever generation it has, for example after a reinstall"),
            Option(flag: "--reply", help: "print the registration reply for the phone, as JSON"),
            .store, .passphraseFile, .json,
        ],
        examples: [
            Example("pushcrypt export device | pushcrypt --store P device add phone1 -"),
            Example("pushcrypt device add phone1 record.json --reply", "what the phone is answered"),
        ], run: runDeviceAdd)

    private static let deviceList = Command(
        "list", "list the devices, one a line", options: [.store, .passphraseFile, .json],
        examples: [Example("pushcrypt device list --json", "one registration record a line")], run: runDeviceList)

    private static let deviceRemove = Command(
        "remove", "forget devices",
        operands: [Operand("ID", .text, .atLeastOne, help: "the device to forget")],
        options: [.store, .passphraseFile], examples: [Example("pushcrypt device remove phone1")],
        run: runDeviceRemove)

    private static let deviceImport = Command(
        "import", "take many registration records, one a line",
        discussion: [
            "Each line is a record with its 'device', as 'device list --json' prints it. A line that is refused is reported with its number; the others are taken, and the exit code is then 65."
        ],
        operands: [Operand("FILE", .input, .optional, help: "newline-delimited JSON; standard input otherwise")],
        options: [
            Option(flag: "--replace", help: "take keys whatever generation they have"), .store, .passphraseFile, .json,
        ],
        examples: [Example("pushcrypt device import devices.ndjson")], run: runDeviceImport)
}

private func runDeviceAdd(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--reply", "--json")
    let bytes = try console.read(invocation.operand("FILE"), limit: DeviceInput.maximumRecord)
    var registration = try DeviceInput.registration(bytes, at: console.timestamp)
    if let topic = try invocation.topic() {
        guard registration.topic == nil || registration.topic == topic else {
            throw .usage("the record is for another topic than --topic", hint: "leave --topic out")
        }
        registration.topic = topic
    }
    let id = invocation.operand("ID")
    let store = try console.openStore(invocation)
    let outcome: RegistrationOutcome
    do throws(KeyStoreError) {
        outcome = try store.addDevice(
            id: id, registration, replace: invocation.flag("--replace"), now: console.timestamp)
    } catch {
        let failure = CommandFailure(error)
        if invocation.flag("--reply"), error.code == .generationRollback || error.code == .topicMismatch,
            let refusal = RegistrationReply.Refusal(error.code.description)
        {
            try console.write(RegistrationReply(.refused(refusal)))
        }
        guard error.code == .generationRollback, !DeviceInput.isRecord(bytes) else { throw failure }
        throw CommandFailure(
            failure.exit, failure.message,
            hints: ["after a rotation give the record, which has a generation: pushcrypt export device --json"])
    }
    if invocation.flag("--reply") {
        let sender = try defaultSender(store)
        try console.write(RegistrationReply(.acknowledged(registration.publicKey), sender: sender))
    }
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { json in
            json.string(id, for: "device")
            json.string(outcome.name, for: "outcome")
            json.string(registration.publicKey.id.description, for: "key_id")
            json.integer(registration.generation, for: "generation")
        }
        try console.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
    }
    return .done
}

/// The key that signs where nobody says otherwise; nil for a store that only keeps devices.
private func defaultSender(_ store: SQLiteKeyStore) throws(CommandFailure) -> SenderPublicKey? {
    do throws(KeyStoreError) {
        return try store.senderKey(named: nil).record.publicKey
    } catch {
        guard error.code == .unknownName || error.code == .ambiguousName else { throw CommandFailure(error) }
        return nil
    }
}

extension Console {
    fileprivate func write(_ reply: RegistrationReply) throws(CommandFailure) {
        try write(String(decoding: reply.json, as: UTF8.self) + "\n")
    }
}

private func runDeviceList(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let isJSON = invocation.flag("--json")
    var output = OutputBuffer(console)
    do {
        try store.forEachDevice { entry in
            let device = try entry.get()
            let registration = device.registration
            let line =
                isJSON
                ? String(decoding: registration.json, as: UTF8.self)
                : "\(sanitized(forTerminal: device.id))  \(device.publicKey)  \(device.topic?.bundleID ?? "-")"
            try output.append(line + "\n")
        }
    } catch let error as KeyStoreError {
        throw CommandFailure(error)
    } catch let error as CommandFailure {
        throw error
    } catch {
        throw .failed("the devices could not be listed")
    }
    try output.flush()
    return .done
}

private func runDeviceRemove(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    var exit = ExitCode.done
    for id in invocation.operands("ID") {
        let wasThere = try withStoreErrors { () throws(KeyStoreError) in
            try store.removeDevice(id, now: console.timestamp)
        }
        if !wasThere {
            console.error("there is no device \(quoted(id))")
            exit = .usage
        }
    }
    if exit != .done { console.hint("pushcrypt device list shows them") }
    return exit
}

extension DeviceRecord {
    /// The record as its device would register again.
    var registration: DeviceRegistration {
        DeviceRegistration(
            deviceID: id, publicKey: publicKey, suites: suites, topic: topic, generation: generation,
            createdAt: createdAt, pinnedSender: pinnedSender, appVersion: appVersion)
    }
}

extension RegistrationOutcome {
    /// As programs read it.
    var name: String {
        switch self {
        case .added: "added"
        case .updated: "updated"
        case .unchanged: "unchanged"
        }
    }
}

/// What `device add` and `device import` read.
enum DeviceInput {
    static let maximumRecord = 1 << 16
    static let maximumImport = 1 << 30
    /// What `seal --to` takes for a key and not for an id.
    static let keyPrefix = "pcr1"

    /// Tells a registration record from a bare `pcr1…`.
    static func isRecord(_ bytes: ContiguousArray<UInt8>) -> Bool {
        bytes.first { !$0.isWhiteSpace } == UInt8(ascii: "{")
    }

    /// Reads a registration record, or a bare `pcr1…`.
    static func registration(
        _ bytes: ContiguousArray<UInt8>, at now: Timestamp
    ) throws(CommandFailure) -> DeviceRegistration {
        do throws(KeyError) {
            if isRecord(bytes) { return try DeviceRegistration(json: bytes, at: now) }
            let key = try DevicePublicKey(text: String(decoding: bytes, as: UTF8.self))
            return DeviceRegistration(publicKey: key, createdAt: now)
        } catch {
            throw CommandFailure(error, in: "the device's key")
        }
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let device = Command(
        group: "device", "the devices that a provider seals for",
        examples: [Example("pushcrypt device add phone1 phone1.json"), Example("pushcrypt device list")],
        commands: [
            deviceAdd, deviceList, deviceRemove, deviceImport, deviceExport, devicePurge, deviceTest,
        ])

    private static let deviceAdd = Command(
        "add", "take a device's public key, or a newer one",
        discussion: [
            "Takes what 'pushcrypt export device' prints: the key (pcr1…) or the registration record (--json). A record with a lower generation than the store has is refused: it is an old one, or somebody plays one back.",
            "A key alone counts as generation 1, so it enrols a device; what a rotation made is registered with the record.",
            "A device that was removed is taken again. What the record says of a user is not read: that is the provider's to say.",
            "--reply prints what a phone that enrols expects for an answer: the key that is sealed to from now on and the sender's, or why the record was refused.",
        ],
        operands: [
            Operand("ID", .name(.device), help: "what the provider calls the device"),
            Operand("FILE", .input, .optional, help: "the key or the record; standard input otherwise"),
        ],
        options: [
            Option(
                "--user", "USER", .name(.user), help: "whose the device is; it stays with whom it belongs to otherwise"),
            Option(flag: "--no-user", help: "the device is nobody's from now on"),
            Option("--topic", "BUNDLE-ID", help: "the app that the key is for, where the record does not say"),
            Option(flag: "--replace", help: "take the key whatever generation it has, for example after a reinstall"),
            Option(flag: "--reply", help: "print the registration reply for the phone, as JSON"),
            .store, .passphraseFile, .json,
        ],
        examples: [
            Example("pushcrypt export device | pushcrypt --store P device add phone1 -"),
            Example("pushcrypt device add phone1 record.json --user alice"),
            Example("pushcrypt device add phone1 record.json --reply", "what the phone is answered"),
        ], run: runDeviceAdd)
}

private func runDeviceAdd(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--reply", "--json")
    try invocation.atMostOne(of: "--user", "--no-user")
    let bytes = try console.read(invocation.operand("FILE"), limit: DeviceInput.maximumRecord)
    var registration = try DeviceInput.registration(bytes)
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
            registration, id: id, owner: invocation.owner, replace: invocation.flag("--replace"), at: console.timestamp
        )
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

extension Invocation {
    /// Whose a device is from now on.
    fileprivate var owner: DeviceOwner {
        if let user = value("--user") { return .user(user) }
        return flag("--no-user") ? .nobody : .unchanged
    }
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

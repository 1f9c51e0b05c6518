internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let device = Command(
        group: "device", "the devices that a provider seals for",
        about: "Docs/Devices.md explains records, tokens, apps, removals, imports and exports.",
        [
            deviceAdd, .devicePair, .deviceAccept, .deviceList, .deviceShow, .deviceRemove, .deviceImport,
            .deviceExport, .devicePurge, .deviceTest,
        ])

    private static let deviceAdd = Command(
        "add", "register a device's public key, or a newer one",
        about: """
            Reads the output of 'key show': the key (pcr1…) or the registration record (--json). A lower generation than the store's is refused: the record is old, or replayed. A key alone is generation 1: it enrols a device; after a rotation, register the record.
            Also reads what a phone posts in its user's session, {"record", "signature"}: an older record than the last one is refused. Take ID and USER from the session: the 'device' of a record that is not signed is ignored. Another user's device or key is refused; between one user's devices a key moves. A removed device is registered again.
            """,
        more: """
            --reply prints what an enrolling phone expects: the key that is sealed to from now on, the provider's with its newest certificate, or why the record was refused. A warning, and 'foreign' in the reply, say that the phone trusts a provider key which this store does not have; the warning stale-store, that it has a certificate which this store never issued.
            --batch reads lines as 'device import' does, and answers each, once the device is stored, with {"device", "user", "reply"}. A failed line becomes {"error": {"code", "message"}, "line": N, …}, with 'reply' if the phone is to be told, and the command ends with 65, or with 1 if a line may succeed later. Other keys are passed through.
            """,
        examples: [
            "pushcrypt device add phone1 record.json --user alice",
            Example(
                "pushcrypt device add phone1 phone1.pub --token 8f3a51c0", "if your app's server keeps the tokens"),
            Example("pushcrypt device add phone1 record.json --reply", "the answer for the phone"),
            "pushcrypt device add --batch --reply < lines > answers",
        ]
    ) { a in
        let user = a.value("--user", "USER", help: "the device's user; default unchanged")
        let topic = TopicArgument(&a, help: "the key's app, if the record does not say it")
        let token = a.value(
            "--token", "HEX", help: "the token that APNs gave the app, instead of the record's; default unchanged")
        let environment: PushEnvironment? = a.choice(
            "--environment", "WHICH", help: "where the token is valid: development for a build from Xcode")
        let replaces = a.flag(
            "--replace", help: "accept any generation, user and app, for example after a reinstall")
        let wantsReply = a.flag("--reply", help: "print the phone's registration reply, as JSON")
        let isBatch = a.flag("--batch", help: "register a device per line, and reply to each")
        let batch = BatchArguments(&a, hasJobs: false)
        let (store, isJSON) = (StoreArguments(&a), a.json())
        a.option("--batch", needs: "--reply", hint: "pushcrypt device import registers many without replies")
        a.option(
            "--batch", excludes: ["--user", "--topic", "--token", "--environment", "--replace"],
            hint: "each line has its own 'user', 'token' and record")
        a.atMostOne(of: "--reply", "--json")
        let id = a.optionalOperand("ID", help: "the provider's name for the device; with --batch the file of lines")
        let file = a.optionalOperand("FILE", .input, help: "the key or record; default standard input")
        return { console in
            if isBatch {
                guard file == nil else {
                    throw Failure.usage("--batch reads one file", hint: "cat joins several: cat a b | pushcrypt …")
                }
                return try addDevices(file: id ?? "-", to: store, batch, console)
            }
            try batch.refuse(beside: "devices")
            guard let id else {
                throw Failure.usage("ID is missing", hint: "usage: pushcrypt device add [options] ID [FILE]")
            }
            let bytes = try console.readRecord(file ?? "-")
            var (registration, signed) = try DeviceInput.record(bytes)
            try DeviceInput.check(signed, isOf: id)
            if let topic = try topic.topic(console) {
                guard registration.topic == nil || registration.topic == topic else {
                    throw Failure.usage("the record is for another topic than --topic", hint: "leave --topic out")
                }
                registration.topic = topic
            }
            let address = PushAddress(token: token.flatMap(PushAddress.token), environment: environment)
            if token != nil, address.token == nil { throw Failure.usage("--token is not \(PushAddress.tokenForm)") }
            address.replace(in: &registration)
            let store = try console.open(store)
            if wantsReply { try RegistrationReplies(of: store, at: console.timestamp).check(registration, of: id) }
            let outcome: RegistrationOutcome
            do {
                outcome = try store.addDevice(
                    registration, signed: signed, id: id, owner: user.map(DeviceOwner.user) ?? .unchanged,
                    replace: replaces, at: console.timestamp)
            } catch let error as KeyStoreError {
                if wantsReply, let refusal = error.refusal {
                    let replies = try RegistrationReplies(of: store, at: console.timestamp)
                    try console.write(line: replies.reply(to: registration, of: id, refused: refusal).json)
                }
                guard error.code == .generationRollback, !DeviceInput.isRecord(bytes) else { throw error }
                throw Failure(
                    error, hint: "after a rotation give the record, which has a generation: pushcrypt key show --json")
            }
            console.changed("\(outcome)", try store.device(id: id), id)
            var foreign = try ForeignProviders(of: store)
            let members = foreign.add(id, pinning: registration.pinnedProvider)
            console.warn(of: foreign)
            if wantsReply {
                // Read now: a key that was replaced before the device was stored must not be sent.
                let replies = try RegistrationReplies(of: store, at: console.timestamp)
                try replies.check(registration, of: id)
                console.warn(ofStale: replies.warning)
                try console.write(line: replies.reply(to: registration, of: id, foreign: members).json)
            }
            if isJSON {
                try console.writeObject { json in
                    json.string(id, for: "device")
                    json.string("\(outcome)", for: "outcome")
                    json.string(registration.publicKey.id.description, for: "key_id")
                    json.integer(registration.generation, for: "generation")
                    if !members.isEmpty { json.strings(members.map(\.description), for: "foreign") }
                }
            }
        }
    }
}

extension Console {
    /// Says what was done to a device, and what the store has of it.
    func changed(_ verb: String, _ device: DeviceRecord?, _ id: String) {
        guard let device else { return changed("\(verb) \(id)") }
        let facts = [
            "key \(device.publicKey.id) (generation \(device.generation))", device.user.map { "user \($0)" },
            device.topic.map { "app \($0)" }, device.token == nil ? nil : "with a push token",
            device.grant == nil ? nil : "with a relay's grant",
        ]
        changed("\(verb) \(id): " + facts.compactMap { $0 }.joined(separator: ", "))
    }
}

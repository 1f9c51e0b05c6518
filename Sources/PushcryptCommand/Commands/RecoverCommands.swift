internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

// The recovery key: made offline, used offline, and only to put a new sender key in place of a stolen one.

/// `keygen recovery`.
struct KeygenRecoveryCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Never run it on the server. Keep the secret key on paper or a stick, and build the printed public key into the app; see Docs/KeyRotation.md."
            ],
            examples: [
                Example("pushcrypt keygen recovery --output recovery.key"),
                Example("pushcrypt keygen recovery | qrencode -t ansiutf8", "for paper"),
            ])
    }

    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        output = OutputArguments(&arguments, help: "write the secret key to a file, and print the public key")
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key = RecoveryKey()
        try key.withText { (text) throws(CommandFailure) in try console.deliverSecret(text, to: output) }
        if output.file == nil {
            console.hint("the public key for the app is \(key.publicKey)")
        } else {
            try console.write("\(key.publicKey)\n")
        }
        return .done
    }
}

extension Command {
    static let recover = Command(group: "recover", "use a sender key's recovery key") {
        CommandGroup(
            examples: [
                Example("pushcrypt recover keys pcv1…"),
                Example("pushcrypt recover sign --recovery-key-file recovery.key request.json"),
            ],
            commands: [
                Command("keys", "tell the server which recovery keys the app has", RecoverKeysCommand.self),
                Command(
                    "sign", "sign a recovery prepared by the provider, on the machine with the secret key",
                    RecoverSignCommand.self),
            ])
    }
}

/// `recover keys`.
struct RecoverKeysCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Registration replies and 'export sender --json' carry these public keys from then on, and a device that reports any other is listed as foreign. A phone that has pinned any keeps them. Without KEY, prints the keys."
            ],
            examples: [Example("pushcrypt recover keys pcv1…"), Example("pushcrypt recover keys")])
    }

    private let name: String?
    private let keys: [String]
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        keys = arguments.operands("KEY", help: "at most two public keys (pcv1…), as 'keygen recovery' printed them")
        name = arguments.keyName(of: .senderKey)
        store = StoreArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        var parsed: [RecoveryPublicKey] = []
        for text in keys {
            do throws(KeyError) {
                parsed.append(try RecoveryPublicKey(text: text))
            } catch {
                throw CommandFailure(error, in: "the recovery key")
            }
        }
        guard parsed.count <= RecoveryPublicKey.maximumPerSender, Set(parsed).count == parsed.count else {
            throw .usage(
                "a sender key has at most two different recovery keys",
                hint: "give each key that the app has built in once")
        }
        let store = try console.open(store)
        let recoveryKeys = try withStoreErrors { () throws(KeyStoreError) in
            if !parsed.isEmpty { try store.setAnnouncedRecoveryKeys(parsed, of: name, at: console.timestamp) }
            return try store.announcedRecoveryKeys(of: name)
        }
        if parsed.isEmpty { for key in recoveryKeys { try console.write("\(key)\n") } }
        return .done
    }
}

/// `recover sign`.
struct RecoverSignCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Shows app, serial and new key before signing; compare them with the server's. Uses no store. Write the serial beside the key: the next one is higher."
            ],
            examples: [
                Example(
                    "pushcrypt recover sign --recovery-key-file recovery.key request.json --output statement.json")
            ])
    }

    private let keyFile: String
    private let file: String
    private let serial: Int?
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        keyFile = arguments.requiredValue(
            "--recovery-key-file", "FILE", .secret, help: "the secret recovery key, from a file, fd:N or -")
        file = arguments.optionalInput("REQUEST", help: "what 'rotate sender --recover prepare' wrote")
        serial = arguments.serialAbove()
        output = OutputArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let key = try console.withKey(from: keyFile) { (text) throws(KeyError) in try RecoveryKey(text: text) }
        let bytes = try console.read(file, limit: DeviceInput.maximumRecord)
        let request = try withRecovery { () throws(RotationError) in try RecoveryRequest(json: bytes) }
        let clock = console.now() / 1000
        // A serial far ahead would leave none for a later recovery.
        let highest = max(clock, UInt64(serial ?? 0)) + 86_400
        guard request.serial <= highest else {
            throw .usage(
                "the request has serial \(request.serial), more than a day ahead of this clock (\(clock))",
                hint: "check the clock; if the last serial on paper is that high, give it with --serial-above")
        }
        if let serial, request.serial <= serial {
            throw .usage(
                "the request has serial \(request.serial), which is not above \(serial)",
                hint: "prepare it again on the server, with the same --serial-above")
        }
        console.hint("app \(request.topic), serial \(request.serial), new key \(request.newKey)")
        let signed = try withRecovery { () throws(RotationError) in try request.signed(by: key) }
        try console.deliver(String(decoding: signed.json, as: UTF8.self) + "\n", to: output)
        return .done
    }
}

extension Arguments {
    /// `--serial-above`.
    mutating func serialAbove() -> Int? {
        count(
            "--serial-above", "N", 0...Int(UInt32.max) - 1,
            help: "the last serial on paper, if the store was lost")
    }
}

/// Turns errors of recovery statements into failures of a command.
func withRecovery<R>(_ body: () throws(RotationError) -> R) throws(CommandFailure) -> R {
    do throws(RotationError) {
        return try body()
    } catch {
        throw CommandFailure(error)
    }
}

// MARK: On the server

/// The two steps of `rotate sender --recover`.
enum RecoveryStep: String, CaseIterable {
    case prepare, finish
}

/// The options of `rotate sender --recover`.
struct RecoveryArguments: Sendable {
    static let option = "--recover"
    private static let ofPrepare = ["--recovery-key", "--serial-above", "--topic", "--output"]

    let step: RecoveryStep?
    private let file: String?
    private let recoveryKey: String?
    private let serial: Int?
    private let topic: TopicArgument
    private let output: String?

    init(_ arguments: inout Arguments) {
        file = arguments.optionalOperand("STATEMENT", .input, help: "with --recover finish: what 'recover sign' wrote")
        step = arguments.choice(
            Self.option, "STEP",
            help: "after a theft or loss: prepare a request for the recovery key, or finish with its statement")
        recoveryKey = arguments.value(
            "--recovery-key", "KEY",
            help: "with --recover prepare: the public key (pcv1…); default the only one of 'recover keys'")
        serial = arguments.serialAbove()
        topic = TopicArgument(&arguments, help: "with --recover prepare: the app, if the key is not bound to it")
        output = arguments.value("--output", short: "-o", "FILE", .file, help: "with --recover prepare: the request")
        for name in Self.ofPrepare { arguments.option(name, needs: Self.option) }
        arguments.option(
            Self.option, excludes: ["--overlap", "--announce", "--if-older-than"],
            hint: "a recovery ends the old key at once, and is announced permanently")
    }

    func refuseStatement() throws(CommandFailure) {
        if file != nil { throw .usage("a statement needs --recover finish") }
    }

    /// Makes the request.
    func prepare(
        named name: String?, in store: SQLiteKeyStore, _ clock: ClockAssurance, force: Bool, _ console: Console
    ) throws(CommandFailure) {
        try refuseStatement()
        let key = try chosenKey(named: name, in: store)
        let topic = try topic.topic()
        let prepared = try withStoreErrors { () throws(KeyStoreError) in
            try store.prepareRecovery(
                named: name, topic: topic, by: key, serialAbove: UInt32(clamping: serial ?? 0), clock: clock,
                at: console.timestamp)
        }
        let request = prepared.request
        if let old = prepared.replacedRequest {
            console.hint(
                "the request of \(old.issuedAt) for new key \(old.newKey.id) can no longer be finished; if it was not yours, somebody was in this server"
            )
        }
        switch prepared.key {
        case nil:
            console.hint("this store has no key \(quoted(name ?? SQLiteKeyStore.defaultName)): a new one will be made")
        case let key?:
            if key.topic == nil {
                console.hint(
                    "key \(key.keyID) signs for every app: phones of others than \(request.topic) cannot follow")
            }
        }
        console.hint(
            "app \(request.topic), serial \(request.serial), new key \(request.newKey); nothing has changed yet: sign the request with 'recover sign', then: pushcrypt rotate sender --recover finish"
        )
        let text = ContiguousArray((String(decoding: request.json, as: UTF8.self) + "\n").utf8)
        if let output, output != "-" {
            try OutputFile.write(text.span, to: output, mode: 0o666, force: force)
        } else {
            try console.write(text.span)
        }
    }

    /// Returns the given recovery key, or the only one that `recover keys` has named.
    private func chosenKey(named name: String?, in store: SQLiteKeyStore) throws(CommandFailure) -> RecoveryPublicKey {
        if let recoveryKey {
            do throws(KeyError) {
                return try RecoveryPublicKey(text: recoveryKey)
            } catch {
                throw CommandFailure(error, inOption: "--recovery-key")
            }
        }
        let known = try withStoreErrors { () throws(KeyStoreError) in try store.announcedRecoveryKeys(of: name) }
        guard let only = known.first, known.count == 1 else {
            throw .usage(
                "--recovery-key is missing",
                hint: known.isEmpty
                    ? "add the public recovery key that the app has built in"
                    : "'recover keys' lists two: add the one whose secret key you have")
        }
        return only
    }

    /// Installs the new key.
    func finish(
        named name: String?, in store: SQLiteKeyStore, _ clock: ClockAssurance, isJSON: Bool, _ console: Console
    ) throws(CommandFailure) {
        let hasTopic = try topic.topic() != nil
        guard recoveryKey == nil, serial == nil, !hasTopic, output == nil else {
            throw .usage("\(Self.ofPrepare.joined(separator: ", ")) go with --recover prepare")
        }
        let bytes = try console.read(file ?? "-", limit: DeviceInput.maximumRecord)
        let signed = try withRecovery { () throws(RotationError) in try SignedRecovery(json: bytes) }
        let recovery = try withStoreErrors { () throws(KeyStoreError) in
            try store.finishRecovery(signed, named: name, clock: clock, at: console.timestamp) { old in
                console.hint(
                    "ending key \(old.keyID) of \(quoted(old.name)) at once: nothing it signed opens any longer")
            }
        }
        console.hint(
            "key \(recovery.record.keyID) replaces whatever the phones trust; messages carry serial \(signed.request.serial) permanently, to each phone that has not reported it"
        )
        try console.write((isJSON ? announcementText(recovery.record, store) : "\(recovery.record.publicKey)") + "\n")
    }
}

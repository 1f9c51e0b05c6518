internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

// The recovery key: made offline, used offline, and only to put a new sender key in place of a stolen one.

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
            commands: [
                Command("keys", "tell the server which recovery keys the app has", RecoverKeysCommand.self),
                Command(
                    "sign", "sign a recovery prepared by the provider, on the machine with the secret key",
                    RecoverSignCommand.self),
            ])
    }
}

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
        name = arguments.keyName(of: .providerKey)
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
        let request = try withRotationErrors { () throws(RotationError) in try RecoveryRequest(json: bytes) }
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
        let signed = try withRotationErrors { () throws(RotationError) in try request.signed(by: key) }
        try console.deliver(String(decoding: signed.json, as: UTF8.self) + "\n", to: output)
        return .done
    }
}

extension Arguments {
    mutating func serialAbove() -> Int? {
        count(
            "--serial-above", "N", 0...Int(UInt32.max) - 1,
            help: "the last serial on paper, if the store was lost")
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let devicePair = Command(group: "pair", "pair a phone by a code on a screen, on a server without accounts") {
        CommandGroup(
            discussion: [
                "The app scans the code, and posts a sealed request to the server's address; the server gives it to 'device pair accept', and answers with the reply. See Docs/SelfHostedServer.md."
            ],
            commands: [
                Command("new", "make a code for one phone", DevicePairNewCommand.self),
                Command("accept", "answer the request of a phone", DevicePairAcceptCommand.self),
            ])
    }
}

struct DevicePairNewCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Prints the code, on a terminal also as a QR code if the program qrencode is installed. It is for one phone, and ends after 10 minutes. Anyone who sees it can pair: show it to its user alone."
            ],
            examples: [
                Example("pushcrypt device pair new --url https://home.example.net/pair --topic com.example.app"),
                Example("pushcrypt device pair new --url http://192.168.1.20:8080/pair --user alice"),
            ])
    }

    private let url: String
    private let topic: TopicArgument
    private let user: String?
    private let replaced: String?
    private let signer: String?
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        url = arguments.requiredValue(
            "--url", "URL", help: "where the phone posts its request: https, or http in a private network")
        topic = TopicArgument(&arguments)
        user = arguments.value("--user", "USER", .name(.user), help: "whose the device will be")
        replaced = arguments.value(
            "--replace", "DEVICE", .name(.device),
            help: "a device that the phone may replace, because it was set up again")
        signer = arguments.providerName()
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let given = try topic.topic(console)
        let (provider, settled) = try withStoreErrors { () throws(KeyStoreError) in
            let settled = if let given { given } else { try store.defaultTopic() }
            if let signer { return (try store.providerKey(named: signer), settled) }
            return (try ProviderKeys(of: store).key(for: settled), settled)
        }
        guard let topic = settled ?? provider.topic else {
            throw .usage("no topic is given, and the provider key is bound to none", hint: TopicArgument.hint)
        }
        let code: PairingCode
        do throws(PairingError) {
            code = try PairingCode(url: url, provider: provider.publicKey)
        } catch {
            throw .usage("--url: \(error)")
        }
        try withStoreErrors { () throws(KeyStoreError) in
            try store.addPairing(
                code, topic: topic, provider: provider.publicKey, user: user, replacing: replaced,
                at: console.timestamp)
        }
        try code.withText { (text) throws(CommandFailure) in try show(text, console) }
        console.changed("made a pairing code: for one phone, \(topic), 10 minutes")
        return .done
    }

    private func show(_ text: Span<UInt8>, _ console: Console) throws(CommandFailure) {
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                json.string(String(decoding: ContiguousArray(copying: text), as: UTF8.self), for: "code")
            }
            return try console.write(line: json.bytes)
        }
        if console.showsOutput, !console.drawQRCode(of: text) {
            console.hint("with the program qrencode, the code is drawn for the phone's camera")
        }
        try console.write(text)
        try console.write("\n")
    }
}

extension Console {
    /// Draws a QR code on the terminal, by the program qrencode, which gets the text in a pipe; returns whether it could.
    fileprivate func drawQRCode(of text: Span<UInt8>) -> Bool {
        do throws(SystemError) {
            let drawn = try ChildProcess.run("qrencode", ["-t", "ANSIUTF8"], input: text, limit: 1 << 20)
            guard drawn.exit == 0 else { return false }
            try? write(drawn.output.span)
            return true
        } catch {
            return false
        }
    }
}

struct DevicePairAcceptCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Reads the body of what a phone posts to the code's address, and prints the body of the answer, with status 200. It may say why the phone is refused, as does standard error: with pairing-used another phone has the code. A phone that lost the answer posts again and gets the same one.",
                "A phone that has paired posts there, too: its record, with a new key or grant, and when its user logs out, a withdrawal. Both show the device's withdrawal, which only the phone and this store know, so they need no session.",
                "Exit 65 without an answer is status 404: there is no such code, or none any more, or no such device. Any other failure is 503: the phone posts again.",
            ],
            examples: [Example("pushcrypt device pair accept < request > reply")])
    }

    private let file: String
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        file = arguments.optionalInput("FILE", help: "what the phone has posted; default standard input")
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        // Two for a line break.
        let text = try console.read(file, limit: PairingText.maximumLength + 2)
        let store = try console.open(store)
        if text.first == UInt8(ascii: "{") { return try takePaired(text, store, console) }
        var answer = PairingAnswer.unknown
        if let request = PairingText.decode(text.span) {
            answer = try orUnavailable { () throws(KeyStoreError) in
                try store.acceptPairing(request, suites: store.permittedSuites(), at: console.timestamp)
            }
        }
        guard case .reply(let reply, let outcome) = answer else {
            throw CommandFailure(PairingError(.unknown, "no open code belongs to this request: answer with status 404"))
        }
        try report(outcome, store, console)
        return try write(PairingText.encode(reply), outcome.members, console)
    }

    /// Writes the body of the answer, in --json beside what became of the request.
    private func write(
        _ body: String, _ members: KeyValuePairs<String, String>, _ console: Console
    ) throws(CommandFailure) -> ExitCode {
        guard isJSON else {
            try console.write(body + "\n")
            return .done
        }
        var json = JSONWriter()
        json.object { json in
            for (name, value) in members { json.string(value, for: name) }
            json.string(body, for: "reply")
        }
        try console.write(line: json.bytes)
        return .done
    }

    /// A failure of the store is not 65, which says that there is no such code or device.
    private func orUnavailable<R>(_ body: () throws(KeyStoreError) -> R) throws(CommandFailure) -> R {
        do throws(KeyStoreError) { return try body() } catch { throw Self.unavailable(error) }
    }

    private static func unavailable(_ error: KeyStoreError) -> CommandFailure {
        let failure = CommandFailure(error)
        return CommandFailure(.failed, code: failure.code, failure.message, hints: failure.hints, cause: error)
    }

    /// Takes the record or the withdrawal of a phone that has paired.
    private func takePaired(
        _ text: ContiguousArray<UInt8>, _ store: SQLiteKeyStore, _ console: Console
    ) throws(CommandFailure) -> ExitCode {
        if let record = try? DeviceRegistration(json: text) { return try update(record, store, console) }
        let withdrawal: DeviceWithdrawal
        do throws(KeyError) {
            withdrawal = try DeviceWithdrawal(json: text)
        } catch {
            throw CommandFailure(error, in: "the phone's record or withdrawal")
        }
        let isRemoved = try orUnavailable { () throws(KeyStoreError) in
            try store.withdrawDevice(withdrawal, at: console.timestamp)
        }
        if isRemoved { console.changed("removed", nil, withdrawal.device) }
        // The same whether it was there: the phone need not ask again.
        return try write(
            "{}", ["device": withdrawal.device, "outcome": isRemoved ? "removed" : "unknown"], console)
    }

    private func update(
        _ record: DeviceRegistration, _ store: SQLiteKeyStore, _ console: Console
    ) throws(CommandFailure) -> ExitCode {
        let id = record.deviceID ?? ""
        let outcome: RegistrationOutcome?
        do throws(KeyStoreError) {
            outcome = try store.updateDevice(record, at: console.timestamp)
        } catch {
            guard let refusal = error.refusal else { throw Self.unavailable(error) }
            console.warning("the phone is refused: \(refusal)")
            let reply = try RegistrationReplies(of: store).reply(to: record, of: id, refused: refusal)
            return try write(
                String(decoding: reply.json, as: UTF8.self), ["refused": refusal.description], console)
        }
        guard let outcome else {
            throw CommandFailure(
                PairingError(
                    .unknown,
                    "the record is of no device in the store, or shows another withdrawal: answer with status 404"))
        }
        console.changed(
            outcome.name, try withStoreErrors { () throws(KeyStoreError) in try store.device(id: id) }, id)
        var foreign = try ForeignProviders(of: store)
        let members = foreign.add(id, pinning: record.pinnedProvider)
        console.warn(of: foreign)
        let replies = try RegistrationReplies(of: store)
        console.warn(ofStale: replies.warning)
        let reply = try replies.reply(to: record, of: id, foreign: members)
        return try write(
            String(decoding: reply.json, as: UTF8.self), ["device": id, "outcome": outcome.name], console)
    }

    private func report(
        _ outcome: PairingOutcome, _ store: SQLiteKeyStore, _ console: Console
    ) throws(CommandFailure) {
        switch outcome {
        case .paired(let id, _, _):
            let device = try withStoreErrors { () throws(KeyStoreError) in try store.device(id: id) }
            console.changed("paired", device, id)
            var foreign = try ForeignProviders(of: store)
            foreign.add(id, pinning: device?.pinnedProvider)
            console.warn(of: foreign)
            console.warn(ofStale: try RegistrationReplies(of: store).warning)
        case .repeated(let id): console.hint("\(quoted(id)) has paired, and gets its reply again")
        case .refused(let refusal): console.warning("the phone is refused: \(refusal)")
        }
    }
}

extension PairingOutcome {
    fileprivate var members: KeyValuePairs<String, String> {
        switch self {
        case .paired(let id, let outcome, _): ["device": id, "outcome": outcome.name]
        case .repeated(let id): ["device": id, "outcome": "repeated"]
        case .refused(let refusal): ["refused": refusal.description]
        }
    }
}

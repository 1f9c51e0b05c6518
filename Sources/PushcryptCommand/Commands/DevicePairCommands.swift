internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let devicePair = Command(
        group: "pair", "pair a phone by a code on a screen, on a server without accounts",
        about: [
            "The app scans the code, and posts a sealed request to the server's address; the server gives it to 'device accept', and answers with the reply. See Docs/SelfHostedServer.md."
        ],
        [
            .devicePairNew
        ])
}

extension Command {
    static let devicePairNew = Command(
        "new", "make a code for one phone",
        about: [
            "Prints the code, on a terminal also as a QR code if the program qrencode is installed. It is for one phone, and ends after 10 minutes. Anyone who sees it can pair: show it to its user alone."
        ],
        examples: [
            "pushcrypt device pair new --url https://home.example.net/pair --topic com.example.app",
            "pushcrypt device pair new --url http://192.168.1.20:8080/pair --user alice",
        ]
    ) { a in
        let command = DevicePairNewCommand(&a)
        return { try command.run($0) }
    }
}

struct DevicePairNewCommand {
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
        user = arguments.value("--user", "USER", help: "whose the device will be")
        replaced = arguments.value(
            "--replace", "DEVICE",
            help: "a device that the phone may replace, because it was set up again")
        signer = arguments.providerName()
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws -> ExitCode {
        let store = try console.open(store)
        let given = try topic.topic(console)
        let settled = if let given { given } else { try store.defaultTopic() }
        let provider =
            if let signer { try store.providerKey(named: signer) } else {
                try ProviderKeys(of: store).key(for: settled)
            }
        guard let topic = settled ?? provider.topic else {
            throw Failure.usage("no topic is given, and the provider key is bound to none", hint: TopicArgument.hint)
        }
        let code: PairingCode
        do throws(PairingError) {
            code = try PairingCode(url: url, provider: provider.publicKey)
        } catch {
            throw Failure.usage("--url: \(error)")
        }
        try store.addPairing(
            code, topic: topic, provider: provider.publicKey, user: user, replacing: replaced,
            at: console.timestamp)
        try code.withText { text in try show(text, console) }
        console.changed("made a pairing code: for one phone, \(topic), 10 minutes")
        return .done
    }

    private func show(_ text: Span<UInt8>, _ console: Console) throws {
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

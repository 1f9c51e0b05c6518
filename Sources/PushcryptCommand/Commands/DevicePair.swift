internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let devicePair = Command(
        group: "pair", "pair a phone by a code on a screen, on a server without accounts",
        about:
            "The app scans the code, and posts a sealed request to the server's address; the server gives it to 'device accept', and answers with the reply. See Docs/SelfHostedServer.md.",
        [devicePairNew])

    private static let devicePairNew = Command(
        "new", "make a code for one phone",
        about:
            "Prints the code, on a terminal also as a QR code if the program qrencode is installed. It is for one phone, and ends after 10 minutes. Anyone who sees it can pair: show it to its user alone.",
        examples: [
            "pushcrypt device pair new --url https://home.example.net/pair --topic com.example.app",
            "pushcrypt device pair new --url http://192.168.1.20:8080/pair --user alice",
        ]
    ) { a in
        let url = a.requiredValue(
            "--url", "URL", help: "where the phone posts its request: https, or http in a private network")
        let topic = TopicArgument(&a)
        let user = a.value("--user", "USER", help: "whose the device will be")
        let replaced = a.value(
            "--replace", "DEVICE", help: "a device that the phone may replace, because it was set up again")
        let signer = a.providerName()
        let (store, isJSON) = (StoreArguments(&a), a.json())
        return { console in
            let store = try console.open(store)
            let (given, settled) = (try topic.topic(console), try store.defaultTopic())
            let provider =
                if let signer { try store.providerKey(named: signer) } else {
                    try ProviderKeys(of: store).key(for: given, orFor: settled)
                }
            guard let topic = given ?? provider.topic ?? settled else {
                throw Failure.usage(
                    "no topic is given, and the provider key is bound to none", hint: TopicArgument.hint)
            }
            let code: PairingCode
            do { code = try PairingCode(url: url, provider: provider.publicKey) } catch {
                throw Failure.usage("--url: \(error)")
            }
            try store.addPairing(
                code, topic: topic, provider: provider.publicKey, user: user, replacing: replaced,
                at: console.timestamp)
            try code.withText { text in try console.show(code: text, asJSON: isJSON) }
            console.changed("made a pairing code: for one phone, \(topic), 10 minutes")
        }
    }
}

extension Console {
    fileprivate func show(code text: Span<UInt8>, asJSON: Bool) throws {
        let code = String(decoding: ContiguousArray(copying: text), as: UTF8.self)
        if asJSON { return try writeObject { $0.string(code, for: "code") } }
        if showsOutput, !drawQRCode(of: text) {
            hint("with the program qrencode, the code is drawn for the phone's camera")
        }
        try write(code + "\n")
    }

    /// Draws a QR code on the terminal, by the program qrencode, which gets the text in a pipe; returns whether it could.
    private func drawQRCode(of text: Span<UInt8>) -> Bool {
        guard let drawn = try? ChildProcess.run("qrencode", ["-t", "ANSIUTF8"], input: text, limit: 1 << 20),
            drawn.exit == 0
        else { return false }
        try? write(drawn.output.span)
        return true
    }
}

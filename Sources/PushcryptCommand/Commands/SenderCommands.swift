internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let sender = Command(
        group: "sender", "the providers that a device trusts",
        examples: [Example("pushcrypt sender trust provider sender.pub"), Example("pushcrypt sender list")],
        commands: [senderTrust, senderList, senderRemove])

    private static let senderTrust = Command(
        "trust", "believe a provider's public key",
        discussion: [
            "Takes what 'pushcrypt export sender' prints, through a channel that you trust: built into the app, or the provider's reply to a registration. A later change comes by itself when the provider rotates its key.",
            "--replace is for after a theft: the old key is not believed from that moment on, and nothing signed by it brings it back.",
        ],
        operands: [
            Operand("NAME", .name(.trustedSender), help: "what this store calls the provider"),
            Operand("FILE", .input, .optional, help: "the key (pcs1…) or the record; standard input otherwise"),
        ],
        options: [
            Option("--topic", "BUNDLE-ID", help: "believe it for this app only"),
            Option(flag: "--replace", help: "put it in the place of another key of the same name"),
            .store, .passphraseFile,
        ],
        examples: [Example("pushcrypt export sender | pushcrypt --store D sender trust provider -")],
        run: runSenderTrust)

    private static let senderList = Command(
        "list", "list the keys that are or were trusted", options: [.store, .passphraseFile, .json],
        examples: [Example("pushcrypt sender list")], run: runSenderList)

    private static let senderRemove = Command(
        "remove", "stop believing a provider",
        operands: [Operand("NAME", .name(.trustedSender), help: "what this store calls the provider")],
        options: [.store, .passphraseFile], examples: [Example("pushcrypt sender remove provider")],
        run: runSenderRemove)
}

private func runSenderTrust(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let bytes = try console.read(invocation.operand("FILE"), limit: DeviceInput.maximumRecord)
    let key: SenderPublicKey
    var topic = try invocation.topic()
    do throws(KeyError) {
        if bytes.first == UInt8(ascii: "{") {
            let announcement = try SenderAnnouncement(json: bytes, at: console.timestamp)
            key = announcement.publicKey
            topic = topic ?? announcement.topic
        } else {
            key = try SenderPublicKey(text: String(decoding: bytes, as: UTF8.self))
        }
    } catch {
        throw CommandFailure(error, in: "the sender's key")
    }
    let store = try console.openStore(invocation)
    _ = try withStoreErrors { () throws(KeyStoreError) in
        try store.trustSender(
            key, named: invocation.operand("NAME"), topic: topic, replace: invocation.flag("--replace"),
            at: console.timestamp)
    }
    return .done
}

private func runSenderList(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let senders = try withStoreErrors { () throws(KeyStoreError) in try store.trustedSenders() }
    var output = OutputBuffer(console)
    for sender in senders {
        if invocation.flag("--json") {
            var json = JSONWriter()
            json.object { json in
                json.string(sender.name, for: "name")
                json.string(sender.key.description, for: "public_key")
                json.string(sender.key.id.description, for: "key_id")
                if let topic = sender.topic { json.string(topic.bundleID, for: "topic") }
                json.string(sender.state.description, for: "state")
                if let end = sender.verifiesUntil { json.integer(end.milliseconds, for: "verifies_until") }
            }
            try output.append(String(decoding: json.bytes, as: UTF8.self) + "\n")
        } else {
            let state =
                sender.state == .pinned
                ? "trusted"
                : sender.verifiesUntil.map { "superseded, verifies until \($0)" } ?? "replaced, not believed"
            try output.append(
                "\(sanitized(forTerminal: sender.name))  \(sender.key)  \(sender.topic?.bundleID ?? "-")  \(state)\n"
            )
        }
    }
    try output.flush()
    return .done
}

private func runSenderRemove(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let name = invocation.operand("NAME")
    let wasTrusted = try withStoreErrors { () throws(KeyStoreError) in try store.removeTrustedSender(named: name) }
    if !wasTrusted { throw .usage("no sender \(quoted(name)) is trusted", hint: "pushcrypt sender list shows them") }
    return .done
}

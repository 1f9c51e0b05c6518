internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let deviceTest = Command(
        "test", "make a test notification for a device",
        discussion: [
            "Seals 'Test notification' as 'seal' seals every payload, with the store's keys, so that a phone that shows it opens all others too. Send it with the provider's own APNs client: this program sends nothing. What to look for in the phone's journal is on standard error."
        ],
        operands: [Operand("ID", .name(.device), help: "what the provider calls the device")],
        options: [
            Option("--from", "NAME", .name(.senderKey), help: "the sender key in the store; otherwise the default one"),
            .topic,
            Option("--message", "TEXT", help: "the text that the phone shows; otherwise one that says what it proves"),
            .store, .passphraseFile, .json, .output, .force,
        ],
        examples: [
            Example("pushcrypt device test phone1 > push.json"),
            Example(
                "pushcrypt device test phone1 --json",
                "with the fingerprint and the headers, for a program that sends it"),
        ], run: runDeviceTest)
}

private func runDeviceTest(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let source = SealSource.store(try console.openStore(invocation), .named(invocation.value("--from")))
    let now = console.timestamp
    let settings = SealSettings(topic: try invocation.topic(), emission: .request, now: { now })
    let message = try source.seal(to: invocation.operand("ID"), in: "ID", settings) {
        testPayload(message: invocation.value("--message") ?? "This device opens what its provider seals.", at: now)
    }
    let headers = [PushRequest.Header.pushType, .topic, .priority].compactMap { header in
        message.request.map { (name: header.rawValue, value: $0.value(of: header)) }
    }
    var output = message.payload.json
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { json in
            message.write(.payload, withFacts: true, to: &json)
            json.object(for: "headers") { json in
                for (name, value) in headers { json.string(value, for: name) }
            }
        }
        output = json.bytes
    }
    output.append(newline)
    try console.deliver(output.span, of: invocation)
    console.log("sealed", message.logFields)
    console.hint(
        "send it unchanged, with your APNs client and these headers: "
            + headers.map { "\($0.name): \($0.value)" }.joined(separator: ", "))
    console.hint(
        "the phone's journal calls it \(message.payload.envelope.fingerprint); "
            + "'pushcrypt explain' says what the code there means")
    return .done
}

/// Returns a payload that the user recognises and that tells only when it was made.
private func testPayload(message: String, at now: Timestamp) -> ContiguousArray<UInt8> {
    var json = JSONWriter()
    json.object { json in
        json.object(for: PayloadKeys.aps) { json in
            json.object(for: "alert") { json in
                json.string("Test notification", for: "title")
                json.string(now.description, for: "subtitle")
                json.string(message, for: "body")
            }
            json.string("default", for: "sound")
        }
    }
    return json.bytes
}

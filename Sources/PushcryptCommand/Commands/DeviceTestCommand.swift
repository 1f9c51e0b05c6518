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
    let id = invocation.operand("ID")
    let store = try console.openStore(invocation)
    let route = try SealRoute(store: store, to: id, as: "ID", .named(invocation.value("--from")), invocation, console)
    let now = console.timestamp
    let payload = testPayload(
        message: invocation.value("--message") ?? "This device opens what its provider seals.", at: now)
    let sealer = route.sealer(try Placeholder(route.placeholder))
    let (sealed, _) = try sealer.seal(route.message(payload, Sealer.Options(), at: now), overflow: nil)
    let headers = [
        ("apns-push-type", sealed.pushType.description), ("apns-topic", route.topic.bundleID), ("apns-priority", "10"),
    ]
    var output = sealed.json
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { json in
            json.raw(sealed.json, for: "payload")
            sealed.writeFacts(to: &json)
            json.object(for: "headers") { json in
                for (name, value) in headers { json.string(value, for: name) }
            }
        }
        output = json.bytes
    }
    output.append(UInt8(ascii: "\n"))
    try console.deliver(output.span, of: invocation)
    console.log("sealed", sealed.logFields)
    console.hint(
        "send it unchanged, with your APNs client and these headers: "
            + headers.map { "\($0): \($1)" }.joined(separator: ", "))
    console.hint(
        "the phone's journal calls it \(sealed.envelope.fingerprint); 'pushcrypt explain' says what the code there means"
    )
    return .done
}

/// A payload that a person recognises, and that says nothing but when it was made.
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

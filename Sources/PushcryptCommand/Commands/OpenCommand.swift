internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

extension Command {
    static let open = Command(
        "open", "turn a sealed payload into the notification a person is shown",
        discussion: [
            "Reads what a phone would receive, and writes what it would show: a banner on a terminal, JSON otherwise. A push that does not open ends in the fallback, with exit 65 and the reason on standard error.",
            "The JSON has every field that the notification sets; badge, sound_name, critical_volume, thread, category, interruption_level, relevance, target, filter, launch_image, user_info, attachments, full_body and the localised texts' keys and arguments (title_loc_key, title_loc_args and so on) are left out where they are not set. Nothing is fetched, and keys of attachments are never shown.",
            "With --simulate the push goes through what an extension does: it is opened on a thread of its own, the deadline is 25 seconds, and the system ends the extension after 30. The person is shown one thing, when the first of these has come.",
            "With --batch each line of the output is {\"notification\": …} with what --json says, or {\"error\": …, \"line\": N} for a push that does not open; every other key of a line is passed through, but for \"request-id\", which is what --request-id is for one push. The lines are in the order of the input, and the command ends with 1 if one of them is an error. With a store the lines are opened one after the other unless --jobs says otherwise: a message signed with a new key opens once the one before it that announces the key has.",
            "Opening a message may end a rotation: a pending device key becomes the active one, and a rotation of the sender's key that the message announces takes effect.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "the received push as JSON; standard input otherwise")],
        options: [
            .topic,
            Option(
                "--request-id", "ID",
                help:
                    "the notification request that brought the push; the same message counts as the same request otherwise"
            ),
            Option(
                "--duplicates", "POLICY", .choice(DuplicatePolicy.allCases.map(\.rawValue)),
                help:
                    "what a message that was shown before becomes: quiet, without sound (the default), the fallback, or nothing"
            ),
            Option(
                "--device-key-file", "FILE", .secret, help: "open with this key and use no store: a file, fd:N, or -"),
            Option(
                "--sender", "KEY", isRepeatable: true, help: "the sender to trust (pcs1…); only with --device-key-file"),
            Option(
                flag: "--pass-clear", help: "show a push without ENCRYPTED_DATA as it is, as an app's policy may say"),
            Option(
                flag: "--simulate",
                help: "run as a phone does, on threads and against the clock, and tell what happens when"),
            Option(
                "--deadline", "TIME", .milliseconds(1...300_000),
                help:
                    "with --simulate: when the fallback is shown because the push is not open yet; otherwise 25s"),
            Option(
                "--stall", "TIME", .milliseconds(0...300_000),
                help: "with --simulate: what the opening waits for at first, as for a slow disk"),
            .fullBody,
            Option(flag: "--banner", help: "draw the notification also where the output is no terminal"),
            Option(
                flag: "--batch",
                help: "open a push of each line of FILE: an object with 'payload', such as 'seal --batch' writes"),
        ] + Option.batch + [.store, .passphraseFile, .json, .output, .force],
        examples: [
            Example("pushcrypt open --topic com.example.app sealed.json"),
            Example("pushcrypt open --json < sealed.json", "the notification as an object"),
            Example("pushcrypt seal --batch messages | pushcrypt open --batch", "what a queue of messages would show"),
            Example("pushcrypt open --simulate --deadline 2s --stall 3s sealed.json", "what a slow phone would show"),
        ], run: runOpen)
}

private func runOpen(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    if invocation.flag("--batch") { return try runOpenBatch(invocation, console) }
    for option in Option.batch where invocation.flag(option.name) {
        throw .usage("\(option.name) goes with many pushes", hint: "leave it out, or add --batch")
    }
    try invocation.atMostOne(of: "--banner", "--json")
    let phone = try SimulatedPhone(invocation)
    let receiver = try OpenReceiver(invocation, console)
    let push = PushToOpen(try readPush(invocation, console), mayPassInTheClear: invocation.flag("--pass-clear"))
    let session = OpenSession(
        receiver: receiver, push: push, requestID: invocation.value("--request-id"), console: console)
    let (received, warnings) =
        if let phone { try session.run(on: phone) } else { session.run() }
    for warning in warnings { console.warning(warning) }
    let delivery = try console.extended(received, invocation)

    let showsBanner =
        invocation.flag("--banner")
        || console.showsOutput && !invocation.flag("--json") && !invocation.flag("--output")
    let output =
        showsBanner ? Banner(delivery, console).text : OpenReport(delivery, push.fingerprint).text(console)
    try console.deliver(ContiguousArray(output.utf8).span, of: invocation, isSecret: true)
    guard case .fallback(let reason) = delivery.outcome else { return .done }
    console.error("\(reason.code): \(reason)")
    if reason.code == Delivery.Reason.noTopic.code { console.hint(Option.topicHint) }
    return .refused
}

/// Reads the push, or as much of one that is too long as shows that it is.
private func readPush(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ContiguousArray<UInt8>? {
    do throws(CommandFailure) {
        return try console.read(invocation.operand("FILE"), limit: ReceivedPush.maximumLength)
    } catch {
        guard error.exit == .refused else { throw error }
        return nil
    }
}

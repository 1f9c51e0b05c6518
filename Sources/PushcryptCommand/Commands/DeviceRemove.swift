internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceRemove = Command(
        "remove", "forget devices, and remember that they are gone",
        discussion: [
            "Nothing is sealed for a removed device, and older data does not bring it back; when it registers again ('device add'), it is taken.",
            "--from-apns-410 reads what a sender was answered, an object a line: 'to' or 'device', 'status', 'reason' and 'timestamp'. Status 410 with the reason Unregistered or ExpiredToken removes the device, unless it has registered after the time that APNs gives; any other answer is passed over. The same file again does no harm.",
        ],
        operands: [
            Operand("ID", .name(.device), .any, help: "the device to forget; with --from-apns-410 the file of answers")
        ],
        options: [
            Option(
                flag: "--from-apns-410",
                help: "remove the devices that APNs says are gone; reads a file or standard input"),
            Option("--reason", "TEXT", help: "why, for people and logs"), .store, .passphraseFile, .json,
        ],
        examples: [
            Example("pushcrypt device remove phone1"),
            Example("pushcrypt device remove --from-apns-410 answers.ndjson"),
        ], run: runDeviceRemove)

    static let devicePurge = Command(
        "purge", "forget that devices were removed",
        discussion: [
            "Keep it in mind for as long as older data may come in: an import of a backup from before the removal brings the device back otherwise."
        ],
        options: [
            Option(
                "--older-than", "TIME", .duration(0...36_500 * 86_400), isRequired: true,
                help: "how long ago it was, for example 90d"),
            .store, .passphraseFile, .json,
        ],
        examples: [Example("pushcrypt device purge --older-than 90d")], run: runDevicePurge)
}

private func runDeviceRemove(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let ids = invocation.operands("ID")
    if invocation.flag("--from-apns-410") {
        try invocation.atMostOne(of: "--from-apns-410", "--reason")
        guard ids.count <= 1 else {
            throw .usage("--from-apns-410 reads one file", hint: "cat joins several: cat a b | pushcrypt …")
        }
        return try removeUnregistered(file: ids.first ?? "-", invocation, console)
    }
    guard !ids.isEmpty else {
        throw .usage("ID is missing", hint: "usage: pushcrypt device remove [options] ID ...")
    }
    let store = try console.openStore(invocation)
    let removals = ids.map {
        RemovedDevice(id: $0, removedAt: console.timestamp, reason: invocation.value("--reason"))
    }
    var unknown: [String] = []
    for removal in removals {
        let wasThere = try withStoreErrors { () throws(KeyStoreError) in
            try store.removeDevice(id: removal.id, reason: removal.reason, at: removal.removedAt)
        }
        if !wasThere { unknown.append(removal.id) }
    }
    for id in unknown { console.error("there is no device \(quoted(id))") }
    if !unknown.isEmpty { console.hint("pushcrypt device list shows them") }
    if invocation.flag("--json") {
        try console.report(
            [("removed", removals.count - unknown.count), ("unknown", unknown.count)], asJSON: true)
    }
    return unknown.isEmpty ? .done : .usage
}

private func removeUnregistered(
    file: String, _ invocation: Invocation, _ console: Console
) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let now = console.timestamp
    var lines = try NumberedLines(file, console)
    var result = DeviceRemovalResult()
    var passedOver = 0
    try lines.forEach { (line) throws(CommandFailure) in
        let removal = try SenderAnswer(line, at: now).removal
        if removal == nil { passedOver += 1 }
        return removal
    } take: { (items, _) throws(CommandFailure) in
        let part = try withStoreErrors { () throws(KeyStoreError) in
            try store.removeDevices(items.map(\.item), at: now)
        }
        result.add(part)
    }
    try console.report(
        [
            ("removed", result.removed), ("kept", result.kept), ("unknown", result.unknown),
            ("passed_over", passedOver), ("refused", lines.refused),
        ], asJSON: invocation.flag("--json"))
    return lines.refused == 0 ? .done : .refused
}

private func runDevicePurge(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let store = try console.openStore(invocation)
    let age = UInt64(clamping: invocation.seconds("--older-than") ?? 0)
    let (milliseconds, overflow) = age.multipliedReportingOverflow(by: 1000)
    let end = console.timestamp.subtracting(milliseconds: overflow ? .max : milliseconds)
    let count = try withStoreErrors { () throws(KeyStoreError) in try store.forgetRemovedDevices(upTo: end) }
    try console.report([("forgotten", count)], asJSON: invocation.flag("--json"))
    return .done
}

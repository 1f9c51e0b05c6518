internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools

extension Command {
    static let lint = Command(
        "lint", "look for mistakes in a push, or in an app's project",
        discussion: [
            "Reads a push, sealed or not, or the object that 'seal --emit request' writes, and tells what a phone would not show, what the relay can read that it should not, what Apple refuses, and how much room is left. Nothing is opened, and no key is needed.",
            "A push that is not sealed is looked at as what 'seal' would be given, too. Values are never printed, names of keys are. Every finding has a code that 'pushcrypt explain' knows.",
            "With --ios: the property lists and entitlements below a folder, and the Swift sources and storyboards beside them. Is every notification extension found by the system, has it what it needs, does it share its groups with the app? Folders that tools write are passed over, and property lists are read with plutil, which every Mac and every Swift toolchain has.",
            "Ends with 65 if there is an error among the findings, with --strict also for a warning.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "the push as JSON; standard input otherwise")],
        options: [
            Option("--topic", "TOPIC", help: "the apns-topic that is sent with it"),
            Option("--push-type", "TYPE", help: "the apns-push-type; otherwise what the push looks like"),
            Option("--priority", "NUMBER", help: "the apns-priority"),
            Option("--expiration", "SECONDS", help: "the apns-expiration"),
            Option("--collapse-id", "ID", help: "the apns-collapse-id"),
            Option("--apns-id", "UUID", help: "the apns-id"),
            Option(flag: "--exact", help: "the sender sends these very bytes: measure nothing wider"),
            Option(flag: "--strict", help: "end with 65 for warnings, too"),
            Option(
                "--ios", "DIR", .folder,
                help: "look at the folder of an Xcode project, or of an extension alone, instead"),
            .json,
        ],
        examples: [
            Example("pushcrypt lint payload.json"),
            Example("pushcrypt seal --to phone1 payload.json | pushcrypt lint --strict", "before it is sent"),
            Example("pushcrypt lint --ios App"), Example("pushcrypt lint --ios App --json", "one object a line"),
        ],
        run: runLint)
}

/// The options that are about a push.
private let pushOptions = [
    "--topic", "--push-type", "--priority", "--expiration", "--collapse-id", "--apns-id", "--exact",
]

private func runLint(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let (errors, warnings) =
        if let folder = invocation.value("--ios") {
            try lintProject(in: folder, invocation, console)
        } else {
            try lintPush(invocation, console)
        }
    return errors > 0 || warnings > 0 && invocation.flag("--strict") ? .refused : .done
}

private func lintPush(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> (Int, Int) {
    let lint = PayloadLint(
        try console.read(invocation.operand("FILE"), limit: JSONDocument.defaultMaximumBytes),
        headers: PayloadLint.Headers(
            topic: invocation.value("--topic"), pushType: invocation.value("--push-type"),
            priority: invocation.value("--priority"), expiration: invocation.value("--expiration"),
            collapseID: invocation.value("--collapse-id"), id: invocation.value("--apns-id")),
        isSentExactly: invocation.flag("--exact"))
    let report = PayloadReport(lint)
    var output = OutputBuffer(console)
    try output.append(invocation.flag("--json") ? report.json(console) : report.text(console))
    try output.flush()
    return (report.count(.error), report.count(.warning))
}

private func lintProject(
    in folder: String, _ invocation: Invocation, _ console: Console
) throws(CommandFailure) -> (Int, Int) {
    if let option = pushOptions.first(where: invocation.flag) {
        throw .usage("--ios and \(option) exclude each other", hint: "\(option) is about a push, --ios about a project")
    }
    if let file = invocation.optionalOperand("FILE") {
        throw .usage("--ios takes no file", hint: "leave \(quoted(file)) out")
    }
    let lint = try IOSLint(folder: folder)
    var output = OutputBuffer(console)
    for finding in lint.findings {
        try output.append(invocation.flag("--json") ? finding.projectJSON(console) : finding.projectLine(console))
    }
    if !invocation.flag("--json") { try output.append(lint.summary + "\n") }
    try output.flush()
    return (lint.findings.count { $0.severity == .error }, lint.findings.count { $0.severity == .warning })
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools

/// `lint`.
struct LintCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Reads a push, sealed or not, or the output of 'seal --emit request'. Reports what a phone would not show, what the relay can read but should not, what Apple refuses, how much room is left, and what 'seal' would refuse. Needs no key, opens nothing, and prints names of keys, but no values. 'explain' explains each code.",
                "--ios checks the property lists, entitlements, Swift sources and storyboards below a folder: whether the system finds each notification extension, and whether it has what it needs and shares its groups with the app. Folders that tools write are ignored; plutil reads the property lists.",
                "Ends with 65 for an error, with --strict also for a warning.",
            ],
            examples: [
                Example("pushcrypt lint payload.json"),
                Example("pushcrypt seal --to phone1 payload.json | pushcrypt lint --strict", "before it is sent"),
                Example("pushcrypt lint --ios App --json", "one object per line"),
            ])
    }

    private let file: String?
    private let headers: PayloadLint.Headers
    private let isSentExactly: Bool
    private let isStrict: Bool
    private let project: String?
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        file = arguments.optionalOperand("FILE", .input, help: "the push; default standard input")
        headers = PayloadLint.Headers(
            topic: arguments.value("--topic", "TOPIC", help: "the apns-topic"),
            pushType: arguments.value(
                "--push-type", "TYPE", help: "the apns-push-type; default what the push looks like"),
            priority: arguments.value("--priority", "NUMBER", help: "the apns-priority"),
            expiration: arguments.value("--expiration", "SECONDS", help: "the apns-expiration"),
            collapseID: arguments.value("--collapse-id", "ID", help: "the apns-collapse-id"),
            id: arguments.value("--apns-id", "UUID", help: "the apns-id"))
        isSentExactly = arguments.flag(
            "--exact", help: "the sender sends these exact bytes: measure no other form")
        isStrict = arguments.flag("--strict", help: "end with 65 for warnings too")
        project = arguments.value(
            "--ios", "DIR", .folder, help: "check the folder of an Xcode project or an extension")
        isJSON = arguments.json()
        for name in [
            "--topic", "--push-type", "--priority", "--expiration", "--collapse-id", "--apns-id", "--exact",
        ] {
            arguments.option(
                "--ios", excludes: [name], hint: "\(name) is about a push, --ios about a project")
        }
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let findings = if let project { try lint(project: project, console) } else { try lintPush(console) }
        let fails = findings.contains { $0.severity == .error || isStrict && $0.severity == .warning }
        return fails ? .refused : .done
    }

    private func lintPush(_ console: Console) throws(CommandFailure) -> [Finding] {
        let lint = PayloadLint(
            try console.read(file ?? "-", limit: JSONDocument.defaultMaximumBytes), headers: headers,
            isSentExactly: isSentExactly)
        let report = PayloadReport(lint)
        var output = OutputBuffer(console)
        try output.append(isJSON ? report.json(console) : report.text(console))
        try output.flush()
        return lint.findings
    }

    private func lint(project: String, _ console: Console) throws(CommandFailure) -> [Finding] {
        if let file { throw .usage("--ios takes no file", hint: "leave \(quoted(file)) out") }
        let lint = try IOSLint(folder: project)
        var output = OutputBuffer(console)
        for finding in lint.findings {
            try output.append(isJSON ? finding.projectJSON(console) : finding.projectLine(console))
        }
        if !isJSON { try output.append(lint.summary + "\n") }
        try output.flush()
        return lint.findings
    }
}

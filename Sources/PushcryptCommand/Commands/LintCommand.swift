internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools

/// `lint`.
struct LintCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Reads a push, sealed or not, or the object that 'seal --emit request' writes. Reports what a phone would not show, what the relay can read but should not, what Apple refuses, and how much room is left. Nothing is opened, and no key is needed.",
                "A push that is not sealed is also checked as input for 'seal'. Values are never printed, names of keys are. Every finding has a code that 'pushcrypt explain' knows.",
                "With --ios: checks the property lists and entitlements below a folder, and the Swift sources and storyboards beside them. Does the system find every notification extension, does the extension have what it needs, does it share its groups with the app? Folders that tools write are ignored, and property lists are read with plutil, which every Mac and every Swift toolchain has.",
                "Ends with 65 if there is an error among the findings, with --strict also for a warning.",
            ],
            examples: [
                Example("pushcrypt lint payload.json"),
                Example("pushcrypt seal --to phone1 payload.json | pushcrypt lint --strict", "before it is sent"),
                Example("pushcrypt lint --ios App"), Example("pushcrypt lint --ios App --json", "one object per line"),
            ])
    }

    private let file: String?
    private let headers: PayloadLint.Headers
    private let isSentExactly: Bool
    private let isStrict: Bool
    private let project: String?
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        file = arguments.optionalOperand("FILE", .input, help: "the push as JSON; standard input otherwise")
        headers = PayloadLint.Headers(
            topic: arguments.value("--topic", "TOPIC", help: "the apns-topic that is sent with it"),
            pushType: arguments.value(
                "--push-type", "TYPE", help: "the apns-push-type; otherwise the one that the push looks like"),
            priority: arguments.value("--priority", "NUMBER", help: "the apns-priority"),
            expiration: arguments.value("--expiration", "SECONDS", help: "the apns-expiration"),
            collapseID: arguments.value("--collapse-id", "ID", help: "the apns-collapse-id"),
            id: arguments.value("--apns-id", "UUID", help: "the apns-id"))
        isSentExactly = arguments.flag(
            "--exact", help: "the sender sends these exact bytes: measure no other form")
        isStrict = arguments.flag("--strict", help: "end with 65 for warnings, too")
        project = arguments.value(
            "--ios", "DIR", .folder, help: "check the folder of an Xcode project, or of a single extension, instead")
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

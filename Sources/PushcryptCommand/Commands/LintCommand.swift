extension Command {
    static let lint = Command(
        "lint", "look for mistakes in an app's project",
        discussion: [
            "Looks at the property lists and entitlements below a folder, and at the Swift sources and storyboards beside them: is every notification extension found by the system, has it what it needs, does it share its groups with the app. Folders that tools write are passed over.",
            "One finding a line, with what mends it. Ends with 65 if there is an error among them. Property lists are read with plutil, which every Mac and every Swift toolchain has.",
        ],
        options: [
            Option(
                "--ios", "DIR", isRequired: true, help: "the folder of the Xcode project, or of the extension alone"),
            .json,
        ],
        examples: [
            Example("pushcrypt lint --ios App"), Example("pushcrypt lint --ios App --json", "one object a line"),
        ],
        run: runLint)
}

private func runLint(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let lint = try IOSLint(folder: invocation.requiredValue("--ios"), console)
    var output = OutputBuffer(console)
    for finding in lint.findings {
        try output.append(invocation.flag("--json") ? finding.json(console) : finding.line(console))
    }
    if !invocation.flag("--json") { try output.append(lint.summary + "\n") }
    try output.flush()
    return lint.findings.contains { $0.severity == .error } ? .refused : .done
}

internal import Pushcrypt

extension Command {
    static let explain = Command(
        "explain", "say what a code means, and what mends it",
        discussion: [
            "Every refusal has a code: at the start of a message, in the JSON of 'open', in the journal that an app keeps on the phone. Without an operand all codes are listed."
        ],
        operands: [Operand("CODE", .text, .optional, help: "the code")],
        options: [
            Option(flag: "--markdown", help: "write everything about all codes as a document"), .json,
        ],
        examples: [
            Example("pushcrypt explain authentication-failed"), Example("pushcrypt explain", "all codes"),
        ], run: runExplain)
}

private func runExplain(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--markdown", "--json")
    guard let code = invocation.optionalOperand("CODE") else {
        try console.write(
            invocation.flag("--json")
                ? Explanation.all.map(\.json).joined()
                : invocation.flag("--markdown") ? Explanation.document : Explanation.list)
        return .done
    }
    if invocation.flag("--markdown") {
        throw .usage("--markdown is for all codes", hint: "leave \(quoted(code)) out")
    }
    let explanations = Explanation.of(code)
    guard !explanations.isEmpty else { throw unknown(code) }
    try console.write(
        explanations.map { invocation.flag("--json") ? $0.json : $0.text(console) }
            .joined(separator: invocation.flag("--json") ? "" : "\n"))
    return .done
}

private func unknown(_ code: String) -> CommandFailure {
    let names = Set(Explanation.all.map(\.code)).sorted()
    return .usage(
        "there is no code \(quoted(code))",
        hint: nearestName(to: code, among: names).map { "did you mean \($0)?" }
            ?? "pushcrypt explain, without a code, lists them all")
}

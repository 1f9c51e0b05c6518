internal import PushcryptCommandKit

extension Command {
    static let manual = Command(
        "man", "write a page of the manual, or all of it",
        discussion: [
            "Prints the page of a command as manual viewers read it; without a command, the page of the program."
        ],
        operands: [Operand("COMMAND", .command, .any, help: "the command, all words of it")],
        options: [
            Option("--out", "DIR", .folder, help: "write every page into this folder instead, which must exist"),
            Option(flag: "--markdown", help: "print everything as one document instead"),
        ],
        examples: [
            Example("pushcrypt man seal | man -l -"),
            Example("pushcrypt man --out man/man1", "every page"),
        ], run: runManual)
}

private func runManual(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--out", "--markdown")
    let path = try Parser(table: invocation.table).path(of: invocation.operands("COMMAND"))
    for option in ["--out", "--markdown"] where invocation.flag(option) && !path.isEmpty {
        throw .usage("\(option) is for all commands", hint: "leave \(quoted(path.joined(separator: " "))) out")
    }
    if let folder = invocation.value("--out") {
        for page in ManualPage.all(of: invocation.table) {
            let bytes = ContiguousArray(page.text.utf8)
            try OutputFile.write(bytes.span, to: "\(folder)/\(page.file)", mode: 0o666, force: true)
        }
    } else if invocation.flag("--markdown") {
        try console.write(ReferenceDocument(table: invocation.table).text)
    } else {
        try console.write(ManualPage(table: invocation.table, path: path).text)
    }
    return .done
}

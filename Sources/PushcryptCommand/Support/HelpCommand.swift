internal import PushcryptCommandKit

extension Command {
    static let help = Command(
        "help", "show how a command is used",
        operands: [
            Operand("COMMAND", .command, .any, help: "the command, all words of it; without one, the list of all")
        ],
        examples: [Example("pushcrypt help"), Example("pushcrypt help help")]
    ) { (invocation, console) throws(CommandFailure) in
        let path = try Parser(table: invocation.table).path(of: invocation.operands("COMMAND"))
        try console.write(HelpPage(table: invocation.table, path: path).text)
        return .done
    }
}

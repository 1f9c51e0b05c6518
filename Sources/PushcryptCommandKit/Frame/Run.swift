/// Runs a command line, without the program's name, and returns its exit code.
///
/// All messages have been written to standard error when this returns. Call `prepareProcess` first.
package func run(arguments: [String], table: CommandTable, console: Console) -> ExitCode {
    var console = console
    do throws(CommandFailure) {
        switch try Parser(table: table).parse(arguments) {
        case .help(let path):
            try console.write(HelpPage(table: table, path: path).text)
            return .done
        case .version:
            try console.write(table.version() + "\n")
            return .done
        case .command(let invocation):
            let command = invocation.command
            command.configure(&console)
            return try command.run(console)
        }
    } catch {
        if error.exit != .done {
            console.error(error.message)
            for hint in error.hints { console.hint(hint) }
        }
        return error.exit
    }
}

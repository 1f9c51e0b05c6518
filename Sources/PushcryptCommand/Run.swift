/// Does what the arguments ask for, the program's name left out, and returns the exit code.
///
/// Messages have gone to standard error when this returns. The caller has called `prepareProcess` first.
public func run(arguments: [String], io console: Console) -> Int32 {
    run(arguments: arguments, table: .pushcrypt, console: console).rawValue
}

func run(arguments: [String], table: CommandTable, console: Console) -> ExitCode {
    var console = console
    do throws(CommandFailure) {
        switch try Parser(table: table).parse(arguments) {
        case .help(let path):
            try console.write(HelpPage(table: table, path: path).text)
            return .done
        case .version:
            try console.write(table.version + "\n")
            return .done
        case .command(let invocation, let run):
            console.logFormat = invocation.logFormat ?? .text
            return try run(invocation, console)
        }
    } catch {
        if error.exit != .done {
            console.error(error.message)
            for hint in error.hints { console.hint(hint) }
        }
        return error.exit
    }
}

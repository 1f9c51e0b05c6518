@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A small table with one of everything, so that the frame is tested without the product's commands.
extension CommandTable {
    static let sample = CommandTable(
        program: "sample",
        summary: "a table for tests",
        sections: [
            Section(title: "keys", commands: [.device]),
            Section(
                title: "messages",
                commands: [
                    Command("send", "send a message", Send.self), Command("join", "join files into one", Join.self),
                    Command("greet", "say hello", Greet.self),
                ]),
            Section(title: "more", commands: [Command("help", "show how a command is used", HelpCommand.self)]),
        ],
        version: { "sample 7.0" },
        page: {
            ProgramPage(
                examples: [Example("sample greet", "says hello")],
                environment: [.init(name: "SAMPLE", help: "what is read")],
                files: [.init(name: "~/.sample", help: "what is kept")],
                exitCodes: CommandTable.pushcrypt.page().exitCodes)
        },
        sharedOptions: { arguments in
            _ = arguments.storePath()
            _ = arguments.json()
        },
        check: SecretText.refuse, jsonMessages: LogFormat.json.messages)
}

/// Prints what it was given, one line a value.
struct Send: CommandBody {
    enum Priority: String, CaseIterable { case low, normal, high }

    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Sends the message that FILE holds to every device that --to names, and waits for none of them to answer.",
                "A second paragraph.",
            ],
            more: ["Few people read this."],
            examples: [
                Example("sample send --to phone1 message.json"), Example("sample send -t a -t b -", "from a pipe"),
            ])
    }

    let file: String
    let recipients: [String]
    let seconds: Int?
    let priority: Priority?
    let key: String?
    let store: String?
    let isJSON: Bool
    let output: OutputArguments

    init(_ arguments: inout Arguments) {
        file = arguments.optionalInput("FILE", help: "the message")
        arguments.group("message")
        recipients = arguments.values("--to", short: "-t", "ID", isRequired: true, help: "the device to send to")
        seconds = arguments.seconds("--ttl", "DURATION", 1...2_592_000, help: "how long it lives")
        priority = arguments.choice("--priority", "LEVEL", help: "how urgent it is")
        key = arguments.value("--key", "SOURCE", .secret, help: "where the key is read from")
        arguments.group("debugging", isAdvanced: true)
        _ = arguments.flag("--trace", help: "say how it went")
        arguments.group(nil)
        store = arguments.storePath()
        isJSON = arguments.json()
        output = OutputArguments(&arguments)
    }

    func run(_ console: Console) throws(Failure) -> ExitCode {
        var lines = ["to \(recipients.joined(separator: ","))"]
        if let seconds { lines.append("ttl \(seconds)") }
        if let priority { lines.append("priority \(priority)") }
        if let key { lines.append("key \(key)") }
        if let store { lines.append("store \(store)") }
        if console.isQuiet { lines.append("quiet") }
        if isJSON { lines.append("json") }
        lines.append("file \(file)")
        try console.deliver(lines.joined(separator: "; ") + "\n", to: output)
        return .done
    }
}

struct Join: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("sample join all.txt a.txt b.txt")]) }

    let target: String
    let files: [String]

    init(_ arguments: inout Arguments) {
        target = arguments.operand("TARGET", help: "the file to make")
        files = arguments.operands("FILE", .input, atLeastOne: true, help: "what goes into it")
        _ = arguments.json()
    }

    func run(_ console: Console) throws(Failure) -> ExitCode {
        try console.write(target + "<-" + files.joined(separator: "+") + "\n")
        return .done
    }
}

struct Greet: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("sample greet")]) }

    let name: String?

    init(_ arguments: inout Arguments) {
        name = arguments.optionalOperand("NAME", help: "whom to greet")
        _ = arguments.flag("--loud", help: "louder")
        _ = arguments.flag("--soft", help: "softer")
        _ = arguments.flag("--bow", help: "with a bow")
        _ = arguments.value("--echo", "TIMES", help: "how often the hills answer")
        arguments.atMostOne(of: "--loud", "--soft")
        arguments.option("--echo", needs: "--loud", hint: "add --loud")
        arguments.option("--echo", excludes: ["--bow"], hint: "hills see nothing")
    }

    func run(_ console: Console) throws(Failure) -> ExitCode {
        guard name != "nobody" else { throw .refused("nobody is here", hint: "greet somebody", "or stay at home") }
        try console.write("hello \(name ?? "world")\n")
        return .done
    }
}

extension Command {
    static let device = Command(group: "device", "work with devices") {
        CommandGroup(
            discussion: ["Devices receive messages."], examples: [Example("sample device add phone1")],
            commands: [
                Command("add", "add a device", AddDevice.self), Command("list", "list the devices", ListDevices.self),
            ])
    }
}

struct AddDevice: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("sample device add phone1")]) }

    let id: String
    let store: String?

    init(_ arguments: inout Arguments) {
        id = arguments.operand("ID", help: "the device's name")
        store = arguments.storePath()
        _ = arguments.json()
    }

    func run(_ console: Console) throws(Failure) -> ExitCode {
        try console.write("add \(id) in \(store ?? "none")\n")
        return .done
    }
}

struct ListDevices: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("sample device list")]) }

    init(_ arguments: inout Arguments) {}

    func run(_ console: Console) throws(Failure) -> ExitCode {
        var output = OutputBuffer(console)
        for number in 1...20_000 { try output.append("phone\(number)\n") }
        try output.flush()
        return .done
    }
}

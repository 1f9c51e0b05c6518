@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A small table with one of everything, so that the frame is tested without the product's commands.
extension CommandTable {
    static let sample = CommandTable(
        program: "sample",
        version: "sample 7.0",
        date: "May 1, 2024",
        summary: "a table for tests",
        sharedOptions: [.store, .json],
        sections: [
            Section(title: "keys", commands: [.device]),
            Section(title: "messages", commands: [.send, .join, .greet]),
            Section(title: "more", commands: [.help]),
        ],
        hidden: [.complete],
        examples: [Example("sample greet", "says hello")],
        environment: [Term(name: "SAMPLE", help: "what is read")],
        files: [Term(name: "~/.sample", help: "what is kept")],
        exitCodes: CommandTable.pushcrypt.exitCodes, check: SecretText.refuse, configure: { _, _ in })
}

extension Command {
    /// Prints what it was given, one line a value.
    static let send = Command(
        "send", "send a message",
        discussion: [
            "Sends the message that FILE holds to every device that --to names, and waits for none of them to answer.",
            "A second paragraph.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "the message")],
        options: [
            Option("--to", short: "-t", "ID", isRepeatable: true, isRequired: true, help: "the device to send to"),
            Option("--ttl", "DURATION", .duration(1...2_592_000), help: "how long it lives"),
            Option("--priority", "LEVEL", .choice(["low", "normal", "high"]), help: "how urgent it is"),
            Option("--key", "SOURCE", .secret, help: "where the key is read from"),
            Option(flag: "--quiet", short: "-q", help: "say nothing"),
            .store, .json, .output, .force,
        ],
        examples: [Example("sample send --to phone1 message.json"), Example("sample send -t a -t b -", "from a pipe")]
    ) { (invocation, console) throws(CommandFailure) in
        var lines = ["to \(invocation.values("--to").joined(separator: ","))"]
        if let seconds = invocation.seconds("--ttl") { lines.append("ttl \(seconds)") }
        if let priority = invocation.value("--priority") { lines.append("priority \(priority)") }
        if let key = invocation.value("--key") { lines.append("key \(key)") }
        if let store = invocation.value("--store") { lines.append("store \(store)") }
        if invocation.flag("--quiet") { lines.append("quiet") }
        if invocation.flag("--json") { lines.append("json") }
        lines.append("file \(invocation.operand("FILE"))")
        try console.deliver(ContiguousArray((lines.joined(separator: "; ") + "\n").utf8).span, of: invocation)
        return .done
    }

    static let join = Command(
        "join", "join files into one",
        operands: [
            Operand("TARGET", help: "the file to make"),
            Operand("FILE", .input, .atLeastOne, help: "what goes into it"),
        ],
        options: [.json],
        examples: [Example("sample join all.txt a.txt b.txt")]
    ) { (invocation, console) throws(CommandFailure) in
        try console.write(
            invocation.operand("TARGET") + "<-" + invocation.operands("FILE").joined(separator: "+") + "\n")
        return .done
    }

    static let greet = Command(
        "greet", "say hello",
        operands: [Operand("NAME", .text, .optional, help: "whom to greet")],
        options: [Option(flag: "--loud", help: "louder"), Option(flag: "--soft", help: "softer")],
        examples: [Example("sample greet")]
    ) { (invocation, console) throws(CommandFailure) in
        try invocation.atMostOne(of: "--loud", "--soft")
        guard invocation.optionalOperand("NAME") != "nobody" else {
            throw .refused("nobody is here", hint: "greet somebody", "or stay at home")
        }
        try console.write("hello \(invocation.optionalOperand("NAME") ?? "world")\n")
        return .done
    }

    static let device = Command(
        group: "device", "work with devices", discussion: ["Devices receive messages."],
        examples: [Example("sample device add phone1")],
        commands: [
            Command(
                "add", "add a device", operands: [Operand("ID", help: "the device's name")],
                options: [.store, .json], examples: [Example("sample device add phone1")]
            ) { (invocation, console) throws(CommandFailure) in
                let store = invocation.value("--store") ?? "none"
                try console.write("add \(invocation.operand("ID")) in \(store)\n")
                return .done
            },
            Command("list", "list the devices", examples: [Example("sample device list")]) {
                (_, console) throws(CommandFailure) in
                var output = OutputBuffer(console)
                for number in 1...20_000 { try output.append("phone\(number)\n") }
                try output.flush()
                return .done
            },
        ])
}

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A small table with one of everything, so that the frame is tested without the product's commands.
extension CommandTable {
    static let sample = CommandTable(
        program: "sample",
        summary: "a table for tests",
        sections: [
            Section(title: "keys", commands: [.sampleDevice]),
            Section(
                title: "messages",
                commands: [
                    .sampleSend, .join, .greet,
                ]),
            Section(title: "more", commands: [.help]),
        ],
        examples: [Example("sample greet", "says hello")], environment: ["SAMPLE": "what is read"],
        files: ["~/.sample": "what is kept"], version: { "sample 7.0" },
        sharedOptions: { arguments in
            _ = arguments.storePath()
            _ = arguments.json()
        },
        check: SecretText.refuse, jsonMessages: LogFormat.json.messages)
}

extension Command {
    private enum Urgency: String, CaseIterable { case low, normal, high }

    /// Prints what it was given.
    fileprivate static let sampleSend = Command(
        "send", "send a message",
        about: """
            Sends the message that FILE holds to every device that --to names, and waits for none of them to answer.
            A second paragraph.
            """,
        more: "Few people read this.",
        examples: [
            "sample send --to phone1 message.json", Example("sample send -t a -t b -", "from a pipe"),
        ]
    ) { a in
        a.group("message")
        let recipients = a.values("--to", short: "-t", "ID", isRequired: true, help: "the device to send to")
        let seconds = a.seconds("--ttl", "DURATION", 1...2_592_000, help: "how long it lives")
        let urgency: Urgency? = a.choice("--priority", "LEVEL", help: "how urgent it is")
        let key = a.value("--key", "SOURCE", .secret, help: "where the key is read from")
        a.group("debugging", isAdvanced: true)
        _ = a.flag("--trace", help: "say how it went")
        a.group(nil)
        let (store, isJSON, output) = (a.storePath(), a.json(), OutputArguments(&a))
        let file = a.optionalInput("FILE", help: "the message")
        return { console in
            var lines = ["to \(recipients.joined(separator: ","))"]
            if let seconds { lines.append("ttl \(seconds)") }
            if let urgency { lines.append("priority \(urgency)") }
            if let key { lines.append("key \(key)") }
            if let store { lines.append("store \(store)") }
            if console.isQuiet { lines.append("quiet") }
            if isJSON { lines.append("json") }
            if output.force { lines.append("force") }
            lines.append("file \(file)")
            try console.deliver(lines.joined(separator: "; ") + "\n", to: output)
        }
    }

    fileprivate static let join = Command(
        "join", "join files into one", examples: ["sample join all.txt a.txt b.txt"]
    ) { a in
        _ = a.json()
        let target = a.operand("TARGET", help: "the file to make")
        let files = a.operands("FILE", .input, atLeastOne: true, help: "what goes into it")
        return { console in
            try console.write(target + "<-" + files.joined(separator: "+") + "\n")
        }
    }

    fileprivate static let greet = Command("greet", "say hello", examples: ["sample greet"]) { a in
        _ = a.flag("--loud", help: "louder")
        _ = a.flag("--soft", help: "softer")
        _ = a.flag("--bow", help: "with a bow")
        _ = a.value("--echo", "TIMES", help: "how often the hills answer")
        a.atMostOne(of: "--loud", "--soft")
        a.option("--echo", needs: "--loud", hint: "add --loud")
        a.option("--echo", excludes: ["--bow"], hint: "hills see nothing")
        let name = a.optionalOperand("NAME", help: "whom to greet")
        return { console in
            guard name != "nobody" else {
                throw Failure.refused("nobody is here", hint: "greet somebody", "or stay at home")
            }
            try console.write("hello \(name ?? "world")\n")
        }
    }

    fileprivate static let sampleDevice = Command(
        group: "device", "work with devices", about: "Devices receive messages.",
        examples: ["sample device add phone1"], [addDevice, listDevices])

    private static let addDevice = Command("add", "add a device", examples: ["sample device add phone1"]) { a in
        let store = a.storePath()
        _ = a.json()
        let id = a.operand("ID", help: "the device's name")
        return { console in
            try console.write("add \(id) in \(store ?? "none")\n")
        }
    }

    private static let listDevices = Command("list", "list the devices", examples: ["sample device list"]) { _ in
        { console in
            try console.write("phone1\n")
        }
    }
}

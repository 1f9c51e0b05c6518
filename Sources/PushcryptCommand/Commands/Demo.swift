internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let demo = Command(
        "demo", "show the main job step by step, with temporary stores",
        about:
            "Runs each command that it shows after a $, after 'pushcrypt init' for each store, and removes its folder at the end. With --keep it shows nothing, and leaves a folder to try commands on: the stores 'server' and 'phone', which know each other's public keys, and payload.json.",
        examples: ["pushcrypt demo", "pushcrypt demo --keep lab"]
    ) { a in
        let kept = a.value("--keep", "FOLDER", .folder, help: "make this new folder, with two stores and a payload")
        let table = a.table
        return { console in
            if let kept { return try keep(kept, table, console) }
            try TemporaryFolder().whileItExists { path in
                // The output of the commands is enough here.
                var quiet = console
                quiet.isQuiet = true
                try Demo(path: path, table: table, console: quiet).tell()
            }
        }
    }
}

/// Makes the folder under another name first, so that it appears complete or not at all.
private func keep(_ folder: String, _ table: CommandTable, _ console: Console) throws {
    var folder = String(folder.reversed().drop { $0 == "/" }.reversed())
    // A store's path cannot look like an option.
    if folder.hasPrefix("-") { folder = "./" + folder }
    if folder.isEmpty || Folder.hasEntry(at: folder) {
        throw Failure.usage("\(quoted(folder)) exists already", hint: "name a folder that does not exist")
    }
    try TemporaryFolder(beside: folder).whileItExists { (path) throws in
        // A file that is never committed takes the commands' output.
        let output = try OutputFile("\(path)/output", mode: 0o600, force: false)
        var silent = Console(
            input: console.input, output: output.descriptor, messages: console.messages, terminal: console.terminal,
            variable: console.variable, now: console.now, redact: console.redact)
        silent.isQuiet = true
        try Demo(path: path, table: table, console: silent).prepare()
        try Folder.move(path, to: folder)
    }
    let path = shellWord(folder)
    try console.write(
        """
        \(quoted(folder)) has the stores of a server and a phone, which know each other's public keys, and a payload. Next:

        pushcrypt --store \(path)/server seal --to phone \(path)/payload.json > push.json
        pushcrypt --store \(path)/phone open --banner push.json

        """)
}

/// Returns a path as a shell reads it.
private func shellWord(_ path: String) -> String {
    if path.utf8.allSatisfy({ $0.isLetterOrDigit || "/._-".utf8.contains($0) }) { return path }
    let parts = path.split(separator: "'", omittingEmptySubsequences: false)
    return "'\(parts.joined(separator: #"'\''"#))'"
}

/// The demonstration. It ends at the first command with another exit code than expected.
private struct Demo {
    let path: String
    let table: CommandTable
    let console: Console

    private static let payload =
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8 🚲 — 내일 봐"},"sound":"default"},"chat":"c41"}"#

    func tell() throws {
        try firstPush()
        try refusedPush()
        try secondPhone()
        try rotation()
    }

    /// Makes the stores and the payload, and nothing else.
    func prepare() throws {
        try meet()
        for record in ["server", "phone"] { Folder.remove("\(path)/\(record).json") }
        try write(Self.payload, to: "payload.json")
    }

    /// Makes the server's and the phone's keys.
    private func meet() throws {
        try say("1. The server and Alice's phone each make a key. Only public keys change hands.")
        try command("--store server init", isShown: false)
        try command("--store server key new provider --topic com.example.app")
        try command("--store server key show --json -o server.json")
        try enrol("phone")
    }

    private func firstPush() throws {
        try meet()
        try say("2. The payload that the server sends today, and the same, sealed: all that Apple sees.")
        try write(Self.payload, to: "payload.json")
        try show("payload.json")
        try command("--store server seal --to phone payload.json -o sealed.json")
        try show("sealed.json")
        try say("3. The phone shows:")
        try command("--store phone open --banner sealed.json")
    }

    /// Makes a key on a device, and registers it for Alice.
    private func enrol(_ device: String) throws {
        try command("--store \(device) init", isShown: false)
        try command("--store \(device) key new device --topic com.example.app")
        try command("--store \(device) key show --json -o \(device).json")
        try command("--store server device add \(device) \(device).json --user alice")
        try command("--store \(device) provider pin server.json")
    }

    private func refusedPush() throws {
        try say("4. One character was changed on the way: the push is refused, and the phone shows the placeholder.")
        try write(Self.tampered(try read("sealed.json")), to: "tampered.json")
        try command("--store phone open --banner tampered.json", expecting: .refused)
    }

    private func secondPhone() throws {
        try say("5. Alice has a tablet too. A push for her becomes two lines, and each device opens its own.")
        try enrol("tablet")
        try command("--store server seal --to-user alice payload.json -o lines.json")
        try command("--store tablet open --batch lines.json -o shown.json", expecting: .refused)
        for line in try read("shown.json").split(separator: "\n") { try console.write(Self.summary(line) + "\n") }
    }

    private func rotation() throws {
        try say(
            "6. From now on another key signs, which the server's provider key certifies. The next push tells the phone."
        )
        try command("--store server key rotate")
        try command("--store server seal --to phone payload.json -o certified.json")
        try command("--store phone open --banner certified.json")
        try command("--store phone provider list")
    }

    /// The recipient of an answer of `open --batch`, and the title or the reason.
    private static func summary(_ line: Substring) -> String {
        guard let answer = try? JSONDocument(parsing: ContiguousArray(line.utf8)).root else { return String(line) }
        let device = answer["to"]?.string ?? "?"
        let result =
            answer["notification"]?["title"]?.string.map { "opened, \($0)" } ?? answer["error"]?["code"]?.string
        return "   \(device): \(result ?? "?")"
    }

    // MARK: Telling

    private func say(_ text: String) throws {
        try console.write("\n" + console.styled(text, .bold) + "\n")
    }

    private func show(_ file: String) throws {
        try console.write(console.styled("$ cat \(file)", .cyan) + "\n" + read(file).trimmedNewline + "\n")
    }

    /// Runs a command of the table in this process; names of files mean files in the folder.
    private func command(
        _ line: String, expecting expected: ExitCode = .done, isShown: Bool = true
    ) throws {
        if isShown { try console.write(console.styled("$ pushcrypt \(line)", .cyan) + "\n") }
        let words = line.split(separator: " ").map(String.init)
        let stores = ["server", "phone", "tablet"]
        let arguments = words.enumerated().map { index, word in
            let isStore = stores.contains(word) && index > 0 && words[index - 1] == "--store"
            return isStore || word.hasSuffix(".json") ? "\(path)/\(word)" : word
        }
        let exit = run(arguments: arguments, table: table, console: console)
        if exit != .done { try console.write("(exit \(exit.rawValue))\n") }
        guard exit == expected else {
            throw Failure.failed(
                "the demonstration expected exit \(expected.rawValue) here", hint: "run pushcrypt doctor")
        }
    }

    private func write(_ text: String, to file: String) throws {
        try OutputFile.write(ContiguousArray((text + "\n").utf8).span, to: "\(path)/\(file)", mode: 0o600, force: false)
    }

    private func read(_ file: String) throws -> String {
        String(decoding: try console.read("\(path)/\(file)", limit: 1 << 16), as: UTF8.self)
    }

    /// Replaces one character in the middle of the ciphertext.
    private static func tampered(_ sealed: String) -> String {
        var bytes = Array(sealed.trimmedNewline.utf8)
        let place = bytes.count - 100
        bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    fileprivate var trimmedNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}

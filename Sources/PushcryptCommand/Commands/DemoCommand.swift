internal import Pushcrypt
internal import PushcryptCommandKit

struct DemoCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Really runs each command that it shows after a $, after 'pushcrypt init' for each store, and removes its folder at the end."
            ],
            examples: [Example("pushcrypt demo")])
    }

    private let table: CommandTable

    init(_ arguments: inout Arguments) { table = arguments.table }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let folder = try TemporaryFolder()
        return try folder.whileItExists { (path) throws(CommandFailure) in
            // What the commands write is enough here.
            var quiet = console
            quiet.isQuiet = true
            try Demo(path: path, table: table, console: quiet).tell()
            return .done
        }
    }
}

/// The demonstration. It ends at the first command with another exit code than expected.
private struct Demo {
    let path: String
    let table: CommandTable
    let console: Console

    private static let payload =
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8 🚲 — 내일 봐"},"sound":"default"},"chat":"c41"}"#

    func tell() throws(CommandFailure) {
        try firstPush()
        try refusedPush()
        try secondPhone()
        try rotation()
    }

    private func firstPush() throws(CommandFailure) {
        for store in ["provider", "phone", "tablet"] { try command("--store \(store) init", isShown: false) }
        try say("1. The provider and Alice's phone each make a key. Only public keys change hands.")
        try command("--store provider key new provider --topic com.example.app")
        try command("--store provider key show --json -o provider.json")
        try enrol("phone")
        try say("2. The payload that the provider sends today, and the same, sealed: all that Apple sees.")
        try write(Self.payload, to: "today.json")
        try show("today.json")
        try command("--store provider seal --to phone today.json -o sealed.json")
        try show("sealed.json")
        try say("3. The phone shows:")
        try command("--store phone open --banner sealed.json")
    }

    /// Makes a key on a device, and registers it for Alice.
    private func enrol(_ device: String) throws(CommandFailure) {
        try command("--store \(device) key new device --topic com.example.app")
        try command("--store \(device) key show --json -o \(device).json")
        try command("--store provider device add \(device) \(device).json --user alice")
        try command("--store \(device) provider pin provider.json")
    }

    private func refusedPush() throws(CommandFailure) {
        try say("4. One character was changed on the way: the push is refused, and the phone shows the placeholder.")
        try write(Self.tampered(try read("sealed.json")), to: "tampered.json")
        try command("--store phone open --banner tampered.json", expecting: .refused)
    }

    private func secondPhone() throws(CommandFailure) {
        try say("5. Alice has a tablet too. A push for her becomes two lines, and each device opens its own.")
        try enrol("tablet")
        try command("--store provider seal --to-user alice today.json -o lines.json")
        try command("--store tablet open --batch lines.json -o shown.json", expecting: .refused)
        for line in try read("shown.json").split(separator: "\n") { try console.write(Self.summary(line) + "\n") }
    }

    private func rotation() throws(CommandFailure) {
        try say("6. From now on another key signs, which the provider's key certifies. The next push tells the phone.")
        try command("--store provider key rotate")
        try command("--store provider seal --to phone today.json -o certified.json")
        try command("--store phone open --banner certified.json")
        try command("--store phone provider list")
    }

    /// Whom an answer of `open --batch` is for, and the title or the reason.
    private static func summary(_ line: Substring) -> String {
        guard let answer = try? JSONDocument(parsing: ContiguousArray(line.utf8)).root else { return String(line) }
        let device = answer["to"]?.string ?? "?"
        let result =
            answer["notification"]?["title"]?.string.map { "opened, \($0)" } ?? answer["error"]?["code"]?.string
        return "   \(device): \(result ?? "?")"
    }

    // MARK: Telling

    private func say(_ text: String) throws(CommandFailure) {
        try console.write("\n" + console.styled(text, .bold) + "\n")
    }

    private func show(_ file: String) throws(CommandFailure) {
        try console.write(console.styled("$ cat \(file)", .cyan) + "\n" + read(file).trimmedNewline + "\n")
    }

    /// Runs a command of the table in this process; names of files mean files in the folder.
    private func command(
        _ line: String, expecting expected: ExitCode = .done, isShown: Bool = true
    ) throws(CommandFailure) {
        if isShown { try console.write(console.styled("$ pushcrypt \(line)", .cyan) + "\n") }
        let words = line.split(separator: " ").map(String.init)
        let files = ["provider", "phone", "tablet"]
        let arguments = words.enumerated().map { index, word in
            let isStore = files.contains(word) && index > 0 && words[index - 1] == "--store"
            return isStore || word.hasSuffix(".json") ? "\(path)/\(word)" : word
        }
        let exit = run(arguments: arguments, table: table, console: console)
        if exit != .done { try console.write("(exit \(exit.rawValue))\n") }
        guard exit == expected else {
            throw .failed("the demonstration expected exit \(expected.rawValue) here", hint: "run pushcrypt doctor")
        }
    }

    private func write(_ text: String, to file: String) throws(CommandFailure) {
        try OutputFile.write(ContiguousArray((text + "\n").utf8).span, to: "\(path)/\(file)", mode: 0o600, force: false)
    }

    private func read(_ file: String) throws(CommandFailure) -> String {
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

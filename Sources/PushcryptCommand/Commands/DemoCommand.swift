internal import PushcryptCommandKit

struct DemoCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Really runs each command that it shows after a $, and removes its folder at the end."
            ],
            examples: [Example("pushcrypt demo")])
    }

    private let table: CommandTable

    init(_ arguments: inout Arguments) { table = arguments.table }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let folder = try TemporaryFolder()
        return try folder.whileItExists { (path) throws(CommandFailure) in
            try Demo(path: path, table: table, console: console).tell()
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
    private static let second =
        #"{"aps":{"alert":{"title":"Table for two","body":"Sorry, make it half past"},"sound":"default"},"chat":"c41"}"#

    func tell() throws(CommandFailure) {
        try keys()
        try sealAndOpen()
        try whatCannotBeOpened()
        try rotateWithAMessageInFlight()
    }

    private func keys() throws(CommandFailure) {
        try say("1. The provider and the phone each create a key. Only public keys change hands.")
        try command("--store provider init")
        try command("--store phone init")
        try command("--store provider key new provider --topic com.example.app")
        try command("--store phone key new device --topic com.example.app")
        try command("--store phone key show --json -o phone.json")
        try command("--store provider device add phone1 phone.json")
        try command("--store provider key show --json -o provider.json")
        try command("--store phone provider pin provider.json")
    }

    private func sealAndOpen() throws(CommandFailure) {
        try say("2. The payload that the provider sends today:")
        try write(Self.payload, to: "today.json")
        try show("today.json")
        try say("3. The same, sealed. This is all that the relay sees, and all it can tell:")
        try command("--store provider seal --to phone1 today.json -o sealed.json")
        try show("sealed.json")
        try command("inspect sealed.json")
        try say("4. The phone shows:")
        try command("--store phone open --banner sealed.json")
    }

    private func whatCannotBeOpened() throws(CommandFailure) {
        try say("5. One character changed on the way: the phone shows only that a notification came.")
        let sealed = try read("sealed.json")
        try write(Self.tampered(sealed), to: "tampered.json")
        try command("--store phone open --banner tampered.json", expecting: .refused)
        try say("6. An unsealed push: only its title is shown, on one line, not its text.")
        try write(#"{"aps":{"mutable-content":1,"alert":{"title":"Bank","body":"Send money"}}}"#, to: "forged.json")
        try command("--store phone open --banner forged.json", expecting: .refused)
        try say("7. The relay sends the first push again: it does not ring twice.")
        try command("--store phone open --banner --request-id another sealed.json")
    }

    private func rotateWithAMessageInFlight() throws(CommandFailure) {
        try say("8. The phone changes its key while a message is on its way to the old one:")
        try write(Self.second, to: "second.json")
        try command("--store provider seal --to phone1 second.json -o in-flight.json")
        try command("--store phone key rotate --json")
        try command("--store phone key show --json -o phone-new.json")
        try command("--store provider device add phone1 phone-new.json")
        try command("--store phone key rotate --confirm")
        try command("--store phone open --banner in-flight.json")
        try say("9. From now on another key signs, which the provider's key certifies. The next push tells the phone:")
        try command("--store provider key rotate")
        try command("--store provider seal --to phone1 today.json -o certified.json")
        try command("--store phone open --banner certified.json")
        try command("--store phone provider list")
    }

    // MARK: Telling

    private func say(_ text: String) throws(CommandFailure) {
        try console.write("\n" + console.styled(text, .bold) + "\n\n")
    }

    private func show(_ file: String) throws(CommandFailure) {
        try console.write(console.styled("$ cat \(file)", .cyan) + "\n" + read(file).trimmedNewline + "\n")
    }

    /// Runs a command of the table in this process; names of files mean files in the folder.
    private func command(_ line: String, expecting expected: ExitCode = .done) throws(CommandFailure) {
        try console.write(console.styled("$ pushcrypt \(line)", .cyan) + "\n")
        let words = line.split(separator: " ").map(String.init)
        let files = ["provider", "phone"]
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

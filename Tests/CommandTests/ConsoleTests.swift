import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct ConsoleInputTests {
    private func read(_ path: String, limit: Int, console: Console) -> Result<String, Failure> {
        do throws(Failure) {
            return .success(String(decoding: try console.read(path, limit: limit), as: UTF8.self))
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "A file and standard input are read whole, up to the limit and not a byte beyond",
        arguments: [
            (1, true), (99, true), (100, true), (101, false), (5000, false),
        ])
    func limit(length: Int, fits: Bool) throws {
        let text = String(repeating: "x", count: length)
        let captured = try CapturedConsole(input: text)
        let file = try captured.directory.write(text, to: "file")
        for (path, name) in [("-", "standard input"), (file, "'\(file)'")] {
            switch read(path, limit: 100, console: captured.console) {
            case .success(let read): #expect(fits && read == text)
            case .failure(let failure):
                #expect(!fits && failure.exit == .refused)
                #expect(failure.message == "\(name) is longer than 100 bytes")
            }
        }
    }

    @Test(
        "A pipe, whose length nobody knows, is read whole, in whatever pieces it comes",
        arguments: [
            1, 16_383, 16_384, 16_385, 100_000,
        ])
    func pipe(length: Int) async throws {
        let pipe = Pipe()
        let text = String(repeating: "x", count: length)
        let writer = Thread {
            for start in stride(from: 0, to: length, by: 7000) {
                let part = text.utf8.dropFirst(start).prefix(7000)
                try? pipe.fileHandleForWriting.write(contentsOf: Data(part))
            }
            try? pipe.fileHandleForWriting.close()
        }
        writer.start()
        let console = try CapturedConsole().console.reading(pipe.fileHandleForReading)
        #expect(try console.read("-", limit: 100_000).count == length)
    }

    @Test("Empty input is refused, and says which")
    func empty() throws {
        let captured = try CapturedConsole(input: "")
        let file = try captured.directory.write("", to: "file")
        for (path, message) in [("-", "standard input was empty"), (file, "'\(file)' is empty")] {
            let failure = #expect(throws: Failure.self) { try captured.console.read(path, limit: 100) }
            #expect(failure?.exit == .refused && failure?.message == message)
        }
        #expect(try captured.console.read(file, limit: 100, mayBeEmpty: true).isEmpty)
    }

    @Test("Input without end is refused after the limit and one byte")
    func endless() throws {
        let console = try CapturedConsole().console
        let failure = #expect(throws: Failure.self) { try console.read("/dev/zero", limit: 70_000) }
        #expect(failure?.exit == .refused)
    }

    @Test("A huge regular file is refused without being held")
    func huge() throws {
        let captured = try CapturedConsole()
        let file = try captured.directory.write("", to: "huge")
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.truncate(atOffset: 1 << 40)
        let failure = #expect(throws: Failure.self) { try captured.console.read(file, limit: 100) }
        #expect(failure?.exit == .refused)
    }

    @Test(
        "A file that claims no size is read all the same", .enabled(if: FileManager.default.fileExists(atPath: "/proc"))
    )
    func noSize() throws {
        let text = String(
            decoding: try CapturedConsole().console.read("/proc/self/status", limit: 65_536), as: UTF8.self)
        #expect(text.hasPrefix("Name:"))
        #expect(text.hasSuffix("\n"))
    }

    @Test("A person at the terminal is told that the program waits")
    func terminal() throws {
        let terminal = try PseudoTerminal()
        terminal.type("typed\n\u{4}")
        let captured = try CapturedConsole()
        let bytes = try captured.console.reading(terminal.person).read("-", limit: 100)
        #expect(String(decoding: bytes, as: UTF8.self) == "typed\n")
        let hint = "pushcrypt: hint: reading from the terminal; control-d on a new line ends the input\n"
        #expect(try captured.messages == hint)
    }

    @Test(
        "What cannot be read says why, with exit 1",
        arguments: [
            ("missing", "cannot read 'DIR/missing': no such file or directory"),
            ("", "cannot read 'DIR/': is a directory"),
            ("in/x", "cannot read 'DIR/in/x': not a directory"),
        ])
    func unreadable(name: String, message: String) throws {
        let captured = try CapturedConsole()
        let path = captured.directory.file(name)
        let failure = #expect(throws: Failure.self) { try captured.console.read(path, limit: 100) }
        #expect(failure?.exit == .failed)
        #expect(failure?.message == message.replacing("DIR", with: captured.directory.path))
    }

    @Test("A file without read permission says so", .enabled(if: geteuid() != 0))
    func permission() throws {
        let captured = try CapturedConsole()
        let file = try captured.directory.write("x", to: "file")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file)
        let failure = #expect(throws: Failure.self) { try captured.console.read(file, limit: 100) }
        #expect(failure?.message == "cannot read '\(file)': permission denied")
    }
}

@Suite struct ConsoleOutputTests {
    @Test(
        "Much output comes whole through a slow reader, and through one that made the pipe non-blocking",
        arguments: [
            false, true,
        ])
    func slowReader(nonBlocking: Bool) throws {
        let pipe = Pipe()
        let writing = pipe.fileHandleForWriting
        if nonBlocking { _ = fcntl(writing.fileDescriptor, F_SETFL, O_NONBLOCK) }
        let console = try CapturedConsole().console.writing(writing)
        let reader = Thread {
            var seen = 0
            while let part = try? pipe.fileHandleForReading.read(upToCount: 3000), !part.isEmpty { seen += part.count }
            Thread.current.threadDictionary["seen"] = seen
        }
        reader.start()
        let bytes = ContiguousArray<UInt8>(repeating: 0x78, count: 1_000_000)
        try console.write(bytes.span)
        try writing.close()
        while !reader.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        #expect(reader.threadDictionary["seen"] as? Int == 1_000_000)
    }

    @Test("A full disk is a failure", .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func fullDisk() throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let captured = try CapturedConsole()
        let exit = run(arguments: ["greet"], table: .sample, console: captured.console.writing(full))
        #expect(exit == .failed)
        #expect(try captured.messages == "pushcrypt: error: cannot write standard output: no space left on device\n")
    }

    @Test("Output to a file appears under its name, and is not overwritten unasked")
    func outputFile() throws {
        let directory = try TemporaryDirectory()
        let arguments = ["send", "--to", "a", "-o", directory.file("out.txt")]
        #expect(try outcome(arguments) == Outcome(exit: .done, output: "", messages: ""))
        #expect(try directory.read("out.txt") == "to a; file -\n")
        let again = try outcome(arguments)
        #expect(again.exit == .usage)
        #expect(again.messages.hasSuffix("out.txt' exists already\npushcrypt: hint: --force replaces it\n"))
        #expect(try outcome(arguments + ["--force", "-q"]).exit == .done)
        #expect(try directory.read("out.txt") == "to a; quiet; force; file -\n")
        #expect(try outcome(["send", "--to", "a", "-o", "-"]).output == "to a; file -\n")
    }

    @Test("A file of secrets is for its owner only", arguments: [(true, 0o600), (false, 0o644)])
    func secretFile(isSecret: Bool, mode: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("key")
        var taken = Arguments(
            .sample, ["send"], [.init(text: "--output=\(path)", place: .option, isBeforeCommand: false)])
        let output = OutputArguments(&taken)
        let bytes: ContiguousArray<UInt8> = [1]
        try CapturedConsole().console.deliver(bytes.span, to: output, isSecret: isSecret)
        let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        // A umask may take bits away, and gives none.
        #expect(found.map { $0 & ~mode } == 0)
        #expect(found.map { $0 & 0o600 } == 0o600)
    }
}

@Suite struct ConsoleMessageTests {
    @Test("Messages are lines on standard error that say what they are")
    func messages() throws {
        let captured = try CapturedConsole()
        captured.console.error("one")
        captured.console.warning("two")
        captured.console.hint("three\u{1b}[0m")
        #expect(try captured.output == "")
        let expected = "pushcrypt: error: one\npushcrypt: warning: two\npushcrypt: hint: three\\u001b[0m\n"
        #expect(try captured.messages == expected)
    }

    @Test(
        "Colour needs a terminal, and NO_COLOR or a dumb terminal turns it off",
        arguments: [
            ([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false),
            (["TERM": "xterm"], true),
        ])
    func colour(environment: [String: String], coloured: Bool) throws {
        let terminal = try PseudoTerminal()
        let captured = try CapturedConsole(environment: environment)
        #expect(captured.console.styled("text", .bold) == "text")
        #expect(!captured.console.showsOutput)
        let console = captured.console.writing(terminal.person, messages: terminal.person)
        #expect(console.showsOutput)
        #expect(console.styled("text", .bold) == (coloured ? "\u{1b}[1mtext\u{1b}[0m" : "text"))
        console.error("broken")
        #expect(terminal.shown(until: "broken").contains("\u{1b}[1;31merror:\u{1b}[0m") == coloured)
    }
}

extension Console {
    /// The same console with another standard input.
    func reading(_ input: FileHandle) -> Console {
        Console(
            input: Descriptor(number: input.fileDescriptor), output: output, messages: messages, terminal: terminal,
            variable: variable, now: now, redact: redact)
    }

    /// The same console with another standard output, and another standard error if there is one.
    func writing(_ output: FileHandle, messages other: FileHandle? = nil) -> Console {
        Console(
            input: input, output: Descriptor(number: output.fileDescriptor),
            messages: other.map { Descriptor(number: $0.fileDescriptor) } ?? messages, terminal: terminal,
            variable: variable, now: now, redact: redact)
    }
}

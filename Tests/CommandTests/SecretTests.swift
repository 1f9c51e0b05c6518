import Foundation
import Pushcrypt
import Synchronization
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The secret as text, and what is left of the buffer behind it.
private func read(
    capacity: Int = Console.secretCapacity, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Int
) throws(Failure) -> String {
    var buffer = Ephemeral(count: capacity)
    let count = try buffer.withMutableSpan(body)
    return buffer.withSpan { span in String(decoding: (0..<count).map { span[$0] }, as: UTF8.self) }
}

@Suite struct SecretInputTests {
    private func secret(from source: String, _ captured: CapturedConsole) throws(Failure) -> String {
        try read { span throws(Failure) in try captured.console.readSecret(from: source, into: &span) }
    }

    /// A link as well: containers mount a key so.
    @Test(
        "A secret is read from a file, a descriptor or standard input; one newline at the end is not part of it",
        arguments: [
            ("secret", "secret"), ("secret\n", "secret"), ("secret\r\n", "secret"), ("secret\n\n", "secret\n"),
            ("secret\r", "secret\r"), (" secret ", " secret "), ("pässwörd\n", "pässwörd"),
        ])
    func sources(text: String, secret: String) throws {
        let captured = try CapturedConsole(input: text)
        let file = try captured.directory.write(text, to: "file")
        let handle = try #require(FileHandle(forReadingAtPath: file))
        let link = captured.directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")
        for source in [file, link, "fd:\(handle.fileDescriptor)", "-"] {
            #expect(try self.secret(from: source, captured) == secret)
        }
    }

    @Test(
        "A secret has at most 4096 bytes, newline included", arguments: [(4096, true), (4097, false), (100_000, false)])
    func limit(length: Int, fits: Bool) throws {
        let captured = try CapturedConsole(input: String(repeating: "s", count: length))
        do throws(Failure) {
            let found = try secret(from: "-", captured)
            #expect(fits && found.utf8.count == length)
        } catch {
            #expect(!fits && error.exit == .refused && error.message == "standard input is too long for a secret")
        }
    }

    @Test(
        "A secret is read whatever its file's mode; if more than a group can read it, that is a warning, once",
        arguments: [
            (0o400, true), (0o440, true), (0o600, true), (0o640, true), (0o404, false), (0o604, false), (0o602, false),
            (0o666, false),
        ])
    func modes(mode: Int, isPrivate: Bool) throws {
        let captured = try CapturedConsole()
        let path = try captured.directory.write("secret", to: "file", mode: mode)
        let file = try #require(FileHandle(forReadingAtPath: path))
        let sources = [path, "fd:\(file.fileDescriptor)"]
        for source in sources + [path] {
            #expect(try secret(from: source, captured) == "secret")
        }
        let warnings = try captured.messages.split(separator: "\n")
        #expect(warnings.count == (isPrivate ? 0 : 2))
        for (warning, source) in zip(warnings, sources) {
            #expect(
                warning.hasPrefix(
                    "pushcrypt: warning: every user of this machine can read or change '\(source)', which holds a secret"
                )
            )
        }
    }

    @Test(
        "A source without a secret says what is wrong, and never what was read",
        arguments: [
            ("DIR/missing", ExitCode.failed, "cannot read 'DIR/missing': no such file or directory"),
            ("DIR", .failed, "cannot read 'DIR': is a directory"),
            ("DIR/in", .refused, "'DIR/in' is empty"), ("DIR/newline", .refused, "'DIR/newline' is empty"),
            ("-", .refused, "standard input was empty"),
            ("fd:999", .failed, "cannot read 'fd:999': bad file descriptor"),
            ("fd:", .usage, "'fd:' names no descriptor"), ("fd:-1", .usage, "'fd:-1' names no descriptor"),
            ("fd:99999999999", .usage, "'fd:99999999999' names no descriptor"),
        ])
    func noSecret(source: String, exit: ExitCode, message: String) throws {
        let captured = try CapturedConsole()
        try captured.directory.write("\n", to: "newline")
        let path = captured.directory.path
        do throws(Failure) {
            _ = try secret(from: source.replacing("DIR", with: path), captured)
            Issue.record("there was a secret")
        } catch {
            #expect(error.exit == exit)
            #expect(error.message == message.replacing("DIR", with: path))
        }
    }
}

/// A question asked in a separate thread: it blocks, and the test's own threads are few.
private final class Asking: Sendable {
    private let answer = Mutex<Result<String, Failure>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(at path: String) {
        let console = Console(
            input: .standardInput, output: .standardOutput, messages: .standardError, terminal: path,
            variable: { _ in nil }, now: { 0 }, redact: { $0 })
        Thread.detachNewThread { [self] in
            let result: Result<String, Failure>
            do throws(Failure) {
                let answer = try read(capacity: 64) { span throws(Failure) in
                    try console.askSecret("passphrase: ", otherwise: "use a file", into: &span)
                }
                result = .success(answer)
            } catch {
                result = .failure(error)
            }
            answer.withLock { $0 = result }
            done.signal()
        }
    }

    func wait() throws -> String? {
        done.wait()
        return try answer.withLock { try $0?.get() }
    }
}

@Suite struct PromptTests {
    @Test(
        "What a person types is read and not shown, and the terminal is as before",
        arguments: [
            ("correct horse\n", "correct horse"), ("wrong\u{15}right\n", "right"), ("ab\u{7f}c\n", "ac"), ("ü\n", "ü"),
            (String(repeating: "x", count: 63) + "\n", String(repeating: "x", count: 63)),
        ])
    func answer(typed: String, answer: String) throws {
        let terminal = try PseudoTerminal()
        #expect(terminal.echoes)
        let asking = Asking(at: terminal.path)
        #expect(terminal.wait(untilEchoes: false))
        terminal.type(typed)
        #expect(try asking.wait() == answer)
        #expect(terminal.echoes)
        #expect(terminal.shown(until: "\r\n") == "passphrase: \r\n")
    }

    @Test("What was typed before the question is not the answer")
    func typedAhead() throws {
        let terminal = try PseudoTerminal()
        terminal.type("early\n")
        #expect(terminal.shown(until: "\n").contains("early"))
        let asking = Asking(at: terminal.path)
        #expect(terminal.wait(untilEchoes: false))
        terminal.type("late\n")
        #expect(try asking.wait() == "late")
    }

    @Test(
        "No answer, and one that is too long, are refused",
        arguments: [
            ("\n", "nothing was entered"), ("\u{4}", "nothing was entered"),
            (String(repeating: "x", count: 64) + "\n", "what was entered is longer than 63 bytes"),
        ])
    func noAnswer(typed: String, message: String) throws {
        let terminal = try PseudoTerminal()
        let asking = Asking(at: terminal.path)
        #expect(terminal.wait(untilEchoes: false))
        terminal.type(typed)
        let failure = #expect(throws: Failure.self) { try asking.wait() }
        #expect(failure?.message == message)
        #expect(terminal.echoes)
    }

    @Test("Without a terminal the hint says what a program does")
    func noTerminal() {
        let asking = Asking(at: "/nonexistent/tty")
        let failure = #expect(throws: Failure.self) { try asking.wait() }
        #expect(failure?.exit == .usage)
        #expect(failure?.message == "there is no terminal to ask at: no such file or directory")
        #expect(failure?.hints == ["use a file"])
    }

    @Test("A signal that ends the process finds the terminal as it was", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signal(number: CInt) async throws {
        let terminal = try PseudoTerminal()
        await #expect(processExitsWith: .signal(number)) { [path = terminal.path as String, number = number as CInt] in
            // The threads of a test process hold signals back; a program's own does not.
            var all = sigset_t()
            _ = unsafe sigfillset(&all)
            _ = unsafe pthread_sigmask(SIG_UNBLOCK, &all, nil)
            let asking = pthread_self()
            let watch = try #require(FileHandle(forUpdatingAtPath: path))
            Thread.detachNewThread {
                var settings = termios()
                repeat {
                    usleep(5000)
                    _ = unsafe tcgetattr(watch.fileDescriptor, &settings)
                } while settings.c_lflag & tcflag_t(ECHO) != 0
                pthread_kill(asking, number)
            }
            var line = Ephemeral(count: 64)
            _ = try line.withMutableSpan { span throws(SystemError) in
                try Terminal.ask("passphrase: ", at: path, into: &span)
            }
        }
        #expect(terminal.shown(until: "\r\n") == "passphrase: \r\n")
        #expect(terminal.echoes)
    }
}

@Suite struct SecretOutputTests {
    /// A command about keys.
    private func runKey(_ captured: CapturedConsole, _ arguments: String...) -> ExitCode {
        run(arguments: ["key"] + arguments, table: .pushcrypt, console: captured.console)
    }

    @Test("A new secret key is not shown on a terminal", arguments: ["device", "provider"])
    func terminal(role: String) throws {
        let terminal = try PseudoTerminal()
        let captured = try CapturedConsole()
        let console = captured.console.writing(terminal.person, messages: terminal.person)
        let exit = run(arguments: ["key", "new", role, "--output", "-"], table: .pushcrypt, console: console)
        try #require(exit == .usage)
        #expect(!terminal.shown(until: "hint").contains("SECRET-1"))
    }

    @Test(
        "A secret key in another program's form is not shown on a terminal",
        arguments: ["device", "provider"], ["jwk", "pem", "raw"])
    func export(role: String, format: String) throws {
        let (terminal, made, piped) = (try PseudoTerminal(), try CapturedConsole(), try CapturedConsole())
        let file = made.directory.file("key")
        try #require(
            run(arguments: ["key", "new", role, "-o", file], table: .pushcrypt, console: made.console) == .done)
        let arguments = ["key", "export", "--format", format, "--key-file", file, "--secret"]
        try #require(run(arguments: arguments, table: .pushcrypt, console: piped.console) == .done)
        let console = piped.console.writing(terminal.person, messages: terminal.person)
        #expect(run(arguments: arguments, table: .pushcrypt, console: console) == .usage)
        let shown = terminal.shown(until: "hint")
        #expect(shown.contains("a secret key is not shown on a terminal"))
        for line in try piped.output.split(separator: "\n") { #expect(!shown.contains(line)) }
    }

    @Test(
        "A key of another program in a file that everybody can read is a warning", arguments: ["device", "provider"])
    func importedFile(role: String) throws {
        let captured = try CapturedConsole()
        let (key, pem) = (captured.directory.file("key"), captured.directory.file("pem"))
        try #require(runKey(captured, "new", role, "-o", key) == .done)
        try #require(runKey(captured, "export", "--format", "pem", "--key-file", key, "--secret", "-o", pem) == .done)
        for (mode, warnings) in [(0o640, 0), (0o644, 1)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: pem)
            #expect(runKey(captured, "import", "--kind", role, pem, "-o", key, "--force") == .done)
            #expect(try captured.messages.components(separatedBy: "which holds a secret").count == warnings + 1)
        }
    }

    @Test(
        "The file of a secret key is its owner's alone", arguments: ["device", "provider"], ["jwk", "pem", "raw"])
    func exportedFile(role: String, format: String) throws {
        let captured = try CapturedConsole()
        let (key, other) = (captured.directory.file("key"), captured.directory.file("other"))
        try #require(runKey(captured, "new", role, "-o", key) == .done)
        try #require(
            runKey(captured, "export", "--format", format, "--key-file", key, "--secret", "-o", other) == .done)
        let exit = runKey(captured, "import", "--kind", role, "--format", format, other, "-o", key, "--force")
        try #require(exit == .done)
        for file in [key, other] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }
}

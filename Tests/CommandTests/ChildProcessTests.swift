import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Another program is run without a shell, whatever it does.
@Suite struct ChildProcessTests {
    private func run(_ script: String, limit: Int = 1 << 20) throws -> ChildProcess.Result {
        try ChildProcess.run("sh", ["-c", script], limit: limit)
    }

    @Test("Both streams and the exit code come back")
    func streams() throws {
        let result = try run("echo out; echo err >&2; exit 7")
        #expect(String(decoding: result.output, as: UTF8.self) == "out\n")
        #expect(String(decoding: result.messages, as: UTF8.self) == "err\n")
        #expect(result.exit == 7)
    }

    @Test("Arguments are words of their own, whatever is in them")
    func arguments() throws {
        let result = try ChildProcess.run("printf", ["%s|", "a b", "$HOME", "'\"", "*"], limit: 100)
        #expect(String(decoding: result.output, as: UTF8.self) == "a b|$HOME|'\"|*|")
    }

    @Test("A program that fills both streams at once is read to its end")
    func bothStreams() throws {
        let result = try run("head -c 300000 /dev/zero >&2 & head -c 300000 /dev/zero; wait")
        #expect(result.output.count == 300_000 && result.messages.count == 300_000)
    }

    @Test("A program that writes more than is taken is cut off, and ends")
    func limit() throws {
        let result = try run("exec cat /dev/zero", limit: 1000)
        #expect(result.output.count > 1000 && result.output.count < 1 << 20)
        #expect(result.exit == nil)
    }

    @Test("It has nothing on standard input")
    func input() throws {
        #expect(try run("cat").output.isEmpty)
    }

    @Test("A program that a signal ends has no exit code")
    func signal() throws {
        #expect(try run("kill -KILL $$").exit == nil)
    }

    @Test("A program that is not there is said to be not there")
    func absent() {
        #expect(throws: SystemError.notFound) { try ChildProcess.run("no-such-program", [], limit: 1) }
    }

    @Test("A program that takes too long is killed, even if it has closed its streams")
    func late() throws {
        for script in ["exec sleep 600", "exec sleep 600 >&- 2>&-"] {
            let result = try ChildProcess.run("sh", ["-c", script], limit: 100, timeout: 200)
            #expect(result.isLate && result.exit == nil)
        }
    }

    @Test("A program that it leaves behind with its streams is not waited for")
    func leftBehind() throws {
        let result = try ChildProcess.run("sh", ["-c", "sleep 600 & echo $!; exit 3"], limit: 100)
        #expect(result.exit == 3 && !result.isLate)
        let id = try #require(Int32(String(decoding: result.output.dropLast(), as: UTF8.self)))
        #expect(kill(id, SIGKILL) == 0)
    }

    @Test("It inherits no file that this process has inherited")
    func inherited() throws {
        // As a shell opens a file for a program, without close-on-exec.
        let number = dup(0)
        defer { close(number) }
        #expect(try run("ls /dev/fd/\(number)").exit != 0)
    }
}

import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A batch as a process, between queues: signals, readers that stop or leave, disks that are full.
@Suite struct BatchProgramTests {
    /// A provider without a store, and one phone.
    private struct Route {
        let directory: TemporaryDirectory
        let phone = DeviceKey()
        let provider = ProviderKey()
        let topic: Topic

        init() throws {
            directory = try TemporaryDirectory()
            topic = try Topic("com.example.app")
            let text = provider.withText { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) }
            let path = try directory.write(text + "\n", to: "provider.key")
            _ = unsafe chmod(path, 0o600)
        }

        var arguments: [String] {
            ["seal", "--batch", "--signing-key-file", directory.file("provider.key"), "--topic", topic.bundleID]
        }

        func line(_ number: Int) -> String {
            #"{"to":"\#(phone.publicKey)","payload":{"aps":{"alert":"message \#(number)"}},"n":\#(number)}"# + "\n"
        }

        /// The number that was passed through, and the one that a phone reads; nil for what is no answer.
        func numbers(_ answer: String) throws -> (passed: Int, opened: String)? {
            let document = try JSONDocument(parsing: ContiguousArray(answer.utf8))
            guard let passed = document.root["n"]?.integer, let payload = document.root["payload"] else { return nil }
            let opener = Opener(topic: topic, deviceKeys: [phone], trust: ProviderTrust(pinned: [provider.publicKey]))
            let opened = try opener.open(ReceivedPush(payload.minified()).envelope(), at: Console.standard.timestamp)
            let aps = opened.visibleMembers.first { $0.name == "aps" }?.value
            return (Int(passed), aps?["alert"]?.string ?? "")
        }

        func expect(_ answers: [String], are numbers: Range<Int>) throws {
            try #require(answers.count == numbers.count)
            for (answer, number) in zip(answers, numbers) {
                let found = try #require(try self.numbers(answer))
                #expect(found.passed == number && found.opened == "message \(number)")
            }
        }
    }

    @Test("The same messages come out, in their order, however many threads work", arguments: [1, 2, 8])
    func jobs(jobs: Int) throws {
        let route = try Route()
        let count = 2000
        let input = try route.directory.write((0..<count).map(route.line).joined(), to: "in")
        let program = try RunningProgram(route.arguments + ["--jobs", "\(jobs)", input])
        try route.expect(try program.rest(), are: 0..<count)
        #expect(program.end() == 0)
        #expect(try program.errors == "")
    }

    @Test(
        "A signal ends it once what was read is answered, and nothing is answered twice", arguments: [SIGTERM, SIGINT])
    func signal(number: Int32) throws {
        let route = try Route()
        let program = try RunningProgram(route.arguments)
        let half = route.line(50).utf8.count / 2
        try program.send((0..<50).map(route.line).joined() + String(route.line(50).prefix(half)))
        var answers = try program.lines(50)
        program.raise(number)
        // A line that was read in part is completed.
        try program.send(String(route.line(50).dropFirst(half)))
        answers += try program.rest()
        try route.expect(answers, are: 0..<51)
        #expect(program.end() == 0)
        #expect(
            try program.errors
                == "pushcrypt: hint: stopped by a signal after 51 lines: all that was read is answered\n")
    }

    @Test("A signal in a line that does not end is a failure, which says how much of it was read")
    func signalInALine() throws {
        let route = try Route()
        let program = try RunningProgram(route.arguments)
        try program.send(route.line(0) + "{\"to\":")
        var answers = try program.lines(1)
        program.raise(SIGTERM)
        answers += try program.rest()
        try route.expect(answers, are: 0..<1)
        #expect(program.end() == 1)
        #expect(try program.errors.contains("stopped by a signal in line 2") && program.errors.contains("6 bytes"))
    }

    @Test("In the middle of a stream a signal leaves whole answers, from the first on, and none twice")
    func signalInTheMiddle() throws {
        let route = try Route()
        for delay in [1, 5, 20, 60] as [UInt32] {
            let program = try RunningProgram(route.arguments + ["--jobs", "4"])
            try program.send((0..<150).map(route.line).joined())
            // A program that answers has handled the signals before.
            var answers = try program.lines(1)
            usleep(delay * 1000)
            program.raise(SIGTERM)
            answers += try program.rest()
            try route.expect(answers, are: 0..<answers.count)
            #expect(program.end() == 0)
        }
    }

    @Test("A second signal ends it at once, though its reader takes nothing")
    func secondSignal() throws {
        let route = try Route()
        let program = try RunningProgram(route.arguments)
        // A program that answers has handled the signals before.
        try program.send(route.line(1))
        _ = try program.lines(1)
        #expect(program.sendUntilFull(route.line(1), limit: 1_000_000) < 1_000_000)
        program.raise(SIGTERM)
        usleep(20_000)
        // As `timeout` does, to the process and to its group.
        program.raise(SIGTERM)
        usleep(300_000)
        #expect(program.isRunning)
        // One that comes before the first is taken counts as the first.
        for _ in 0..<600 where program.isRunning {
            program.raise(SIGTERM)
            usleep(100_000)
        }
        #expect(program.end() == -SIGTERM)
    }

    @Test("A crash ends with a line and exit 1, not silently", arguments: [SIGSEGV, SIGBUS, SIGILL])
    func crash(number: Int32) throws {
        let route = try Route()
        let program = try RunningProgram(route.arguments)
        try program.send(route.line(0))
        try route.expect(try program.lines(1), are: 0..<1)
        program.raise(number)
        #expect(program.end() == 1)
        #expect(try program.errors.hasPrefix("pushcrypt: error: crashed ("))
    }

    @Test("A signal that the process was told to ignore is ignored")
    func ignoredSignal() throws {
        let route = try Route()
        let program = try RunningProgram(route.arguments, shell: "trap '' INT; ")
        try program.send(route.line(0))
        try route.expect(try program.lines(1), are: 0..<1)
        program.raise(SIGINT)
        usleep(100_000)
        try program.send(route.line(1))
        try route.expect(try program.lines(1), are: 1..<2)
        program.raise(SIGTERM)
        #expect(program.end() == 0)
    }

    @Test("Who is stopped before the end of a file says so, and makes no file")
    func stoppedFile() throws {
        let route = try Route()
        // Work for many seconds.
        let input = try route.directory.write(String(repeating: route.line(1), count: 200_000), to: "in")
        let program = try RunningProgram(route.arguments + ["--jobs", "1", "-o", route.directory.file("out"), input])
        // Its second thread waits for signals.
        for _ in 0..<6000 where try program.kilobytes("Threads") < 2 { usleep(10_000) }
        program.raise(SIGTERM)
        #expect(program.end() == 1)
        #expect(try program.errors.hasPrefix("pushcrypt: error: stopped by a signal after "))
        #expect(try route.directory.names == ["in", "provider.key"])
    }

    @Test("A reader that leaves ends it quietly, though its input goes on")
    func brokenPipe() throws {
        let route = try Route()
        let program = try RunningProgram(route.arguments + ["--jobs", "3"])
        try program.send(route.line(0))
        try route.expect(try program.lines(1), are: 0..<1)
        try program.closeOutput()
        // A process that another test is starting may still hold the reader's end, until it becomes its program.
        for _ in 0..<6000 where program.isRunning {
            try? program.send(route.line(1))
            usleep(10_000)
        }
        try? program.endInput()
        #expect(program.end() == 0)
        #expect(try program.errors == "")
    }

    @Test("A reader that takes nothing stops the reading, and memory stays where it is")
    func backPressure() throws {
        let route = try Route()
        let program = try RunningProgram(route.arguments + ["--jobs", "4"])
        let line = route.line(7)
        let sent = program.sendUntilFull(line, limit: 1_000_000)
        // 16 chunks of 16 KiB, what each pipe holds, and no more.
        #expect(sent * line.utf8.count < 2 << 20)
        #expect(try program.kilobytes("VmHWM") < 32 << 10)
        try program.endInput()
        #expect(try program.rest().count == sent && program.end() == 0)
    }
}

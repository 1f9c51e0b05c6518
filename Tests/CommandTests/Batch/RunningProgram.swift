import Foundation

/// The built program between three pipes, as a queue would run it.
final class RunningProgram {
    struct TimedOut: Error {
        let after: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let messages: TemporaryDirectory
    private var received = Data()

    /// Starts the program; `shell` are commands that run before it in the same process.
    init(_ arguments: [String], shell: String = "") throws {
        messages = try TemporaryDirectory()
        let errors = try FileHandle(forWritingTo: URL(filePath: messages.write("", to: "err")))
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", shell + "exec \"$0\" \"$@\"", try builtProgram().path] + arguments
        process.environment = programEnvironment(["HOME": messages.path, "PATH": "/usr/bin:/bin"])
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        try output.fileHandleForWriting.close()
        try input.fileHandleForReading.close()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var id: pid_t { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    // MARK: Input

    func send(_ text: String) throws {
        try Self.withoutSignal { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }
    }

    func endInput() throws { try input.fileHandleForWriting.close() }

    /// Writes the same line until the program takes no more of it for a second; gives how often.
    func sendUntilFull(_ line: String, limit: Int) -> Int {
        let descriptor = input.fileHandleForWriting.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let bytes = Data(line.utf8)
        var sent = 0
        var waited = 0
        while sent < limit, waited < 100 {
            let count = Self.withoutSignal {
                unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            }
            if count == bytes.count {
                sent += 1
                waited = 0
            } else {
                // A line is shorter than what a pipe takes in one piece.
                waited += 1
                usleep(10_000)
            }
        }
        _ = fcntl(descriptor, F_SETFL, 0)
        return sent
    }

    /// Writes to a pipe whose reader may have left, which is then an error and not the end of this process. Only this
    /// thread holds the signal back: what other tests start must not.
    private static func withoutSignal<R>(_ body: () throws -> R) rethrows -> R {
        var (pipe, before) = (sigset_t(), sigset_t())
        _ = unsafe sigemptyset(&pipe)
        _ = unsafe sigaddset(&pipe, SIGPIPE)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer {
            var noTime = timespec()
            _ = unsafe sigtimedwait(&pipe, nil, &noTime)
            _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        return try body()
    }

    // MARK: Output

    /// Waits for so many lines in all, and gives what came since the last call.
    func lines(_ count: Int) throws -> [String] {
        let end = Date.now + 600
        while received.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            guard .now < end else { throw TimedOut(after: String(decoding: received, as: UTF8.self)) }
            guard try readSome(milliseconds: 1000) else { break }
        }
        return takeLines()
    }

    /// Everything up to the end of the output, which is read to then.
    func rest() throws -> [String] {
        let end = Date.now + 600
        while try readSome(milliseconds: 1000) {
            guard .now < end else { throw TimedOut(after: "") }
        }
        let last = String(decoding: received, as: UTF8.self).split(separator: "\n").map(String.init)
        received = Data()
        return last
    }

    func closeOutput() throws { try output.fileHandleForReading.close() }

    /// The lines that are whole; what has come of the next one stays.
    private func takeLines() -> [String] {
        let pieces = received.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        received = Data(pieces.last ?? Data())
        return pieces.dropLast().map { String(decoding: $0, as: UTF8.self) }
    }

    /// False at the end of the output.
    private func readSome(milliseconds: Int32) throws -> Bool {
        let descriptor = output.fileHandleForReading.fileDescriptor
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&request, 1, milliseconds) > 0 else { return true }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        if count > 0 { received.append(contentsOf: buffer.prefix(count)) }
        return count > 0
    }

    // MARK: End

    func raise(_ number: Int32) { kill(process.processIdentifier, number) }

    /// The exit code, or the signal that ended it as a negative number.
    func end() -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    var errors: String { get throws { try messages.read("err") } }

    /// A line of /proc/self/status, in kilobytes.
    func kilobytes(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

// The Darwin branches were typechecked on Linux and not run.
internal import CProcess

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
    internal import MachO
#endif

/// Another program, run without a shell.
package enum ChildProcess {
    package struct Result {
        /// The exit code; nil if a signal ended the program.
        package let exit: Int32?
        /// Whether the program was killed because its time was up.
        package let isLate: Bool
        package let output: ContiguousArray<UInt8>
        package let messages: ContiguousArray<UInt8>
    }

    /// Runs a program with this standard input, at most what a pipe holds, and reads at most `limit` bytes of each output
    /// stream. A program that writes more gets a closed pipe. It inherits no other open file.
    ///
    /// - Parameters:
    ///   - name: A path with a slash, or the name of a program of the PATH.
    ///   - timeout: The time in milliseconds after which the program is killed.
    /// - Throws: `.notFound` if there is no such program.
    package static func run(
        _ name: String, _ arguments: [String], input: Span<UInt8> = Span(), limit: Int, timeout: UInt64 = 60_000
    ) throws(SystemError) -> Result {
        precondition(input.count <= 4096, "a pipe may hold no more")
        let deadline = SystemEnvironment.uptime() + timeout
        let given = try PipeEnds()
        try given.writer.descriptor.writeAll(input)
        close(given.writer)
        let output = try PipeEnds()
        let messages = try PipeEnds()
        let process = try spawn(
            name, arguments, input: given.reader.descriptor, output: output.writer.descriptor,
            messages: messages.writer.descriptor)
        close(given.reader)
        close(output.writer)
        close(messages.writer)
        var streams = [Stream(output.reader.descriptor), Stream(messages.reader.descriptor)]
        var status = try read(&streams, of: process, limit: limit, deadline: deadline)
        // Without this, a program that writes more would wait for its reader until it is killed.
        close(output.reader)
        close(messages.reader)
        while status == nil, SystemEnvironment.uptime() < deadline {
            SystemEnvironment.sleep(milliseconds: pause)
            status = try ending(of: process)
        }
        let isLate = status == nil
        if isLate { _ = kill(process, SIGKILL) }
        while status == nil { status = try ending(of: process, options: 0) }
        return Result(
            exit: status.flatMap(exitCode), isLate: isLate, output: streams[0].bytes, messages: streams[1].bytes)
    }

    /// The milliseconds between two looks whether a program has ended.
    private static let pause = 10

    private static func spawn(
        _ name: String, _ arguments: [String], input: Descriptor, output: Descriptor, messages: Descriptor
    ) throws(SystemError) -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        _ = unsafe posix_spawn_file_actions_init(&actions)
        defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, input.number, 0)
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, output.number, 1)
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, messages.number, 2)

        // A child would inherit the signals that this process ignores.
        _ = unsafe posix_spawnattr_init(&attributes)
        defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        for signal in [SIGPIPE, SIGXFSZ] { _ = unsafe sigaddset(&signals, signal) }
        _ = unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        _ = unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

        var words = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        closeInherited()
        #if canImport(Darwin)
            let environment = unsafe _NSGetEnviron()?.pointee
        #else
            let environment = unsafe environ
        #endif
        let code = unsafe posix_spawnp(&process, name, &actions, &attributes, &words, environment)
        guard code == 0 else { throw SystemError(code: code) }
        return process
    }

    /// Keeps files that this process has inherited itself from its children. Those that it opens are never inherited.
    private static func closeInherited() {
        for number in Folder.names(in: "/dev/fd").compactMap({ Int32($0) }) where number > 2 {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
    }

    /// The status that `waitpid` returns for a program; nil while it runs.
    private static func ending(of process: pid_t, options: Int32 = WNOHANG) throws(SystemError) -> Int32? {
        var status: Int32 = 0
        let ended = unsafe waitpid(process, &status, options)
        guard ended >= 0 || errno == EINTR else { throw .last }
        return ended == process ? status : nil
    }

    /// WIFEXITED and WEXITSTATUS: Swift does not import macros.
    private static func exitCode(_ status: Int32) -> Int32? { status & 0x7f == 0 ? status >> 8 & 0xff : nil }
}

// MARK: Pipes

extension ChildProcess {
    private static func close(_ end: consuming OpenFile) {}

    private struct Stream {
        let descriptor: Descriptor
        var bytes: ContiguousArray<UInt8> = []
        var isOpen = true

        init(_ descriptor: Descriptor) { self.descriptor = descriptor }
    }

    /// Reads both streams at the same time, so that the program never waits for its reader, until it has ended. A program that
    /// it has left behind may keep them open, and is not waited for.
    ///
    /// - Returns: What `waitpid` says; nil if the program still runs: it wrote too much, or its time is up.
    private static func read(
        _ streams: inout [Stream], of process: pid_t, limit: Int, deadline: UInt64
    ) throws(SystemError) -> Int32? {
        var chunk = ContiguousArray<UInt8>(repeating: 0, count: 16_384)
        var status: Int32?
        while true {
            // Before the streams are read, so that nothing is missed that was written before the end.
            if status == nil { status = try ending(of: process) }
            var requests = streams.map {
                pollfd(fd: $0.isOpen ? $0.descriptor.number : -1, events: Int16(POLLIN), revents: 0)
            }
            let ready = unsafe poll(&requests, nfds_t(requests.count), status == nil ? Int32(pause) : 0)
            guard ready >= 0 || errno == EINTR else { throw .last }
            if ready == 0, status != nil { return status }
            for index in streams.indices where requests[index].revents != 0 {
                var span = chunk.mutableSpan
                let count = try streams[index].descriptor.readSome(into: &span, from: 0)
                streams[index].bytes.append(contentsOf: chunk.prefix(count))
                if count == 0 { streams[index].isOpen = false }
                if streams[index].bytes.count > limit { return status }
            }
            if SystemEnvironment.uptime() >= deadline { return status }
        }
    }
}

extension SystemEnvironment {
    /// The arguments that `main` got, without the program's name.
    package static func arguments(
        _ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> [String] {
        (1..<max(1, Int(count))).compactMap { place in
            unsafe words[place].map { unsafe String(cString: $0) }
        }
    }

    /// The path of this program's file, without links; nil if the system does not say.
    package static var program: String? {
        #if canImport(Darwin)
            var size: UInt32 = 4096
            var path = ContiguousArray<CChar>(repeating: 0, count: Int(size))
            guard
                unsafe path.withUnsafeMutableBufferPointer({ unsafe _NSGetExecutablePath($0.baseAddress, &size) }) == 0
            else { return nil }
            return resolved(String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        #else
            guard let path = unsafe pushcrypt_program() else { return nil }
            return unsafe resolved(String(cString: path))
        #endif
    }
}

/// Another program instead of this one.
package enum ReplacedProcess {
    /// Runs a program with the same streams and process id: the one beside this program, or else the first of the PATH.
    ///
    /// - Returns: Why it cannot run; does not return otherwise.
    package static func run(_ name: String, _ arguments: [String]) -> SystemError {
        var words = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        if let program = SystemEnvironment.program {
            _ = unsafe execv("\(folder(of: program))/\(name)", &words)
            if SystemError.last != .notFound { return .last }
        }
        _ = unsafe execvp(name, &words)
        return .last
    }
}

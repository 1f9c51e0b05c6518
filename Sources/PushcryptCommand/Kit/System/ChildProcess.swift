// The Darwin branches were typechecked on Linux and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Another program, run without a shell.
package enum ChildProcess {
    package struct Result {
        /// The exit code; nil if a signal ended the program.
        package let exit: Int32?
        package let output: ContiguousArray<UInt8>
        package let messages: ContiguousArray<UInt8>
    }

    /// Runs a program of the PATH with this standard input, at most what a pipe holds, and reads at most `limit` bytes of each output stream. A program
    /// that writes more gets a closed pipe.
    ///
    /// - Throws: `.notFound` if there is no such program.
    package static func run(
        _ name: String, _ arguments: [String], input: Span<UInt8> = Span(), limit: Int
    ) throws(SystemError) -> Result {
        precondition(input.count <= 4096, "a pipe may hold no more")
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
        let failure = read(&streams, limit: limit)
        // Without this, a program that writes more would wait for its reader forever.
        close(output.reader)
        close(messages.reader)
        let exit = try wait(for: process)
        if let failure { throw failure }
        return Result(exit: exit, output: streams[0].bytes, messages: streams[1].bytes)
    }

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
        #if canImport(Darwin)
            let environment = unsafe _NSGetEnviron()?.pointee
        #else
            let environment = unsafe environ
        #endif
        let code = unsafe posix_spawnp(&process, name, &actions, &attributes, &words, environment)
        guard code == 0 else { throw SystemError(code: code) }
        return process
    }

    private static func wait(for process: pid_t) throws(SystemError) -> Int32? {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw .last }
        }
        // WIFEXITED and WEXITSTATUS: Swift does not import macros.
        return status & 0x7f == 0 ? status >> 8 & 0xff : nil
    }
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

    /// Reads both streams at the same time until they end, so that the program never waits for its reader.
    private static func read(_ streams: inout [Stream], limit: Int) -> SystemError? {
        var chunk = ContiguousArray<UInt8>(repeating: 0, count: 16_384)
        while streams.contains(where: \.isOpen) {
            var requests = streams.map {
                pollfd(fd: $0.isOpen ? $0.descriptor.number : -1, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&requests, nfds_t(requests.count), -1) >= 0 else {
                if errno == EINTR { continue }
                return .last
            }
            for index in streams.indices where requests[index].revents != 0 {
                do throws(SystemError) {
                    let count = try unsafe chunk.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
                        var span = unsafe buffer.mutableSpan
                        return try streams[index].descriptor.readSome(into: &span, from: 0)
                    }
                    streams[index].bytes.append(contentsOf: chunk.prefix(count))
                    if count == 0 { streams[index].isOpen = false }
                    if streams[index].bytes.count > limit { return nil }
                } catch {
                    return error
                }
            }
        }
        return nil
    }
}

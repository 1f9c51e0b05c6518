import Glibc

/// A worker in a separate process, between two pipes.
final class WorkerProcess {
    private let process: pid_t
    private let input: Int32
    private let output: Int32

    init(_ arguments: [String]) throws {
        var (toWorker, fromWorker): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard unsafe pipe(&toWorker) == 0, unsafe pipe(&fromWorker) == 0 else { throw Misuse("no pipe: \(errno)") }
        // No worker inherits them, but for the two ends that become its standard streams.
        for descriptor in toWorker + fromWorker { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, toWorker[0], STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, fromWorker[1], STDOUT_FILENO)
        let argv = unsafe (["Proofs"] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe argv.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let code = unsafe posix_spawn(&process, "/proc/self/exe", &actions, nil, argv, environ)
        guard code == 0 else { throw Misuse("no process: \(code)") }
        close(toWorker[0])
        close(fromWorker[1])
        (self.process, input, output) = (process, toWorker[1], fromWorker[0])
    }

    func send(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard unsafe write(input, bytes, bytes.count) == bytes.count else { throw Misuse("a worker has ended") }
    }

    func receive(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            let more = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe read(output, bytes.baseAddress?.advanced(by: received), count - received)
            }
            guard more > 0 else { throw Misuse("a worker has ended, and says why above") }
            received += more
        }
        return bytes
    }

    deinit {
        close(input)
        close(output)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
    }
}

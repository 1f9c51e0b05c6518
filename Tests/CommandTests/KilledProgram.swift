import Foundation

/// Runs of the program that end when the test says so, whatever they are doing.
struct KilledProgram {
    /// How a run ended, and what it had written by then.
    struct Run {
        /// Nil for a run that was killed.
        let exit: Int32?
        let output: String
        let messages: String
    }

    struct Unavailable: Error {
        let code: Int32
    }

    private let program: String
    private let directory: TemporaryDirectory
    /// Kept, so that a run costs the test as little as possible.
    private let outputPath: String
    private let messagesPath: String

    init(_ program: URL, in directory: TemporaryDirectory) throws {
        self.program = program.path
        self.directory = directory
        outputPath = try directory.write("", to: "out")
        messagesPath = try directory.write("", to: "err")
    }

    /// Runs the program to its end, or for so many microseconds.
    func run(_ arguments: [String], killedAfter delay: UInt32? = nil) throws -> Run {
        let process = try start(arguments)
        if let delay {
            usleep(delay)
            // It stays a process, ended or not, until it is waited for: the id belongs to no other.
            kill(process, SIGKILL)
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1 {
            guard errno == EINTR else { throw Unavailable(code: errno) }
        }
        let isKilled = status & 0x7f != 0
        return Run(
            exit: isKilled ? nil : status >> 8 & 0xff, output: try directory.read("out"),
            messages: try directory.read("err"))
    }

    private func start(_ arguments: [String]) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_TRUNC, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, messagesPath, O_WRONLY | O_TRUNC, 0)
        let argv = unsafe Self.pointers([program] + arguments)
        let environment = unsafe Self.pointers(programEnvironment(["HOME": directory.path]).map { "\($0)=\($1)" })
        defer {
            unsafe argv.forEach { unsafe free($0) }
            unsafe environment.forEach { unsafe free($0) }
        }
        var process: pid_t = 0
        let code = unsafe posix_spawn(&process, program, &actions, nil, argv, environment)
        guard code == 0 else { throw Unavailable(code: code) }
        return process
    }

    private static func pointers(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }
}

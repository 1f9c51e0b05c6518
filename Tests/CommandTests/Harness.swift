import Foundation

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A directory that is removed with its contents.
final class TemporaryDirectory {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "pushcrypt-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file, by default of its owner alone, because some hold secrets.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: file(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
        return file(name)
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: file(name))), as: UTF8.self)
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
}

/// A console over three files, and what was written to them.
struct CapturedConsole {
    let directory: TemporaryDirectory
    let console: Console
    private let handles: [FileHandle]

    init(
        input: String = "", terminal: String = "/nonexistent/tty", environment: [String: String] = [:],
        now: UInt64 = 1_700_000_000_000
    ) throws {
        directory = try TemporaryDirectory()
        try directory.write(input, to: "in")
        try directory.write("", to: "out")
        try directory.write("", to: "err")
        handles = [
            try FileHandle(forReadingFrom: URL(filePath: directory.file("in"))),
            try FileHandle(forWritingTo: URL(filePath: directory.file("out"))),
            try FileHandle(forWritingTo: URL(filePath: directory.file("err"))),
        ]
        console = Console(
            input: Descriptor(number: handles[0].fileDescriptor), output: Descriptor(number: handles[1].fileDescriptor),
            messages: Descriptor(number: handles[2].fileDescriptor), terminal: terminal,
            variable: { environment[$0] }, now: { now }, redact: SecretText.removed)
    }

    var output: String { get throws { try directory.read("out") } }
    var messages: String { get throws { try directory.read("err") } }
}

/// The outcome of a command line.
struct Outcome: Equatable {
    let exit: ExitCode
    let output: String
    let messages: String
}

/// Runs a command line against a table, in this process.
func outcome(_ arguments: [String], table: CommandTable = .sample, input: String = "") throws -> Outcome {
    let captured = try CapturedConsole(input: input)
    let exit = run(arguments: arguments, table: table, console: captured.console)
    return Outcome(exit: exit, output: try captured.output, messages: try captured.messages)
}

/// The program that `PUSHCRYPT_PROGRAM` names, as in `make test`; otherwise the one that was built with these tests.
func builtProgram() throws -> URL {
    if let path = ProcessInfo.processInfo.environment["PUSHCRYPT_PROGRAM"] { return URL(filePath: path) }
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
    let program = (bundle ?? Bundle.main.bundleURL).appending(path: "pushcrypt")
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
        throw MissingProgram(path: program.path)
    }
    return program
}

struct MissingProgram: Error {
    let path: String
}

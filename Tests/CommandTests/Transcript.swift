import Foundation

/// A test in the form of a terminal session.
///
///     # A comment.
///     ? command -v unshare                 what the session needs: it is left out, loudly, where this line fails
///     $ pushcrypt inspect sealed.json      a line for the shell, in a new directory
///     ! 65                                 the exit code, when it is not 0
///     > suite   0x01                       a line of standard output
///     2> pushcrypt: error: …               a line of standard error
///
///     -- sealed.json --                    a file that is there when the session begins, up to the next such line
///     {"aps":{}}
///
/// Both outputs must be exactly what is written, and nothing when nothing is. `…` stands for any run of characters, and
/// alone on a line for any number of lines. Lines may stand apart; what has none of these forms is an error.
struct Transcript: Sendable, CustomStringConvertible {
    let name: String
    var needs: [String] = []
    var steps: [Step] = []
    var files: [(name: String, text: String)] = []

    struct Step: Sendable {
        let line: Int
        let command: String
        var exit: Int32 = 0
        var output: [String] = []
        var messages: [String] = []
    }

    var description: String { name }

    struct Malformed: Error, Equatable {
        let place: String
    }

    /// The transcripts of the project, sorted by name; with PUSHCRYPT_TRANSCRIPT=WORD those whose names have the word.
    static var all: [Transcript] {
        get throws {
            let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Data/Transcripts")
                .standardized
            let word = ProcessInfo.processInfo.environment["PUSHCRYPT_TRANSCRIPT"] ?? ".txt"
            return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
                .filter { $0.hasSuffix(".txt") && $0.contains(word) }
                .map { name in
                    let data = try Data(contentsOf: directory.appending(path: name))
                    return try Transcript(name: name, text: String(decoding: data, as: UTF8.self))
                }
        }
    }
}

// MARK: Parse

extension Transcript {
    init(name: String, text: String) throws(Malformed) {
        self.name = name
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        for (index, line) in lines.enumerated() {
            let malformed = Malformed(place: "\(name):\(index + 1)")
            if line.hasPrefix("-- "), line.hasSuffix(" --"), line.count > 6 {
                files.append((String(line.dropFirst(3).dropLast(3)), ""))
            } else if !files.isEmpty {
                files[files.count - 1].text += line + "\n"
            } else if line.hasPrefix("? "), steps.isEmpty {
                needs.append(String(line.dropFirst(2)))
            } else if line.hasPrefix("$ ") {
                steps.append(Step(line: index + 1, command: String(line.dropFirst(2))))
            } else if !line.isEmpty, !line.hasPrefix("#") {
                guard !steps.isEmpty, steps[steps.count - 1].expect(line) else { throw malformed }
            }
        }
        if steps.isEmpty { throw Malformed(place: name) }
    }
}

extension Transcript.Step {
    fileprivate mutating func expect(_ line: String) -> Bool {
        if line.hasPrefix("! "), let code = Int32(line.dropFirst(2)) {
            exit = code
        } else if line == ">" || line.hasPrefix("> ") {
            output.append(String(line.dropFirst(2)))
        } else if line == "2>" || line.hasPrefix("2> ") {
            messages.append(String(line.dropFirst(3)))
        } else {
            return false
        }
        return true
    }
}

// MARK: Run

extension Transcript {
    /// Runs the session with the program in front of all others, and returns what was not as written.
    func differences(program: URL) throws -> [String] {
        let directory = try TemporaryDirectory()
        for file in files { try directory.write(file.text, to: file.name, mode: 0o644) }
        return try steps.flatMap { try differences(of: $0, in: directory, program: program) }
    }

    /// The first line that the session needs and that fails here.
    func unmetNeed(program: URL) throws -> String? {
        let directory = try TemporaryDirectory()
        return try needs.first { try run($0, in: directory, program: program).exit != 0 }
    }

    private func differences(of step: Step, in directory: TemporaryDirectory, program: URL) throws -> [String] {
        let result = try run(step.command, in: directory, program: program)
        var found: [String] = []
        if result.exit != step.exit { found.append("exit code \(result.exit), expected \(step.exit)") }
        if !matches(result.output, step.output) { found.append("standard output:\n" + result.output) }
        if !matches(result.messages, step.messages) { found.append("standard error:\n" + result.messages) }
        return found.map { "\(name):\(step.line): \(step.command)\n\($0)" }
    }

    private func run(
        _ command: String, in directory: TemporaryDirectory, program: URL
    ) throws -> (exit: Int32, output: String, messages: String) {
        let streams = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = URL(filePath: directory.path)
        process.environment = programEnvironment([
            "PATH": program.deletingLastPathComponent().path + ":/usr/bin:/bin" + Self.toolchain,
            "HOME": directory.path, "LC_ALL": "C.UTF-8",
        ])
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: streams.write("", to: "out", mode: 0o644)))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: streams.write("", to: "err", mode: 0o644)))
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try streams.read("out"), try streams.read("err"))
    }

    /// Where the Swift toolchain keeps its plutil, if that is no folder of the system's.
    private static let toolchain: String = {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let folder = folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/plutil") }
        return folder.map { ":\($0)" } ?? ""
    }()

    /// Whether text is as written: every line in its place, and a newline after the last.
    func matches(_ text: String, _ expected: [String]) -> Bool {
        guard text.isEmpty || text.hasSuffix("\n") || expected.last == "…" else { return false }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.unicodeScalars.map { $0 } }
        if text.isEmpty || text.hasSuffix("\n") { lines.removeLast() }
        return match(lines[...], expected.map { Array($0.unicodeScalars) }[...], wild: ["…"]) { line, pattern in
            match(line[...], pattern[...], wild: "…", one: ==)
        }
    }

    private func match<Element: Equatable>(
        _ items: ArraySlice<Element>, _ pattern: ArraySlice<Element>, wild: Element, one: (Element, Element) -> Bool
    ) -> Bool {
        guard let first = pattern.first else { return items.isEmpty }
        if first == wild {
            return (items.startIndex...items.endIndex).contains {
                match(items[$0...], pattern.dropFirst(), wild: wild, one: one)
            }
        }
        guard let item = items.first, one(item, first) else { return false }
        return match(items.dropFirst(), pattern.dropFirst(), wild: wild, one: one)
    }
}

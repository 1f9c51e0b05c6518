import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The scripts that complete the command, in the shells.
@Suite struct CompletionsTests {
    /// The words before the cursor, the beginning of the last one, and the completions offered.
    private static let lines: [(line: String, offered: [String])] = [
        ("sea", ["seal"]), ("device li", ["list"]), ("--store P device li", ["list"]), ("--store key sea", ["seal"]),
        ("help exit", ["exit-codes"]), ("open --dup", ["--duplicates"]), ("open --duplicates qu", ["quiet"]),
        ("open --duplicates=qu", ["quiet"]), ("explain opened-w", ["opened-without-attachment"]),
        ("key new dev", ["device"]), ("seal --to x", []), ("completions fi", ["fish"]),
    ]

    /// The output of a shell for a script; nil where the shell is not installed.
    private func output(_ shell: Shell, _ arguments: [String]) throws -> String? {
        let program = ["/usr/bin", "/bin", "/usr/local/bin"].map { "\($0)/\(shell.rawValue)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program else {
            print("SKIPPED: completion in \(shell): it is not installed: Tests/Checks/setup.sh test")
            return nil
        }
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return "\(output)exit \(process.terminationStatus)\n"
    }

    /// The script as a file.
    private func script(_ shell: Shell) throws -> (directory: TemporaryDirectory, file: String) {
        let directory = try TemporaryDirectory()
        let written = try outcome(["completions", shell.rawValue], table: .pushcrypt)
        try #require(written.exit == .done)
        return (directory, try directory.write(written.output, to: "script"))
    }

    @Test("The shell understands its script", arguments: Shell.allCases)
    func syntax(_ shell: Shell) throws {
        let (directory, file) = try script(shell)
        guard let output = try output(shell, ["-n", file]) else { return }
        #expect(output == "exit 0\n", "\(directory.path)")
    }

    @Test("bash offers what may follow", arguments: lines)
    func bash(line: String, offered: [String]) throws {
        let (directory, file) = try script(.bash)
        // bash divides a line at the sign between an option and its value.
        let words = line.replacing("=", with: " = ").split(separator: " ").map { "'\($0)'" }.joined(separator: " ")
        let command =
            "compopt() { :; }; source \(file); COMP_WORDS=(pushcrypt \(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
            + "_pushcrypt; printf '%s\\n' \"${COMPREPLY[@]}\""
        guard let output = try output(.bash, ["--norc", "-c", command]) else { return }
        #expect(output.split(separator: "\n").dropLast().map(String.init) == offered, "\(directory.path)")
    }

    @Test("fish offers what may follow", arguments: lines)
    func fish(line: String, offered: [String]) throws {
        let (directory, file) = try script(.fish)
        guard let output = try output(.fish, ["--no-config", "-c", "source \(file); complete -C 'pushcrypt \(line)'"])
        else { return }
        let words = output.split(separator: "\n").dropLast().map { row in
            String(row.split(separator: "\t")[0].split(separator: "=").last ?? "")
        }
        #expect(words == offered, "\(directory.path)")
    }

    @Test("Every word of a script is one that bash need not quote", arguments: [CommandTable.pushcrypt, .sample])
    func words(_ table: CommandTable) {
        for row in Completions(table).script(for: .bash).split(separator: "\n") where row.contains("words='") {
            for word in row.split(separator: "words='")[1].prefix(while: { $0 != "'" }).split(separator: " ") {
                #expect(word.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil, "\(word)")
            }
        }
    }
}

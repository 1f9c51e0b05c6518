import Foundation
import Testing

@Suite struct TranscriptTests {
    @Test("There are transcripts, and all of them can be read")
    func count() throws {
        let transcripts = try Transcript.all
        print("transcripts: \(transcripts.count), commands in them: \(transcripts.map(\.steps.count).reduce(0, +))")
        #expect(!transcripts.isEmpty)
    }

    @Test("The program answers as the transcript says", arguments: (try? Transcript.all) ?? [])
    func transcript(_ transcript: Transcript) throws {
        if let need = try transcript.unmetNeed(program: builtProgram()) {
            return print("SKIPPED: transcript \(transcript.name): this fails here: \(need)")
        }
        print("transcript: \(transcript.name)")
        for difference in try transcript.differences(program: builtProgram()) {
            Issue.record(Comment(rawValue: difference))
        }
    }
}

/// Documents show sessions as a person sees them: commands and what they print, without what goes to standard error.
@Suite struct DocumentTests {
    private static let documents =
        ["README.md"] + ["Devices", "Keys", "Migrating", "Provider", "SelfHostedServer"].map { "Docs/\($0).md" }

    @Test("The sessions of a document print what it says", arguments: documents)
    func session(name: String) throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(name)")
            .standardized
        let text = String(decoding: try Data(contentsOf: document), as: UTF8.self)
        let blocks = text.components(separatedBy: "```console\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        try #require(!blocks.isEmpty)
        // A session's needs stand before it.
        let needs = text.split(separator: "\n").filter { $0.hasPrefix("<!-- needs: ") && $0.hasSuffix(" -->") }
            .map { "? " + $0.dropFirst(12).dropLast(4) }
        // Together they are one session.
        let lines = blocks.joined().split(separator: "\n").map { $0.hasPrefix("$ ") ? "\($0)\n2> …" : "> \($0)" }
        let transcript = try Transcript(name: name, text: (needs + lines).joined(separator: "\n"))
        if let need = try transcript.unmetNeed(program: builtProgram()) {
            return print("SKIPPED: the session of \(name): this fails here: \(need)")
        }
        #expect(try transcript.differences(program: builtProgram()) == [])
    }
}

/// The runner is tested by transcripts that are wrong.
@Suite struct TranscriptRunnerTests {
    private func differences(_ text: String) throws -> [String] {
        try Transcript(name: "t.txt", text: text).differences(program: builtProgram())
    }

    @Test(
        "Every deviation is reported",
        arguments: [
            ("$ false", "t.txt:1: false\nexit code 1, expected 0"),
            ("$ true\n! 1", "t.txt:1: true\nexit code 0, expected 1"),
            ("\n$ echo a", "t.txt:2: echo a\nstandard output:\na\n"),
            ("$ echo a\n> b", "t.txt:1: echo a\nstandard output:\na\n"),
            ("$ echo a\n> a\n> b", "t.txt:1: echo a\nstandard output:\na\n"),
            ("$ echo ab\n> a", "t.txt:1: echo ab\nstandard output:\nab\n"),
            ("$ true\n> ", "t.txt:1: true\nstandard output:\n"),
            ("$ printf a\n> a", "t.txt:1: printf a\nstandard output:\na"),
            ("$ echo a >&2\n> a", "t.txt:1: echo a >&2\nstandard output:\n"),
            ("$ seq 3\n> 1\n> …\n> 2", "t.txt:1: seq 3\nstandard output:\n1\n2\n3\n"),
        ])
    func different(text: String, first: String) throws {
        #expect(try differences(text).first == first)
    }
}

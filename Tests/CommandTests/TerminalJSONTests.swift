import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Untrusted text reaches a terminal only as text.
@Suite struct TerminalJSONTests {
    /// U+009B starts a terminal's command as ESC [ does; U+202E turns round what follows it. JSON escapes neither.
    private static let hostile = "\u{9b}31m\u{202e}"

    @Test("JSON on a terminal escapes what would act there, and says the same")
    func jsonOnATerminal() throws {
        let terminal = try PseudoTerminal()
        let captured = try CapturedConsole()
        let json = ContiguousArray(#"{"title":"\#(Self.hostile)"}"#.utf8)
        let console = captured.console.writing(terminal.person, messages: terminal.person)
        #expect(console.shown(json: json) == #"{"title":"\u009b31m\u202e"}"#)
        #expect(captured.console.shown(json: json) == String(decoding: json, as: UTF8.self))
    }

    @Test("inspect --json shows a relay's clear part on a terminal without obeying it")
    func inspect() throws {
        let terminal = try PseudoTerminal()
        let captured = try CapturedConsole()
        let envelope = String(
            decoding: [UInt8](Data([1] + [UInt8](repeating: 0, count: 308)).base64EncodedData()), as: UTF8.self
        )
        .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        let push = #"{"aps":{"alert":{"title":"\#(Self.hostile)"}},"ENCRYPTED_DATA":"\#(envelope)"}"#
        let file = try captured.directory.write(push, to: "push.json")
        let console = captured.console.writing(terminal.person, messages: terminal.person)
        #expect(run(arguments: ["inspect", "--json", file], table: .pushcrypt, console: console) == .done)
        let shown = terminal.shown(until: "bucket")
        #expect(shown.contains(#"\u009b31m\u202e"#))
        #expect(!shown.unicodeScalars.contains("\u{9b}") && !shown.unicodeScalars.contains("\u{202e}"))
    }
}

import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The status line of a long batch.
@Suite struct StatusLineTests {
    /// A clock that a test moves on.
    private final class Clock: @unchecked Sendable {
        var milliseconds: UInt64 = 1_700_000_000_000
    }

    /// Counts work, and returns what the terminal shows until the end.
    private func shown(
        _ count: Int, every milliseconds: UInt64, environment: [String: String] = [:], _ text: (Int) -> String
    ) throws -> String {
        let (terminal, clock) = (try PseudoTerminal(), Clock())
        let descriptor = Descriptor(number: terminal.person.fileDescriptor)
        let console = Console(
            input: descriptor, output: descriptor, messages: descriptor, terminal: terminal.path,
            variable: { environment[$0] }, now: { clock.milliseconds }, redact: { $0 })
        do {
            var line = StatusLine(console)
            for part in 1...count {
                clock.milliseconds += milliseconds
                line.show { text(part) }
            }
        }
        console.hint("the end")
        return terminal.shown(until: "the end")
    }

    @Test("Long work shows a line on a terminal, which is gone at the end")
    func terminal() throws {
        #expect(
            try shown(4, every: 500) { "sealing: \(25 * $0) %" }.hasPrefix(
                "\rsealing: 50 %\u{1b}[K\rsealing: 75 %\u{1b}[K\rsealing: 100 %\u{1b}[K\r\u{1b}[Kpushcrypt: "))
    }

    @Test("Lines follow each other at a distance, however often work is counted")
    func distance() throws {
        let shown = try shown(1400, every: 1) { "sealing: \(min(100, $0 / 10)) %" }
        #expect(shown.components(separatedBy: "%").count - 1 == 3)
        #expect(shown.contains("sealing: 100 %") && !shown.contains("14"))
    }

    @Test(
        "Short work shows nothing, and neither does a terminal that cannot go back in a line",
        arguments: [(500, [:]), (5000, ["TERM": "dumb"])] as [(UInt64, [String: String])])
    func nothing(milliseconds: UInt64, environment: [String: String]) throws {
        let shown = try shown(1, every: milliseconds, environment: environment) { _ in "sealing" }
        #expect(shown.hasPrefix("pushcrypt:"), "\(shown)")
    }

    @Test("What is no terminal gets no line")
    func file() throws {
        let captured = try CapturedConsole()
        let clock = Clock()
        let console = Console(
            input: captured.console.input, output: captured.console.output, messages: captured.console.messages,
            terminal: "/nonexistent/tty", variable: { _ in nil }, now: { clock.milliseconds }, redact: { $0 })
        do {
            var line = StatusLine(console)
            clock.milliseconds += 5000
            line.show { "sealing" }
        }
        #expect(try captured.messages.isEmpty)
    }
}

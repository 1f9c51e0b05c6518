import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The line that tells how far long work is: of a batch.
@Suite struct StatusLineTests {
    /// A clock that a test moves on.
    private final class Clock: @unchecked Sendable {
        var milliseconds: UInt64 = 1_700_000_000_000
    }

    private func console(_ terminal: PseudoTerminal, _ clock: Clock, environment: [String: String] = [:]) -> Console {
        let descriptor = Descriptor(number: terminal.person.fileDescriptor)
        return Console(
            input: descriptor, output: descriptor, messages: descriptor, terminal: terminal.path,
            variable: { environment[$0] }, now: { clock.milliseconds }, redact: { $0 })
    }

    @Test("Long work shows a line on a terminal, which is gone at the end")
    func terminal() throws {
        let terminal = try PseudoTerminal()
        let clock = Clock()
        let console = console(terminal, clock)
        do {
            var line = StatusLine(console)
            for part in 1...4 {
                clock.milliseconds += 500
                line.show { "sealing: \(25 * part) %" }
            }
        }
        console.hint("the end")
        let shown = terminal.shown(until: "the end")
        #expect(
            shown.hasPrefix(
                "\rsealing: 50 %\u{1b}[K\rsealing: 75 %\u{1b}[K\rsealing: 100 %\u{1b}[K\r\u{1b}[Kpushcrypt: "))
    }

    @Test("Lines follow each other at a distance, however often work is counted")
    func distance() throws {
        let terminal = try PseudoTerminal()
        let clock = Clock()
        let console = console(terminal, clock)
        do {
            var line = StatusLine(console)
            for part in 1...1400 {
                clock.milliseconds += 1
                line.show { "sealing: \(min(100, part / 10)) %" }
            }
        }
        console.error("the end")
        let shown = terminal.shown(until: "the end")
        #expect(shown.components(separatedBy: "%").count - 1 == 3)
        #expect(shown.contains("sealing: 100 %") && !shown.contains("14"))
    }

    @Test(
        "Short work shows nothing, and neither does a terminal that cannot go back in a line",
        arguments: [(500, [:]), (5000, ["TERM": "dumb"])] as [(UInt64, [String: String])])
    func nothing(milliseconds: UInt64, environment: [String: String]) throws {
        let terminal = try PseudoTerminal()
        let clock = Clock()
        let console = console(terminal, clock, environment: environment)
        do {
            var line = StatusLine(console)
            clock.milliseconds += milliseconds
            line.show { "sealing" }
        }
        console.error("the end")
        let shown = terminal.shown(until: "the end")
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

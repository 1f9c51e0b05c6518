import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct InvocationTests {
    private static func send(_ arguments: String...) throws -> Send {
        guard case .command(let invocation) = try Parser(table: .sample).parse(["send"] + arguments) else {
            throw Failure.failed("not a command")
        }
        return try #require(invocation.command as? Send)
    }

    @Test("What was given is there, and what was not is nil")
    func values() throws {
        let send = try Self.send("--to", "a", "-t", "b", "--ttl", "2h", "-q", "--priority", "low")
        #expect(send.recipients == ["a", "b"])
        #expect(send.seconds == 7200)
        #expect(send.priority == .low)
        #expect(!send.isJSON)
        #expect(send.key == nil)
        #expect(send.store == nil)
        #expect(send.output.path == nil && send.output.file == nil && !send.output.force)
        #expect(send.file == "-")
    }

    @Test("The name of standard output is no file")
    func standardOutput() throws {
        let output = try Self.send("--to", "a", "-o", "-", "--force").output
        #expect(output.path == "-" && output.file == nil && output.force)
        #expect(try Self.send("--to", "a", "-o", "x").output.file == "x")
    }

    /// A command with a rule about an option that it does not declare.
    private struct Mistaken: CommandBody {
        static var page: CommandPage { CommandPage(examples: []) }

        init(_ arguments: inout Arguments) { arguments.option("--key", needs: "--store") }

        func run(_ console: Console) throws(Failure) -> ExitCode { .done }
    }

    @Test("A rule about an option that the command lacks stops the program")
    func mistakes() async {
        await #expect(processExitsWith: .failure) { _ = Arguments.declarations(of: Mistaken.self, in: .sample) }
    }
}

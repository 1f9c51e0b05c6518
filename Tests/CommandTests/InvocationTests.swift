import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct InvocationTests {
    private static func invocation(_ arguments: String...) throws -> Invocation {
        guard case .command(let invocation, _) = try Parser(table: .sample).parse(arguments) else {
            throw CommandFailure.failed("not a command")
        }
        return invocation
    }

    @Test("What was given is there, and what was not is nil")
    func values() throws {
        let invocation = try Self.invocation("send", "--to", "a", "-t", "b", "--ttl", "2h", "-q")
        #expect(invocation.path == ["send"])
        #expect(invocation.requiredValue("--to") == "a")
        #expect(invocation.value("--to") == "a")
        #expect(invocation.values("--to") == ["a", "b"])
        #expect(invocation.seconds("--ttl") == 7200)
        #expect(invocation.flag("--quiet"))
        #expect(invocation.flag("--to"))
        #expect(!invocation.flag("--json"))
        #expect(invocation.value("--priority") == nil)
        #expect(invocation.value("--store") == nil)
        #expect(invocation.optionalOperand("FILE") == nil)
        #expect(invocation.operand("FILE") == "-")
    }

    @Test("A command that asks for what its table entry lacks is stopped")
    func mistakes() async {
        // A line that was not understood would end well, and fail the test.
        await #expect(processExitsWith: .failure) { _ = try? Self.invocation("greet").flag("--quiet") }
        await #expect(processExitsWith: .failure) { _ = try? Self.invocation("greet").operands("FILE") }
        await #expect(processExitsWith: .failure) { _ = try? Self.invocation("greet").operand("NAME") }
        await #expect(processExitsWith: .failure) { _ = try? Self.invocation("send", "-t", "a").seconds("--priority") }
        await #expect(processExitsWith: .failure) { _ = try? Self.invocation("send", "-t", "a").requiredValue("--ttl") }
    }
}

import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit/statements`: what trust becomes of rotation statements. (`Docs/FormatRotation.md`, R-1 to R-13)
@Suite struct KitStatementTests {
    @Test(.vectors("kit/statements"), arguments: try KitFolder.statements.vectors())
    func trustBecomesOfStatements(_ vector: KitVector) throws {
        var trust = try vector.trust()
        let now = try vector.time
        let outcomes = try vector.statements.map { bytes in Self.outcome(of: bytes, on: &trust, at: now) }
        #expect(outcomes == vector.all("expect"))
        #expect(try trust.isSame(as: vector.trustAfter()))
    }

    private static func outcome(of bytes: Bytes, on trust: inout SenderTrust, at now: Timestamp) -> String {
        do throws(RotationError) {
            let statement = try RotationStatement(bytes: bytes.span)
            guard statement.bytes == bytes else { return "encoded differently" }
            switch try trust.accept(statement, at: now) {
            case .rotated: return "accepted"
            case .unchanged: return "unchanged"
            }
        } catch {
            return error.code.description
        }
    }
}

import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit/statements`: what trust becomes of rotation statements. (`Docs/FormatRotation.md`, R-1 to R-21)
@Suite struct KitStatementTests {
    @Test(.vectors("kit/statements"), arguments: try KitGroup.statements.vectors())
    func trustBecomesOfStatements(_ vector: KitVector) throws {
        var trust = try vector.trust()
        let (topic, now) = (try Topic(vector.one("context")), try vector.time)
        var outcomes: [String] = []
        var told: Set<String> = []
        for bytes in try vector.statements {
            let (outcome, conflict) = Self.outcome(of: bytes, on: &trust, for: topic, at: now)
            outcomes.append(outcome)
            if let conflict, conflict != outcome { told.insert(conflict) }
        }
        #expect(outcomes == vector.all("expect"))
        #expect(told == Set(vector.all("told")))
        let expected = try vector.trustAfter().senders
        #expect(trust.senders.map(Self.withoutRecovery) == expected.map(Self.withoutRecovery))
        // The kit has the claim, which names its signer by an id that two recovery keys may share.
        #expect(trust.senders.map(\.lastRecovery?.claim) == expected.map(\.lastRecovery?.claim))
    }

    private static func withoutRecovery(_ sender: ProviderTrust.Sender) -> ProviderTrust.Sender {
        ProviderTrust.Sender(
            name: sender.name, pinned: sender.pinned, superseded: sender.superseded, recoveryKeys: sender.recoveryKeys)
    }

    private static func outcome(
        of bytes: Bytes, on trust: inout ProviderTrust, for topic: Topic, at now: Timestamp
    ) -> (String, told: String?) {
        guard let statement = try? RotationStatement(bytes: bytes.span) else { return ("malformed-statement", nil) }
        guard statement.bytes == bytes else { return ("encoded differently", nil) }
        let outcome = trust.evaluate(statement, for: topic, at: now)
        let told = outcome.conflict?.code.description
        do throws(RotationError) {
            return (try outcome.change.get() == .unchanged ? "unchanged" : "accepted", told)
        } catch {
            return (error.code.description, told)
        }
    }
}

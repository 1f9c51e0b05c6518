import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Withdrawals on the file that phones have.
struct WithdrawalFileTests: ReplayGuardSuite {
    /// More than a guard has room for: the last stay withdrawn, and no other message is hidden.
    @Test func sixThousandWithdrawals() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file, 17), .new)
        expect(handOver(file, 17), rings: true)
        for batch in 0..<94 as Range<UInt64> {
            let ids = (0..<64).map { MessageID(1000 + batch * 64 + $0) } + (batch == 50 ? [MessageID(17)] : [])
            let sentAt = start + 2 + batch
            let message = ReplayMessage(
                MessageID(100_000 + batch), from: provider, epoch: 0, trustFloor: 0, to: "default", requestID: "w",
                sentAt: sentAt, expiresAt: sentAt + 600, withdrawing: ids)
            let taking = file.take(message, at: sentAt)
            #expect(taking.problem == nil && taking.verdict == .new)
            #expect(taking.withdrawn.contains(self.message(17).mark) == (batch >= 50))
        }
        let now = start + 200
        expect(take(file, 17, request: "again", at: now), .withdrawn)
        for id in [7015, 5000] as [UInt64] { expect(take(file, id, sentAt: start + 150, at: now), .withdrawn) }
        expect(take(file, 500, sentAt: now, at: now), .new)
        expect(handOver(file, 500), rings: true)
    }

    @Test func aWithdrawalIsOneTransactionWithItsMessage() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file, 17), .new)
        let withdrawal = ReplayMessage(
            MessageID(1), from: provider, epoch: 0, trustFloor: 0, to: "default", requestID: "w", sentAt: start + 1,
            expiresAt: start + 600, withdrawing: [MessageID(17)])
        let lock = try SQLiteConnection(path: scratch.store + "/extension.db", busyTimeout: 0)
        try lock.execute("BEGIN IMMEDIATE")
        let brief = open(scratch.store, waiting: 0)
        let taking = brief.take(withdrawal, at: start + 1)
        #expect(taking.problem?.code == .storeBusy && taking.verdict == .new && taking.withdrawn.isEmpty)
        try lock.execute("ROLLBACK")
        expect(handOver(file, 17), rings: true)
        #expect(brief.handOver(withdrawal, after: nil, at: start + 1).claim.withdrawn == [message(17).mark])
        #expect(file.withdrawn() == [message(17).mark])
    }
}

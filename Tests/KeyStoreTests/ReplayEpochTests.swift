import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Rows of epochs that are no longer trusted do not count: otherwise a thief of a signing key could silence messages whose
/// names he knows.
struct ReplayEpochTests: ReplayGuardSuite {
    private func message(epoch: UInt32, floor: UInt32 = 0, sentAt: Timestamp = start + 1) -> ReplayMessage {
        ReplayMessage(
            MessageID(1), from: provider, epoch: epoch, trustFloor: floor, to: "anna", requestID: "r", sentAt: sentAt,
            expiresAt: sentAt + 600)
    }

    /// While another process writes, a message is only looked up.
    @Test func aFloorThatAThiefHasRaisedIsVoidForAReader() throws {
        let rows = try ReplayTables.inMemory()
        try rows.insert(message(epoch: 1), .taken)
        try rows.dropDistrusted(of: message(epoch: 2, floor: 2))
        try rows.setFloor(ReplayFloor(time: start + 100, epoch: 1), of: message(epoch: 1))
        let at = start + 100
        #expect(try ReplayRules.find(message(epoch: 1, sentAt: start + 60), in: rows, at: at).verdict == .seen)
        #expect(try ReplayRules.find(message(epoch: 2, floor: 2, sentAt: start + 60), in: rows, at: at).verdict == .new)
    }

    @Test func aGuardThatCannotBeWrittenIsReadByTheSameRule() throws {
        let scratch = try directory()
        let file = open(scratch.store, waiting: 20)
        let (old, new) = (message(epoch: 1), message(epoch: 2, floor: 2))
        #expect(file.handOver(old, after: nil, at: start + 1).handover.rings)
        let writer = try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0)
        try writer.execute("BEGIN IMMEDIATE")
        #expect(file.take(old, at: start + 1).verdict == .again)
        let (taking, handover) = file.handOver(new, after: nil, at: start + 1)
        #expect(taking.verdict == .new && handover.rings && taking.problem?.code == .storeBusy)
        #expect(file.handOver(new, after: .new, at: start + 1).rings)
        #expect(!file.handOver(old, after: .new, at: start + 1).rings)
        try writer.execute("ROLLBACK")
    }
}

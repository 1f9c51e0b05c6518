import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Rows of epochs that are no longer trusted do not count: otherwise a thief of a signing key could silence messages whose
/// names he knows.
struct ReplayEpochTests: ReplayGuardSuite {
    private struct Guard {
        let file: ReplayGuard

        func take(_ message: ReplayMessage) -> ReplayVerdict {
            let taking = file.take(message, at: start + 100)
            #expect(taking.problem == nil)
            return taking.verdict
        }

        func handOver(_ message: ReplayMessage, after verdict: ReplayVerdict) -> ReplayRules.Handover {
            let handover = file.handOver(message, after: verdict, at: start + 100)
            return handover.isWithdrawn ? .withdrawn : handover.rings ? .rings : .quiet
        }

        /// Takes a message and hands it over.
        func show(_ message: ReplayMessage) -> ReplayRules.Handover { handOver(message, after: take(message)) }
    }

    private func makeGuard(room: Int = ReplayRules.maximumRows) throws -> Guard {
        Guard(file: open(try directory().store, room: room))
    }

    private func message(
        _ id: UInt64 = 1, epoch: UInt32, floor: UInt32 = 0, request: String = "r", account: String = "anna",
        sentAt: Timestamp = start + 1, withdrawing: [UInt64] = []
    ) -> ReplayMessage {
        ReplayMessage(
            MessageID(id), from: provider, epoch: epoch, trustFloor: floor, to: account, requestID: request,
            sentAt: sentAt, expiresAt: sentAt + 600, withdrawing: withdrawing.map { MessageID($0) })
    }

    @Test func theProviderShowsAgainAMessageThatAThiefShowed() throws {
        let replay = try makeGuard()
        #expect(replay.show(message(epoch: 1)) == .rings)
        #expect(replay.take(message(epoch: 2, floor: 2)) == .new)
        #expect(replay.handOver(message(epoch: 2, floor: 2), after: .new) == .rings)
        #expect(replay.take(message(epoch: 2, floor: 2)) == .again)
    }

    @Test func aMessageThatAThiefWithdrewIsShown() throws {
        let replay = try makeGuard()
        #expect(replay.show(message(9, epoch: 1, withdrawing: [1])) == .rings)
        #expect(replay.take(message(epoch: 1)) == .withdrawn)
        #expect(replay.show(message(epoch: 2, floor: 2)) == .rings)
    }

    /// The provider's own withdrawal stays, and raises the epoch of the row that it finds.
    @Test func theProvidersWithdrawalStays() throws {
        let replay = try makeGuard()
        #expect(replay.show(message(epoch: 1)) == .rings)
        #expect(replay.show(message(9, epoch: 2, floor: 1, withdrawing: [1])) == .rings)
        #expect(replay.take(message(epoch: 2, floor: 2, request: "later")) == .withdrawn)
        #expect(replay.take(message(epoch: 3, floor: 2, request: "later")) == .withdrawn)
        #expect(replay.take(message(epoch: 3, floor: 3, request: "later")) == .withdrawn, "its epoch rose")
        #expect(replay.take(message(epoch: 4, floor: 4, request: "later")) == .new)
    }

    /// A retry after a planned rotation is the same message, and stays so when the floor follows.
    @Test func aRetryUnderTheNextKeyIsTheSameMessage() throws {
        let replay = try makeGuard()
        #expect(replay.show(message(epoch: 1)) == .rings)
        #expect(replay.show(message(epoch: 2, floor: 1)) == .quiet)
        #expect(replay.show(message(epoch: 2, floor: 2)) == .quiet)
        #expect(replay.show(message(epoch: 2, floor: 2, request: "other")) == .quiet)
        #expect(replay.show(message(2, epoch: 2, floor: 2)) == .rings)
    }

    @Test func anotherAccountAndAnotherProviderKeepTheirRows() throws {
        let replay = try makeGuard()
        #expect(replay.show(message(epoch: 1, account: "ben")) == .rings)
        #expect(replay.show(message(epoch: 2, floor: 2)) == .rings)
        #expect(replay.take(message(epoch: 1, account: "ben")) == .again, "as far as ben's messages tell")
        let other = ReplayMessage(
            MessageID(1), from: ProviderKey().publicKey, epoch: 0, trustFloor: 0, to: "anna", requestID: "r",
            sentAt: start + 1, expiresAt: start + 600)
        #expect(replay.show(other) == .rings)
        #expect(replay.show(message(epoch: 2, floor: 2)) == .quiet)
    }

    /// A thief fills the guard with messages sent later than the provider's, so that the floor rises above those.
    @Test func aFloorThatAThiefHasRaisedIsVoid() throws {
        let replay = try makeGuard(room: 8)
        for id in 100..<120 as Range<UInt64> {
            #expect(replay.take(message(id, epoch: 1, sentAt: start + 50 + id)) == .new)
        }
        #expect(replay.take(message(1, epoch: 1, sentAt: start + 60)) == .seen)
        #expect(replay.take(message(1, epoch: 2, floor: 2, sentAt: start + 60)) == .new)
        // His rows take no room either: eight more, and the first is remembered.
        for id in 2...8 as ClosedRange<UInt64> {
            #expect(replay.take(message(id, epoch: 2, floor: 2, sentAt: start + 60 + id)) == .new)
        }
        #expect(replay.take(message(1, epoch: 2, floor: 2, request: "b", sentAt: start + 60)) == .copy)
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

    /// The floor keeps the epoch of the row that was dropped, not of the message that took its room.
    @Test func aFloorKeepsTheEpochOfTheRowThatWasDropped() throws {
        let replay = try makeGuard(room: 4)
        for id in 1...4 as ClosedRange<UInt64> {
            #expect(replay.take(message(id, epoch: 2, sentAt: start + id)) == .new)
        }
        #expect(replay.take(message(5, epoch: 1, sentAt: start + 5)) == .new)
        #expect(replay.take(message(1, epoch: 2, floor: 2, sentAt: start + 1)) == .seen, "the floor is of epoch 2")
        #expect(replay.take(message(1, epoch: 3, floor: 3, sentAt: start + 1)) == .new)
    }

    /// The trust in the store was lost and learned again: rows made in between count by their own epochs.
    @Test func aTrustFloorThatFallsAndRisesAgainDropsWhatIsBelowIt() throws {
        let replay = try makeGuard()
        #expect(replay.show(message(1, epoch: 3, floor: 3)) == .rings)
        #expect(replay.show(message(2, epoch: 1)) == .rings)
        #expect(replay.show(message(2, epoch: 3, floor: 3)) == .rings)
        #expect(replay.show(message(1, epoch: 3, floor: 3)) == .quiet)
    }

    /// Between taking and handing over, another message has raised the floor: its content was genuine when it was
    /// taken.
    @Test func aMessageTakenBeforeTheFloorRoseIsHandedOverOnce() throws {
        let replay = try makeGuard()
        let old = message(1, epoch: 1)
        #expect(replay.take(old) == .new)
        #expect(replay.show(message(2, epoch: 2, floor: 2)) == .rings)
        #expect(replay.handOver(old, after: .new) == .rings)
        #expect(replay.handOver(old, after: .again) == .quiet)
    }

    @Test func aGuardThatCannotBeWrittenIsReadByTheSameRule() throws {
        let scratch = try directory()
        let file = open(scratch.store, waiting: 20)
        let (old, new) = (message(epoch: 1), message(epoch: 2, floor: 2))
        #expect(file.claimAndCommit(old, at: start + 1).handover.rings)
        let writer = try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0)
        try writer.execute("BEGIN IMMEDIATE")
        #expect(file.take(old, at: start + 1).verdict == .again)
        let (taking, handover) = file.claimAndCommit(new, at: start + 1)
        #expect(taking.verdict == .new && handover.rings && taking.problem?.code == .storeBusy)
        #expect(file.handOver(new, after: .new, at: start + 1).rings)
        #expect(!file.handOver(old, after: .new, at: start + 1).rings)
        try writer.execute("ROLLBACK")
    }
}

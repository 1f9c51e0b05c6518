import Pushcrypt
import Seed
import Testing

@testable import PushcryptKeyStore

/// The replay guard's rules.
struct ReplayRulesTests {
    /// A guard that was made at `start`.
    private struct Guard {
        private let file: ReplayGuard
        private let scratch: Scratch

        init(floor: Timestamp = start) throws {
            scratch = try Scratch()
            _ = try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .quick)
            _ = try ExtensionDatabase.create(in: scratch.store, floor: floor)
            file = ExtensionDatabase(in: scratch.store, busyTimeout: StoreOptions.patience).replay
        }

        private func message(
            _ id: UInt64, _ request: String, _ provider: ProviderPublicKey, _ account: String, _ sent: UInt64,
            _ life: UInt64
        ) -> ReplayMessage {
            let sentAt = start.adding(milliseconds: sent)
            return ReplayMessage(
                MessageID(id), from: provider, epoch: 0, trustFloor: 0, to: account, requestID: request, sentAt: sentAt,
                expiresAt: sentAt + life)
        }

        /// Takes a message that was sent `sent` milliseconds after the guard was made, and lives for `life` seconds.
        func take(
            _ id: UInt64, request: String = "r", provider: ProviderPublicKey = ReplayRulesTests.provider,
            account: String = "anna", sent: UInt64 = 1, life: UInt64 = 600, at now: UInt64 = 1
        ) -> ReplayVerdict {
            finding(id, request: request, provider: provider, account: account, sent: sent, life: life, at: now).verdict
        }

        func finding(
            _ id: UInt64, request: String = "r", provider: ProviderPublicKey = ReplayRulesTests.provider,
            account: String = "anna", sent: UInt64 = 1, life: UInt64 = 600, at now: UInt64 = 1
        ) -> ReplayRules.Finding {
            let message = message(id, request, provider, account, sent, life)
            let now = start.adding(milliseconds: now)
            let taking = file.take(message, at: now)
            #expect(taking.problem == nil)
            return ReplayRules.Finding(verdict: taking.verdict, isQuiet: taking.isQuiet)
        }

        /// Hands a message over; returns whether it rings.
        func handOver(
            _ id: UInt64, request: String, after verdict: ReplayVerdict, sent: UInt64, life: UInt64, at now: UInt64
        ) -> Bool {
            let message = message(id, request, ReplayRulesTests.provider, "anna", sent, life)
            let now = start.adding(milliseconds: now)
            let handover = file.handOver(message, after: verdict, at: now)
            #expect(handover.problem == nil)
            return handover.rings
        }
    }

    private static let provider = ProviderKey().publicKey
    private static let hour: UInt64 = 3_600_000

    /// A floor that was ahead of the clock by more than the tolerance never counts, even when its time comes.
    @Test func aFloorFromAClockThatWasAheadIsNone() throws {
        let day = 24 * Self.hour
        let ahead = try Guard(floor: start.adding(milliseconds: 2 * day + 1))
        #expect(ahead.take(1, sent: 1, at: day) == .new)
        #expect(ahead.take(2, sent: day + 2, at: day + 2) == .new, "nor when its time comes")
        let tolerated = try Guard(floor: start.adding(milliseconds: 2 * day))
        #expect(tolerated.take(1, sent: 1, at: day) == .seen)
    }

    @Test func anUnwrittenMessageRingsOnlyIfItIsNew() {
        let taken = ReplayRow(request: [], state: .taken, epoch: 0)
        let handedOver = ReplayRow(request: [], state: .handedOver, epoch: 0)
        let withdrawn = ReplayRow(request: [], state: .withdrawn, epoch: 0)
        for row in [nil, taken] { #expect(ReplayRules.unwritten(.new, row: row) == .rings) }
        #expect(ReplayRules.unwritten(.new, row: handedOver) == .quiet)
        for verdict in [.again, .copy, .seen] as [ReplayVerdict] {
            for row in [nil, taken, handedOver] { #expect(ReplayRules.unwritten(verdict, row: row) == .quiet) }
        }
        for verdict in [.new, .again, .copy, .seen] as [ReplayVerdict] {
            #expect(ReplayRules.unwritten(verdict, row: withdrawn) == .withdrawn)
        }
        for row in [nil, taken, handedOver] { #expect(ReplayRules.unwritten(.withdrawn, row: row) == .withdrawn) }
    }

    /// A message that finds a row counts as accepted too.
    @Test func aCopyRaisesTheHighestTime() throws {
        let replay = try Guard()
        let late = 100 * Self.hour
        #expect(replay.take(1, sent: 1000, life: 10, at: 1000) == .new)
        #expect(replay.take(2, sent: 2000, life: 2_592_000, at: 2000) == .new)
        #expect(replay.take(2, request: "b", sent: late, at: late) == .copy)
        #expect(replay.take(3, sent: 3000, life: 2_592_000, at: late) == .new)
        #expect(replay.take(1, request: "b", sent: 1000, life: 10, at: late) == .new, "the row is gone")
    }

    @Test func theMessageSentFirstMakesRoomAndRaisesTheFloor() throws {
        let replay = try Guard()
        // In an order other than that in which they were sent.
        for index in 0..<4096 as Range<UInt64> {
            #expect(replay.take(index, sent: 10 + (index * 1001) % 4096, at: 5000) == .new)
        }
        let first: UInt64 = 0  // sent at 10, 1001 at 11 + …
        #expect(replay.take(first, request: "b", sent: 10, at: 5000) == .copy, "4096 are remembered")
        #expect(replay.take(9999, sent: 20_000, at: 20_000) == .new)
        // The row sent at 10 is gone; what was sent then or before counts as seen, what was sent after does not.
        #expect(replay.take(first, sent: 10, at: 20_000) == .seen)
        #expect(replay.take(77_777, sent: 9, at: 20_000) == .seen)
        #expect(replay.take(88_888, sent: 11, at: 20_000) == .new)
        #expect(replay.take(1, request: "r", sent: 10 + 1001, at: 20_000) == .again)
        #expect(replay.take(5, provider: ProviderKey().publicKey) == .new, "another provider has its own floor")
        #expect(replay.take(5, account: "ben") == .new, "another account has its own floor")
    }

    /// A thousand messages, some of them again, taken by the rules and by a list that is searched from the start.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func theRulesAgreeWithASimpleList(_ seed: UInt64) throws {
        let replay = try Guard()
        var random = Seed(seed)
        struct Seen {
            let id: UInt64
            let request: String
            var ends: UInt64
            var hasRung = false
        }
        var list: [Seen] = []
        var now: UInt64 = 1000
        var highest: UInt64 = 0
        for _ in 0..<1000 {
            now += random.next() % 20 == 0 ? 40_000_000 : random.next() % 3000
            let id = random.next() % 60
            let request = "request \(random.next() % 2)"
            let sent = now - random.next() % 900
            let life = 1 + random.next() % 100
            highest = max(highest, sent)
            let expected: ReplayVerdict
            if let index = list.firstIndex(where: { $0.id == id }) {
                expected = list[index].request == request ? .again : .copy
                list[index].ends = max(list[index].ends, sent + life * 1000)
            } else {
                expected = .new
                list.removeAll { $0.ends + 48 * Self.hour < min(now, highest) }
                list.append(Seen(id: id, request: request, ends: sent + life * 1000))
            }
            let index = try #require(list.firstIndex { $0.id == id })
            let finding = replay.finding(id, request: request, sent: sent, life: life, at: now)
            #expect(finding == ReplayRules.Finding(verdict: expected, isQuiet: list[index].hasRung))
            // One in three processes is ended before it hands over.
            guard random.next() % 3 > 0 else { continue }
            let rings = replay.handOver(id, request: request, after: expected, sent: sent, life: life, at: now)
            #expect(rings == !list[index].hasRung)
            list[index].hasRung = true
        }
    }
}

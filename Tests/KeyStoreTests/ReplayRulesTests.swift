import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The replay check, on the pure rules and on the file alike.
struct ReplayRulesTests {
    /// The same rules over two stores of rows.
    enum Kind: CaseIterable, Sendable {
        case pure
        case file
    }

    /// A guard that was made at `start`, and remembers at most 4096 messages a sender.
    private final class Guard {
        private var rows = Rows()
        private let file: ReplayFile?
        private let scratch: Scratch?

        init(_ kind: Kind) throws {
            switch kind {
            case .pure:
                file = nil
                scratch = nil
                rows.guardFloor = start
            case .file:
                let scratch = try Scratch()
                _ = try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .quick, at: start)
                file = try .create(in: scratch.store, floor: start)
                self.scratch = scratch
            }
        }

        /// Judges a message that was sent `sent` milliseconds after the guard was made, and lives for `life` seconds.
        func judge(
            _ id: UInt64, request: String = "r", sender: SenderPublicKey = ReplayRulesTests.sender, sent: UInt64 = 1,
            life: UInt64 = 600, at now: UInt64 = 1
        ) -> ReplayVerdict {
            let sentAt = start.adding(milliseconds: sent)
            let now = start.adding(milliseconds: now)
            if let file {
                let judgement = file.judge(
                    sender: sender, messageID: MessageID(id), requestID: request, sentAt: sentAt,
                    expiresAt: sentAt + life, at: now)
                #expect(judgement.problem == nil)
                return judgement.verdict
            }
            let message = ReplayMessage(
                sender: sender, id: MessageID(id), requestID: request, sentAt: sentAt, expiresAt: sentAt + life)
            return ReplayRules.judge(message, in: &rows, at: now)
        }
    }

    private static let sender = SenderKey().publicKey

    // MARK: The rules

    @Test(arguments: Kind.allCases)
    func aMessageIsNewOnce(_ kind: Kind) throws {
        let replay = try Guard(kind)
        #expect(replay.judge(1) == .new)
        #expect(replay.judge(1) == .sameRequest(soundAllowed: true))
        #expect(replay.judge(2) == .new)
    }

    @Test(arguments: Kind.allCases)
    func theSameRequestKeepsItsSoundForSixtySecondsToTheMillisecond(_ kind: Kind) throws {
        let replay = try Guard(kind)
        #expect(replay.judge(1, at: 5000) == .new)
        #expect(replay.judge(1, at: 65_000) == .sameRequest(soundAllowed: true))
        #expect(replay.judge(1, at: 65_001) == .sameRequest(soundAllowed: false))
        #expect(replay.judge(1, at: 0) == .sameRequest(soundAllowed: true), "the clock was set back")
    }

    @Test(arguments: Kind.allCases)
    func anotherRequestIsADuplicate(_ kind: Kind) throws {
        let replay = try Guard(kind)
        #expect(replay.judge(1, request: "a") == .new)
        #expect(replay.judge(1, request: "b") == .duplicate)
        #expect(replay.judge(1, request: "a") == .sameRequest(soundAllowed: true), "the first request is remembered")
        #expect(replay.judge(1, request: "") == .duplicate)
        #expect(replay.judge(2, request: String(repeating: "x", count: 100_000)) == .new)
    }

    @Test(arguments: Kind.allCases)
    func eachSenderHasMessagesOfItsOwn(_ kind: Kind) throws {
        let replay = try Guard(kind)
        #expect(replay.judge(1) == .new)
        #expect(replay.judge(1, request: "other", sender: SenderKey().publicKey) == .new)
    }

    @Test(arguments: Kind.allCases)
    func whatWasSentBeforeTheGuardWasMadeIsADuplicate(_ kind: Kind) throws {
        let replay = try Guard(kind)
        #expect(replay.judge(1, sent: 0) == .duplicate)
        #expect(replay.judge(2, sent: 1) == .new)
    }

    @Test(arguments: Kind.allCases)
    func aRowIsKeptUntilTwoDaysAfterItsMessageEnds(_ kind: Kind) throws {
        let replay = try Guard(kind)
        let end: UInt64 = 11_000 + 48 * 3_600_000
        #expect(replay.judge(1, sent: 1000, life: 10, at: 1000) == .new)
        // Any new message clears what has ended: not before, and not in the last millisecond.
        #expect(replay.judge(2, at: end) == .new)
        #expect(replay.judge(1, request: "b", sent: 1000, life: 10, at: end) == .duplicate)
        #expect(replay.judge(3, at: end + 1) == .new)
        // The receiver refuses an expired message before it comes here; this shows that the row is gone.
        #expect(replay.judge(1, request: "b", sent: 1000, life: 10, at: end + 1) == .new)
    }

    /// A clock that runs two hours ahead for one message, and back, makes no copy new again.
    @Test(arguments: Kind.allCases)
    func aClockThatJumpsAheadAndBackForgetsNothing(_ kind: Kind) throws {
        let replay = try Guard(kind)
        #expect(replay.judge(1, sent: 1000, life: 3600, at: 1000) == .new)
        #expect(replay.judge(2, sent: 2000, life: 86_400, at: 7_200_000) == .new)
        #expect(replay.judge(1, request: "b", sent: 1000, life: 3600, at: 3000) == .duplicate)
    }

    /// A sender seals a message again under its id, and the copy lives longer: it must not be new when the first has ended.
    @Test(arguments: Kind.allCases)
    func aCopyThatLivesLongerKeepsTheRow(_ kind: Kind) throws {
        let replay = try Guard(kind)
        #expect(replay.judge(1, sent: 1000, life: 10, at: 1000) == .new)
        #expect(replay.judge(1, request: "b", sent: 8000, life: 10, at: 9000) == .duplicate)
        #expect(replay.judge(2, at: 15_000) == .new)
        #expect(replay.judge(1, request: "b", sent: 8000, life: 10, at: 15_000) == .duplicate)
    }

    // MARK: 4096 rows

    @Test(arguments: Kind.allCases)
    func theMessageSentFirstMakesRoomAndRaisesTheFloor(_ kind: Kind) throws {
        let replay = try Guard(kind)
        // In an order other than that in which they were sent.
        for index in 0..<4096 as Range<UInt64> {
            #expect(replay.judge(index, sent: 10 + (index * 1001) % 4096, at: 5000) == .new)
        }
        let first: UInt64 = 0  // sent at 10, 1001 at 11 + …
        #expect(replay.judge(first, request: "b", sent: 10, at: 5000) == .duplicate, "4096 are remembered")
        #expect(replay.judge(9999, sent: 20_000, at: 20_000) == .new)
        // The row sent at 10 is gone; what was sent then or before counts as seen, what was sent after does not.
        #expect(replay.judge(first, sent: 10, at: 20_000) == .duplicate)
        #expect(replay.judge(77_777, sent: 9, at: 20_000) == .duplicate)
        #expect(replay.judge(88_888, sent: 11, at: 20_000) == .new)
        #expect(replay.judge(1, request: "r", sent: 10 + 1001, at: 20_000) == .sameRequest(soundAllowed: true))
        #expect(replay.judge(5, sender: SenderKey().publicKey) == .new, "another sender has a floor of its own")
    }

    @Test(arguments: Kind.allCases)
    func whatHasEndedMakesRoomWithoutAFloor(_ kind: Kind) throws {
        let replay = try Guard(kind)
        for index in 0..<4096 as Range<UInt64> {
            #expect(replay.judge(index, sent: 100 + index, life: index < 10 ? 1 : 600, at: 100) == .new)
        }
        #expect(replay.judge(9999, sent: 60_000, at: 60_000) == .new)
        // Ten have ended and left room; none that lives was dropped, and the floor is where it was.
        #expect(replay.judge(8888, sent: 2, at: 60_000) == .new)
        #expect(replay.judge(10, request: "b", sent: 110, at: 60_000) == .duplicate)
    }

    // MARK: Against a model

    /// A thousand messages, some of them again, judged by the rules and by a list that is searched from the start.
    @Test(arguments: Kind.allCases, [1, 2, 3] as [UInt64])
    func theRulesAgreeWithASimpleList(_ kind: Kind, _ seed: UInt64) throws {
        let replay = try Guard(kind)
        var random = SplitMix(state: seed)
        struct Seen {
            let id: UInt64
            let request: String
            var ends: UInt64
            let first: UInt64
        }
        var list: [Seen] = []
        var now: UInt64 = 1000
        for _ in 0..<1000 {
            now += random.next() % 20 == 0 ? 40_000_000 : random.next() % 3000
            let id = random.next() % 60
            let request = "request \(random.next() % 2)"
            let sent = now - random.next() % 900
            let life = 1 + random.next() % 100
            let expected: ReplayVerdict
            if let index = list.firstIndex(where: { $0.id == id }) {
                expected =
                    list[index].request == request
                    ? .sameRequest(soundAllowed: now <= list[index].first + 60_000) : .duplicate
                list[index].ends = max(list[index].ends, sent + life * 1000)
            } else {
                expected = .new
                list.removeAll { $0.ends + 48 * 3_600_000 < now }
                list.append(Seen(id: id, request: request, ends: sent + life * 1000, first: now))
            }
            #expect(replay.judge(id, request: request, sent: sent, life: life, at: now) == expected)
        }
    }
}

/// Rows in memory.
private struct Rows: ReplayStorage {
    private struct Entry {
        let row: ReplayRow
        var sentAt: Timestamp
        var expiresAt: Timestamp
    }

    var guardFloor = Timestamp(milliseconds: 0)
    private var floors: [SenderPublicKey: Timestamp] = [:]
    private var entries: [SenderPublicKey: [MessageID: Entry]] = [:]

    func row(of message: ReplayMessage) throws(Never) -> ReplayRow? { entries[message.sender]?[message.id]?.row }

    func floor(of sender: SenderPublicKey) throws(Never) -> Timestamp { max(guardFloor, floors[sender] ?? guardFloor) }

    func count(of sender: SenderPublicKey) throws(Never) -> Int { entries[sender]?.count ?? 0 }

    mutating func insert(_ message: ReplayMessage, firstSeen: Timestamp) throws(Never) {
        let row = ReplayRow(request: message.request, firstSeen: firstSeen)
        entries[message.sender, default: [:]][message.id] = Entry(
            row: row, sentAt: message.sentAt, expiresAt: message.expiresAt)
    }

    mutating func extend(_ message: ReplayMessage) throws(Never) {
        guard var entry = entries[message.sender]?[message.id] else { return }
        entry.sentAt = max(entry.sentAt, message.sentAt)
        entry.expiresAt = max(entry.expiresAt, message.expiresAt)
        entries[message.sender]?[message.id] = entry
    }

    mutating func dropExpired(at now: Timestamp) throws(Never) {
        entries = entries.mapValues { $0.filter { $0.value.expiresAt >= now } }
    }

    mutating func dropEarliest(of sender: SenderPublicKey) throws(Never) -> Timestamp {
        guard let earliest = entries[sender]?.min(by: { $0.value.sentAt < $1.value.sentAt }) else { return guardFloor }
        entries[sender]?[earliest.key] = nil
        return earliest.value.sentAt
    }

    mutating func raiseFloor(of sender: SenderPublicKey, to floor: Timestamp) throws(Never) { floors[sender] = floor }
}

import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// One replay guard for many threads, sessions and processes, some of which are killed.
struct ReplaySharingTests: ReplayFileSuite {
    @Test func oneOfManySessionsSeesAMessageAsNew() async throws {
        let scratch = try directory()
        let verdicts = await withTaskGroup(of: [ReplayVerdict].self) { group in
            for session in 0..<8 {
                group.addTask {
                    let file = open(scratch.store)
                    return (0..<20 as Range<UInt64>).map { judge(file, $0, request: "session \(session)").verdict }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(verdicts.count { $0 == .new } == 20)
        #expect(verdicts.count { $0 == .duplicate } == 7 * 20)
    }

    @Test func oneSessionMayBeUsedByManyThreads() async throws {
        let scratch = try directory()
        let file = open(scratch.store)
        let new = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<20 as Range<UInt64>).count { judge(file, $0).verdict == .new } }
            }
            return await group.reduce(0, +)
        }
        #expect(new == 20)
    }

    @Test func whoeverFindsTheDamageLaterTakesTheNewFile() throws {
        let scratch = try directory()
        let damaged = try #require(try FileFacts(at: scratch.file("replay.db"))).identity
        let now = start + 1_000_000
        let patience = StoreOptions.patience
        let (first, second) = (
            ReplaySession(in: scratch.store, busyTimeout: patience),
            ReplaySession(in: scratch.store, busyTimeout: patience)
        )
        let message = ReplayMessage(
            sender: sender, id: MessageID(1), requestID: "r", sentAt: now, expiresAt: now + 600)
        try first.recreate(replacing: damaged, at: now)
        expect(first.judge(message, at: now), .new)
        try second.recreate(replacing: damaged, at: now)
        try second.recreate(replacing: nil, at: now)
        expect(second.judge(message, at: now), .sameRequest(soundAllowed: true))
    }

    @Test func aProcessKilledInTheMiddleOfAJudgementHasRememberedNothing() async throws {
        let scratch = try directory()
        let path = scratch.file("replay.db")
        expect(judge(open(scratch.store), 1), .new)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let connection = try SQLiteConnection(path: path, busyTimeout: 1000)
            // A cache of no pages makes the change reach the file before the transaction ends.
            try connection.execute(
                "PRAGMA cache_size = 0; BEGIN IMMEDIATE; DELETE FROM seen; UPDATE senders SET floor = 9e18")
            try connection.execute(
                "INSERT INTO senders SELECT 100 + column1, randomblob(3000), 0 FROM (VALUES (1), (2), (3), (4), (5))")
            kill(getpid(), SIGKILL)
        }
        expect(judge(open(scratch.store), 1, request: "other"), .duplicate)
        expect(judge(open(scratch.store), 2), .new)
    }

    @Test func processesShareOneGuard() async throws {
        let scratch = try directory()
        expect(judge(open(scratch.store), 1), .new)
        let path = scratch.store
        let sender = sender.description
        await #expect(processExitsWith: .success) { [path = path as String, sender = sender as String] in
            let file = ReplayFile.open(in: path, at: start)
            let sender = try SenderPublicKey(text: sender)
            for (id, verdict) in [(1, .duplicate), (2, .new)] as [(UInt64, ReplayVerdict)] {
                let judgement = file.judge(
                    sender: sender, messageID: MessageID(id), requestID: "other", sentAt: start + 1,
                    expiresAt: start + 600, at: start + 1)
                try #require(judgement == ReplayJudgement(verdict: verdict, problem: nil))
            }
        }
        expect(judge(open(scratch.store), 2), .duplicate)
    }
}

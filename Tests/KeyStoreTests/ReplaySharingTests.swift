import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// One replay guard for many threads, sessions and processes, some of which are killed.
struct ReplaySharingTests: ReplayGuardSuite {
    /// In any order, each session takes the message, and one of them rings.
    @Test func oneOfManySessionsRings() async throws {
        let scratch = try directory()
        let ends = await withTaskGroup(of: [(verdict: ReplayVerdict, rings: Bool)].self) { group in
            for session in 0..<8 {
                group.addTask {
                    let file = ExtensionDatabase(in: scratch.store, busyTimeout: 20_000).replay
                    return (0..<20 as Range<UInt64>).map { id in
                        let request = "session \(session % 3)"
                        let verdict = take(file, id, request: request).verdict
                        return (verdict, handOver(file, id, request: request, after: verdict).rings)
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(ends.count { $0.rings } == 20 && ends.count { $0.verdict == .new } == 20)
    }

    @Test func whoeverFindsTheDamageLaterTakesTheNewFile() throws {
        let scratch = try directory()
        let damaged = try #require(try FileFacts(at: scratch.file("extension.db"))).identity
        let now = start + 1_000_000
        let patience = StoreOptions.patience
        let (first, second) = (open(scratch.store, waiting: patience), open(scratch.store, waiting: patience))
        func recreate(_ replay: ReplayGuard, replacing file: FileIdentity?) throws(KeyStoreError) {
            try replay.database.file.withLock { (database) throws(KeyStoreError) in
                try database.recreate(replacing: file, at: now)
            }
        }
        let message = message(sentAt: now)
        try recreate(first, replacing: damaged)
        expect(first.take(message, at: now), .new)
        try recreate(second, replacing: damaged)
        try recreate(second, replacing: nil)
        expect(second.take(message, at: now), .again)
    }

    @Test func aProcessKilledInTheMiddleOfATransactionHasRememberedNothing() async throws {
        let scratch = try directory()
        let path = scratch.file("extension.db")
        expect(take(open(scratch.store), 1), .new)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let connection = try SQLiteConnection(path: path, busyTimeout: 1000)
            // A cache of no pages makes the change reach the file before the transaction ends.
            try connection.execute(
                "PRAGMA cache_size = 0; BEGIN IMMEDIATE; DELETE FROM seen; UPDATE providers SET floor = 9e18")
            try connection.execute(
                "INSERT INTO providers SELECT 100 + column1, randomblob(3000), x'', 0, 0, 0, 0 FROM (VALUES (1), (2), (3), (4), (5))"
            )
            kill(getpid(), SIGKILL)
        }
        expect(take(open(scratch.store), 1, request: "other"), .copy)
        expect(take(open(scratch.store), 2), .new)
    }
}

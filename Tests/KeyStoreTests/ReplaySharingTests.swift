import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// One replay guard for many threads, sessions and processes, some of which are killed.
struct ReplaySharingTests: ReplayGuardSuite {
    @Test func oneOfManySessionsSeesAMessageAsNew() async throws {
        let scratch = try directory()
        let verdicts = await withTaskGroup(of: [ReplayVerdict].self) { group in
            for session in 0..<8 {
                group.addTask {
                    let file = open(scratch.store)
                    return (0..<20 as Range<UInt64>).map { take(file, $0, request: "session \(session)").verdict }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(verdicts.count { $0 == .new } == 20)
        #expect(verdicts.count { $0 == .copy } == 7 * 20)
    }

    /// In any order, each session takes the message, and one of them rings.
    @Test func oneOfManySessionsRings() async throws {
        let scratch = try directory()
        let rings = await withTaskGroup(of: [Bool].self) { group in
            for session in 0..<8 {
                group.addTask {
                    let file = ExtensionDatabase(in: scratch.store, busyTimeout: 20_000).replay
                    return (0..<20 as Range<UInt64>).map { id in
                        let request = "session \(session % 3)"
                        let verdict = take(file, id, request: request).verdict
                        return handOver(file, id, request: request, after: verdict).rings
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(rings.count { $0 } == 20)
    }

    @Test func oneSessionMayBeUsedByManyThreads() async throws {
        let scratch = try directory()
        let file = open(scratch.store)
        let new = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<20 as Range<UInt64>).count { take(file, $0).verdict == .new } }
            }
            return await group.reduce(0, +)
        }
        #expect(new == 20)
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

    @Test func processesShareOneGuard() async throws {
        let scratch = try directory()
        expect(take(open(scratch.store), 1), .new)
        let path = scratch.store
        let provider = provider.description
        await #expect(processExitsWith: .success) { [path = path as String, provider = provider as String] in
            let file = ExtensionDatabase(in: path).replay
            let provider = try ProviderPublicKey(text: provider)
            for (id, verdict) in [(1, .copy), (2, .new)] as [(UInt64, ReplayVerdict)] {
                let message = ReplayMessage(
                    MessageID(id), from: provider, epoch: 0, trustFloor: 0, to: "default", requestID: "other",
                    sentAt: start + 1,
                    expiresAt: start + 600)
                let taking = file.take(message, at: start + 1)
                try #require(taking.verdict == verdict && taking.problem == nil)
            }
        }
        expect(take(open(scratch.store), 2), .copy)
    }
}

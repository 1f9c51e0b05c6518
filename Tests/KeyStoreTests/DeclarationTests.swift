import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A database that declares more than tables and indexes: SQLite would run what its author wrote.
struct DeclarationTests {
    /// Rows that never end, instead of a table. A store that reads one of them never opens.
    private static let endless = """
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
        """

    private static let declarations = [
        """
        ALTER TABLE store RENAME TO other;
        CREATE VIEW store AS \(endless) SELECT 1 AS id, x AS store_id, x AS salt, x AS passes, x AS memory, x AS created,
        x AS key_check, x AS tag FROM c WHERE x < 0
        """,
        "CREATE TRIGGER t AFTER INSERT ON settings BEGIN DELETE FROM settings; END",
        // A declaration that says it is a table, and is none.
        """
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema VALUES ('table', 'other', 'other', 0, 'CREATE VIEW other AS SELECT 1')
        """,
    ]

    /// In a process that ends after a minute of work: reading the view would take for ever.
    @Test(arguments: declarations)
    func aStoreWithAViewOrATriggerDoesNotOpen(_ sql: String) async throws {
        let home = try Home()
        try home.raw().execute(sql)
        await #expect(processExitsWith: .success) { [path = home.scratch.store as String] in
            limitWork()
            #expect(code { try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick) } == .corruptStore)
        }
    }

    @Test func anExtensionsDatabaseWithAViewIsRecreated() async throws {
        let home = try Home()
        let path = home.scratch.store
        _ = try ExtensionDatabase.create(in: path, floor: Timestamp(milliseconds: 0)).replay
        try SQLiteConnection(path: home.scratch.file("extension.db"), busyTimeout: 0).execute(
            """
            ALTER TABLE seen RENAME TO other;
            CREATE VIEW seen AS \(Self.endless) SELECT x AS provider, x AS message, x AS request, x AS sent, x AS expires,
            x AS state, x AS epoch FROM c WHERE x < 0
            """)
        await #expect(processExitsWith: .success) { [path = path as String] in
            limitWork()
            let file = ExtensionDatabase(in: path).replay
            let provider = ProviderKey().publicKey
            func take(_ request: String) -> ReplayClaim {
                let message = ReplayMessage(
                    MessageID(1), from: provider, epoch: 0, trustFloor: 0, to: "default", requestID: request,
                    sentAt: start, expiresAt: start + 60)
                return file.take(message, at: start)
            }
            let first = take("first")
            #expect(first.verdict == .new && first.problem == nil && first.wasDamaged)
            let second = take("second")
            #expect(second.verdict == .copy && second.problem == nil && !second.wasDamaged)
        }
    }
}

/// Ends this process after a minute of work, not of time.
func limitWork() {
    var limit = rlimit(rlim_cur: 60, rlim_max: 60)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
}

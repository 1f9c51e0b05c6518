import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A database that declares other things than a store: SQLite would run what its author wrote.
struct DeclarationTests {
    /// Rows that never end, instead of a table. A store that reads one of them never opens.
    private static let endless = """
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
        """

    private static let declarations = [
        """
        ALTER TABLE store RENAME TO other;
        CREATE VIEW store AS \(endless) SELECT 1 AS id, x AS salt, x AS passes, x AS memory, x AS key_check FROM c WHERE x < 0
        """,
        "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END",
        // A declaration that says it is a table, and is none.
        """
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema VALUES ('table', 'other', 'other', 0, 'CREATE VIEW other AS SELECT 1')
        """,
        // Temporary ones go first.
        """
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema VALUES ('trigger', 't', 'answers', 0,
            'CREATE TEMP TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END')
        """,
        "DROP INDEX devices_by_key",
        "DROP TABLE answers",
        "DROP TABLE answers; CREATE TABLE answers (id BLOB)",
    ]

    /// In a process that ends after a minute of work: reading the view would take for ever.
    @Test(arguments: declarations)
    func aStoreWithoutItsTablesOrWithATriggerDoesNotOpen(_ sql: String) async throws {
        let home = try Home()
        try home.raw().execute(sql)
        await #expect(processExitsWith: .success) { [path = home.scratch.store as String] in
            limitWork()
            #expect(code { try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick) } == .corruptStore)
        }
    }

    /// A phone names the token in its record: it must not remove another device with it.
    @Test func aUniqueIndexRemovesNoOtherDevice() throws {
        let home = try Home()
        try home.raw().execute("CREATE UNIQUE INDEX one_token ON devices (token)")
        let store = try home.reopened()
        for (id, user) in [("a", "alice"), ("b", "bob")] {
            var registration = DeviceRegistration(publicKey: DeviceKey().publicKey, topic: try .app, createdAt: start)
            registration.token = "aa11"
            _ = try? store.addDevice(registration, id: id, owner: .user(user), at: start)
        }
        #expect(try store.device(id: "a") != nil)
    }

    // MARK: The journal

    /// Nobody can turn it on while somebody reads.
    @Test func aStoreWithoutItsLogIsUsedAsItIs() throws {
        let scratch = try Scratch()
        do { _ = try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .quick) }
        let other = try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0)
        try other.execute("PRAGMA journal_mode = DELETE; BEGIN; SELECT count(*) FROM store")
        let store = try SQLiteKeyStore.open(in: scratch.store, passphrase: nil, options: .impatient)
        #expect(try store.deviceCount() == 0)
        #expect(code { try store.setSetting("a", named: "title") } == .storeBusy)
        try other.execute("COMMIT")
        try store.setSetting("a", named: "title")
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    // MARK: The extension

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

import Foundation
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A store whose directory or database somebody else has prepared.
@Suite struct AttackStoreFileTests {
    private let now = Timestamp(milliseconds: 1_700_000_000_000)
    private let parent = FileManager.default.temporaryDirectory.appending(path: "pushcrypt-test-\(UUID().uuidString)")

    private func removeAll() { try? FileManager.default.removeItem(at: parent) }

    private func code(_ body: () throws -> Void) -> KeyStoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? KeyStoreError)?.code
        }
    }

    @Test(
        "A directory of another user's above the store is refused, sticky or not, because its owner can rename the store",
        .enabled(if: geteuid() == 0, "only root can give a directory away"), arguments: [0o755, 0o1777])
    func parentOfAnotherUser(mode: Int) throws {
        defer { removeAll() }
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: false)
        let store = parent.appending(path: "store").path
        _ = try SQLiteKeyStore.create(at: store, now: now)
        try FileManager.default.setAttributes(
            [.ownerAccountID: 12_345, .posixPermissions: mode], ofItemAtPath: parent.path)
        #expect(code { _ = try SQLiteKeyStore.open(at: store) } == .unsafeStoreFile)
    }

    /// Rows that never end, in the place of a table. A store that reads one of them never opens.
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

    @Test(
        "A database that declares a view or a trigger does not open", .timeLimit(.minutes(1)), arguments: declarations)
    func declaration(sql: String) throws {
        defer { removeAll() }
        _ = try SQLiteKeyStore.create(at: parent.path, now: now)
        try SQLiteConnection(path: parent.path + "/keystore.db", busyTimeout: 0).execute(sql)
        #expect(code { _ = try SQLiteKeyStore.open(at: parent.path) } == .corruptStore)
    }

    @Test("A replay file that declares a view is made anew", .timeLimit(.minutes(1)))
    func replayView() throws {
        defer { removeAll() }
        _ = try SQLiteKeyStore.create(at: parent.path, now: now)
        _ = try ReplayFile.create(at: parent.path, floor: Timestamp(milliseconds: 0))
        try SQLiteConnection(path: parent.path + "/replay.db", busyTimeout: 0).execute(
            """
            ALTER TABLE seen RENAME TO other;
            CREATE VIEW seen AS \(Self.endless) SELECT x AS sender, x AS message, x AS request, x AS sent, x AS expires,
            x AS first FROM c WHERE x < 0
            """)
        let file = ReplayFile.open(at: parent.path, now: now)
        func judge(_ request: String) -> ReplayJudgement {
            file.judge(
                sender: sender, messageID: MessageID(callerName: "one"), requestID: request, sentAt: now,
                expiresAt: now.adding(seconds: 60), now: now)
        }
        #expect(judge("first") == ReplayJudgement(verdict: .new, problem: nil))
        #expect(judge("second") == ReplayJudgement(verdict: .duplicate, problem: nil))
    }

    private let sender = SenderKey().publicKey
}

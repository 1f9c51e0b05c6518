internal import Pushcrypt

/// The tables of a store. Every row but a first answer has a tag, or is sealed as a whole: a forged one only takes an answer away.
package enum Schema {
    /// "PCKS": distinguishes a key store from another program's database.
    static let applicationID: Int64 = 0x5043_4B53

    /// The layout of the tables below, which a database has in its `user_version`. Another one is refused: nothing with
    /// an earlier layout was released.
    package static let version = 12

    static let declarations = Declarations(
        """
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1), store_id BLOB NOT NULL, salt BLOB, passes INTEGER, memory INTEGER,
            created INTEGER NOT NULL, key_check BLOB NOT NULL, tag BLOB NOT NULL);
        CREATE TABLE states (name TEXT PRIMARY KEY NOT NULL, revision BLOB NOT NULL, sealed BLOB NOT NULL) WITHOUT ROWID;

        CREATE TABLE devices (
            id TEXT PRIMARY KEY NOT NULL, public_key BLOB, key_id INTEGER, generation INTEGER, created INTEGER,
            updated INTEGER, user TEXT, topic TEXT, provider BLOB, epoch INTEGER, suites BLOB, app_version TEXT,
            token BLOB, environment INTEGER, update_key BLOB, sequence INTEGER NOT NULL, relay_grant TEXT,
            removed INTEGER, reason TEXT, lost INTEGER, tag BLOB NOT NULL,
            CHECK (public_key IS NOT NULL OR removed IS NOT NULL)) WITHOUT ROWID;
        CREATE INDEX devices_of_users ON devices (user, token) WHERE user IS NOT NULL AND removed IS NULL;
        CREATE INDEX devices_by_key ON devices (key_id) WHERE removed IS NULL;
        CREATE INDEX devices_removed ON devices (removed) WHERE removed IS NOT NULL;
        CREATE TABLE earlier_keys (
            key_id INTEGER NOT NULL, device TEXT NOT NULL, replaced INTEGER NOT NULL, public_key BLOB NOT NULL,
            tag BLOB NOT NULL, PRIMARY KEY (key_id, device, replaced)) WITHOUT ROWID;
        CREATE INDEX earlier_keys_of_devices ON earlier_keys (device);

        CREATE TABLE answers (
            id BLOB PRIMARY KEY NOT NULL, digest BLOB NOT NULL, opened INTEGER NOT NULL,
            ends INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX answers_by_end ON answers (ends);
        """)

    /// Declares the tables in an empty database.
    static func create(in connection: SQLiteConnection) throws(KeyStoreError) {
        try connection.declare(declarations)
        try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    static func version(of connection: SQLiteConnection) throws(KeyStoreError) -> Int {
        Int(max(0, try connection.integer("PRAGMA user_version")))
    }

    /// Returns whether a file is a store's database, by its header.
    static func isStore(fileAt path: String) throws(KeyStoreError) -> Bool {
        guard let facts = try FileFacts(at: path), facts.isRegular, facts.size > 100 else { return false }
        var header = Bytes(repeating: 0, count: 100)
        let file = try Descriptor(reading: path)
        let count = try unsafe header.withUnsafeMutableBufferPointer { (buffer) throws(KeyStoreError) in
            var output = unsafe MutableBytes(buffer)
            return try file.read(into: &output)
        }
        guard count == 100 else { return false }
        return header[68..<72].reduce(0) { $0 << 8 | Int64($1) } == applicationID
    }
}

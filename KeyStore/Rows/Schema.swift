internal import Pushcrypt

/// The tables of a store. Every row has a tag, or is sealed as a whole.
package enum Schema {
    /// "PCKS": distinguishes a key store from another program's database.
    static let applicationID: Int64 = 0x5043_4B53

    /// The layout of the tables below, which a database has in its `user_version`. Another one is refused: nothing with
    /// an earlier layout was released.
    package static let version = 11

    static let declarations = Declarations(
        """
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1), store_id BLOB NOT NULL, salt BLOB, passes INTEGER, memory INTEGER,
            created INTEGER NOT NULL, key_check BLOB NOT NULL, tag BLOB NOT NULL);
        CREATE TABLE settings (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE states (name TEXT PRIMARY KEY NOT NULL, revision BLOB NOT NULL, sealed BLOB NOT NULL) WITHOUT ROWID;

        CREATE TABLE provider_keys (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, topic TEXT, public_key BLOB NOT NULL,
            key_id INTEGER NOT NULL UNIQUE, generation INTEGER NOT NULL, created INTEGER NOT NULL, sealed BLOB,
            certificate BLOB, certified INTEGER, signing_sealed BLOB, proven BLOB, tag BLOB NOT NULL);
        CREATE TABLE past_epochs (
            id INTEGER PRIMARY KEY, provider INTEGER NOT NULL, certificate BLOB, replaced INTEGER NOT NULL,
            tag BLOB NOT NULL);
        CREATE TABLE certificate_requests (
            provider INTEGER PRIMARY KEY, request BLOB NOT NULL, sealed BLOB NOT NULL, tag BLOB NOT NULL);
        CREATE TABLE devices (
            id TEXT PRIMARY KEY NOT NULL, public_key BLOB NOT NULL, topic TEXT, generation INTEGER NOT NULL,
            created INTEGER NOT NULL, updated INTEGER NOT NULL, provider BLOB, epoch INTEGER, suites BLOB,
            app_version TEXT, user TEXT, token BLOB, environment INTEGER, update_key BLOB,
            sequence INTEGER NOT NULL, relay_grant TEXT, key_id INTEGER NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID;
        CREATE INDEX devices_of_users ON devices (user) WHERE user IS NOT NULL;
        CREATE INDEX devices_by_key ON devices (key_id);
        CREATE TABLE removed_devices (
            id TEXT PRIMARY KEY NOT NULL, removed INTEGER NOT NULL, reason TEXT, user TEXT, topic TEXT,
            generation INTEGER, suite INTEGER, key_id INTEGER, update_key BLOB, sequence INTEGER NOT NULL, lost INTEGER NOT NULL,
            tag BLOB NOT NULL) WITHOUT ROWID;

        CREATE TABLE answer_secrets (
            id INTEGER PRIMARY KEY, provider INTEGER NOT NULL, created INTEGER NOT NULL, replaced INTEGER,
            sealed BLOB NOT NULL, tag BLOB NOT NULL);
        CREATE TABLE replaced_keys (
            id INTEGER PRIMARY KEY, device TEXT NOT NULL, public_key BLOB NOT NULL, key_id INTEGER NOT NULL,
            replaced INTEGER NOT NULL, tag BLOB NOT NULL);
        CREATE INDEX replaced_keys_by_id ON replaced_keys (key_id);
        CREATE INDEX replaced_keys_of_devices ON replaced_keys (device);
        CREATE TABLE answers (
            id BLOB PRIMARY KEY NOT NULL, digest BLOB NOT NULL, opened INTEGER NOT NULL, ends INTEGER NOT NULL,
            tag BLOB NOT NULL) WITHOUT ROWID;
        CREATE INDEX answers_by_end ON answers (ends);
        CREATE TABLE push_key (
            id INTEGER PRIMARY KEY CHECK (id = 1), public_key BLOB NOT NULL, created INTEGER NOT NULL,
            sealed BLOB NOT NULL, tag BLOB NOT NULL);
        CREATE TABLE pairings (
            id INTEGER PRIMARY KEY, pairing BLOB NOT NULL UNIQUE, url TEXT NOT NULL, topic TEXT NOT NULL,
            provider BLOB NOT NULL, user TEXT, replaces TEXT, created INTEGER NOT NULL, sealed BLOB NOT NULL,
            claimed INTEGER, device TEXT, device_key BLOB, update_key BLOB, tag BLOB NOT NULL);
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

/// The tables of a store, as an append-only list of migrations; `user_version` counts those applied to a file.
///
/// A published migration never changes; each runs in its own transaction. Every row of every table has a tag; a column
/// added later does not change it as long as it has no value.
package enum Schema {
    /// "PCKS": distinguishes a key store from another program's database.
    static let applicationID: Int64 = 0x5043_4B53

    package static let migrations: [String] = [
        """
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1), store_id BLOB NOT NULL, salt BLOB, passes INTEGER, memory INTEGER,
            created INTEGER NOT NULL, key_check BLOB NOT NULL, tag BLOB NOT NULL);
        CREATE TABLE settings (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID;

        CREATE TABLE device_keys (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, topic TEXT, public_key BLOB NOT NULL,
            key_id INTEGER NOT NULL UNIQUE, generation INTEGER NOT NULL, state INTEGER NOT NULL,
            created INTEGER NOT NULL, retires INTEGER, sealed BLOB NOT NULL, tag BLOB NOT NULL,
            UNIQUE (name, generation));
        CREATE TABLE trusted_senders (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, topic TEXT, public_key BLOB NOT NULL, state INTEGER NOT NULL,
            verifies_until INTEGER, statement BLOB, created INTEGER NOT NULL, tag BLOB NOT NULL);
        CREATE UNIQUE INDEX one_pin_a_name ON trusted_senders (name) WHERE state = 1;

        CREATE TABLE sender_keys (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, topic TEXT, public_key BLOB NOT NULL,
            key_id INTEGER NOT NULL UNIQUE, generation INTEGER NOT NULL, created INTEGER NOT NULL, sealed BLOB NOT NULL,
            tag BLOB NOT NULL);
        CREATE TABLE announcements (
            id INTEGER PRIMARY KEY, old_key BLOB NOT NULL UNIQUE, new_key BLOB NOT NULL UNIQUE, statement BLOB NOT NULL,
            announced_until INTEGER NOT NULL, tag BLOB NOT NULL);
        CREATE TABLE devices (
            id TEXT PRIMARY KEY NOT NULL, public_key BLOB NOT NULL, topic TEXT, generation INTEGER NOT NULL,
            created INTEGER NOT NULL, updated INTEGER NOT NULL, pinned_sender BLOB, tag BLOB NOT NULL) WITHOUT ROWID;
        """,
        // The registration's other members. Existing rows are not rewritten.
        "ALTER TABLE devices ADD COLUMN suites BLOB; ALTER TABLE devices ADD COLUMN app_version TEXT",
        // The users of devices, and the removed devices.
        """
        ALTER TABLE devices ADD COLUMN user TEXT;
        CREATE INDEX devices_of_users ON devices (user) WHERE user IS NOT NULL;
        CREATE TABLE removed_devices (
            id TEXT PRIMARY KEY NOT NULL, removed INTEGER NOT NULL, reason TEXT, tag BLOB NOT NULL) WITHOUT ROWID;
        """,
        // The recovery keys of trusted senders, and those of the store's own signing keys.
        """
        CREATE TABLE sender_recoveries (
            name TEXT PRIMARY KEY NOT NULL, recovery_keys BLOB NOT NULL, serial INTEGER NOT NULL, claim BLOB,
            tag BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE recoveries (
            name TEXT PRIMARY KEY NOT NULL, recovery_keys BLOB NOT NULL, serial INTEGER NOT NULL, statement BLOB, request BLOB,
            sealed BLOB, tag BLOB NOT NULL) WITHOUT ROWID;
        """,
    ]

    /// Applies the missing migrations; the caller has checked that the store key opens the database.
    static func migrate(_ connection: SQLiteConnection, by migrations: [String]) throws(KeyStoreError) {
        while try version(of: connection) < migrations.count {
            try connection.transaction(.writing) { () throws(KeyStoreError) in
                // Another process may have migrated while this one waited.
                let version = try version(of: connection)
                guard version < migrations.count else { return }
                try connection.execute(migrations[version])
                try connection.execute("PRAGMA user_version = \(version + 1)")
            }
        }
    }

    static func version(of connection: SQLiteConnection) throws(KeyStoreError) -> Int {
        Int(max(0, try connection.integer("PRAGMA user_version")))
    }

    /// Returns the tables, indexes and other objects that a database declares.
    static func objects(of connection: SQLiteConnection) throws(KeyStoreError) -> [[SQLiteValue]] {
        try connection.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
    }
}

internal import Pushcrypt

/// The tables of a store. Rows of devices have a tag, states are sealed as a whole; a forged first answer only takes an answer away.
package enum Schema {
    /// "PCKS": distinguishes a key store from another program's database.
    static let applicationID: Int64 = 0x5043_4B53

    /// The layout of the tables below, which a database has in its `user_version`. Another one is refused: nothing with
    /// an earlier layout was released.
    package static let version = 13

    static let declarations = Declarations(
        """
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1), salt BLOB, passes INTEGER, memory INTEGER, key_check BLOB NOT NULL);
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
}

// MARK: Declarations

/// The tables and indices of a database, each as SQLite keeps its text.
struct Declarations: Sendable {
    fileprivate let statements: [Bytes]

    /// Reads statements that each end with a semicolon.
    init(_ schemas: StaticString...) {
        statements = schemas.flatMap {
            Bytes("\($0)".utf8).split(separator: UInt8(ascii: ";")).map { Bytes($0.drop { $0 == UInt8(ascii: "\n") }) }
        }
    }
}

extension SQLiteConnection {
    /// Declarations that other programs may make: they do nothing unless a statement names them.
    private static let inert = ["TABLE", "INDEX", "UNIQUE INDEX", "VIEW", "VIRTUAL TABLE"]

    func declare(_ declarations: Declarations) throws(KeyStoreError) {
        for statement in declarations.statements { try execute(String(decoding: statement, as: UTF8.self)) }
    }

    /// Checks that the database declares all of these; returns the names of other programs' declarations.
    ///
    /// Throws `corruptStore` for another table or index in the place of one of them: a view could compute rows, without
    /// end. Also for a trigger, which would run on every change. SQLite runs the text of a declaration, whatever kind it
    /// claims to be.
    @discardableResult
    func require(_ declarations: Declarations) throws(KeyStoreError) -> [String] {
        var missing = declarations.statements
        let sql = "SELECT sql, name FROM main.sqlite_master WHERE sql IS NOT NULL"
        let others = try rows(sql, []) { (row) throws(KeyStoreError) -> String? in
            let text = Bytes(row, 0)
            if let index = missing.firstIndex(of: text) {
                missing.remove(at: index)
                return nil
            }
            guard Self.inert.contains(where: { text.starts(with: "CREATE \($0) ".utf8) }) else {
                throw KeyStoreError(
                    .corruptStore,
                    "\(name) has a trigger, which would run on every change: drop it, or restore the store from a backup"
                )
            }
            let other = String(decoding: Bytes(row, 1), as: UTF8.self)
            // Such as the tables of `ANALYZE`.
            return other.hasPrefix("sqlite_") ? nil : other
        }
        guard missing.isEmpty else {
            throw KeyStoreError(
                .corruptStore,
                "\(name) does not have the tables of this version: it was changed; restore it from a backup")
        }
        return others.compactMap(\.self)
    }
}

// MARK: Names

/// The rules for names of keys, accounts, devices and users.
package enum StoreName {
    static let maximumLength = 255

    /// Throws `invalidName` for an invalid name; `what` names it in the error.
    package static func check(_ name: String, _ what: StaticString) throws(KeyStoreError) {
        guard isAllowed(name) else {
            throw KeyStoreError(
                .invalidName, "\(what) must have 1 to \(maximumLength) bytes, and no control or invisible characters")
        }
    }

    /// Throws `invalidName` for an invalid device id; also for one that looks like a key, or is blank.
    static func checkDeviceID(_ id: String) throws(KeyStoreError) {
        try check(id, "a device id")
        guard !DeviceID.isKeyLike(id) else {
            throw KeyStoreError(
                .invalidName,
                "a device id must not begin with \(DevicePublicKey.textPrefixes.joined(separator: " or ")), as public keys do: choose another id"
            )
        }
        guard !DeviceID.isBlank(id) else {
            throw KeyStoreError(.invalidName, "a device id must not consist of spaces only: choose another id")
        }
    }

    static func isAllowed(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && !name.unicodeScalars.contains(where: \.isInvisible)
    }

    /// Compares bytes, as the database does: to Swift, two spellings of an accented letter are equal.
    static func areEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}

extension String {
    /// Creates the text of these bytes; nil if they are not UTF-8, because a repaired text would stand for other bytes.
    init?(exactly bytes: Bytes) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}

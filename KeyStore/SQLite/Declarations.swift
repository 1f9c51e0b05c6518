internal import Pushcrypt

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
    /// What other programs may declare: it does nothing unless a statement names it.
    private static let inert = ["TABLE", "INDEX", "UNIQUE INDEX", "VIEW", "VIRTUAL TABLE"]

    func declare(_ declarations: Declarations) throws(KeyStoreError) {
        for statement in declarations.statements { try execute(String(decoding: statement, as: UTF8.self)) }
    }

    /// Checks that the database declares all of these; returns the names of what other programs have declared besides.
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
            // Such as what `ANALYZE` leaves.
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

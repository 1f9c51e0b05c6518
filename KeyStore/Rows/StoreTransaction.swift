internal import Pushcrypt

/// The rows of a store inside one transaction: every row is authenticated before it is used.
struct StoreTransaction {
    let connection: SQLiteConnection
    let keys: StoreKeys

    /// The rows that a clause selects, in its order.
    func rows<Row: StoredRow>(
        _: Row.Type = Row.self, _ clause: String, _ values: SQLiteValue...
    ) throws(KeyStoreError) -> [Row] {
        try connection.rows("\(Row.table.select) \(clause)", values, proved)
    }

    /// The one row that a clause selects.
    func row<Row: StoredRow>(
        _: Row.Type = Row.self, _ clause: String, _ values: SQLiteValue...
    ) throws(KeyStoreError) -> Row? {
        try connection.firstRow("\(Row.table.select) \(clause)", values, proved)
    }

    /// The row with this primary key.
    ///
    /// Compared once more: a database whose declarations somebody has changed may take two texts for the same.
    func row<Row: StoredRow>(_: Row.Type = Row.self, key: SQLiteValue) throws(KeyStoreError) -> Row? {
        try connection.firstRow(Row.table.selectByKey, [key]) { (row) throws(KeyStoreError) in
            guard row[0] == key else { throw .damagedRow(key, in: Row.table.name) }
            return try proved(row)
        }
    }

    /// Checks the tag of a row that was read with its table's `select`, and decodes it.
    func proved<Row: StoredRow>(_ row: SQLiteRow) throws(KeyStoreError) -> Row {
        let table = Row.table
        var columns = ColumnReader(row, of: table)
        guard row.count == table.count + 1, row.isBlob(table.count) else { throw columns.damaged }
        let tag = keys.tag(of: row, columns: table.taggedCount(row), in: table.name)
        guard row.withBytes(table.count, { Sodium.areEqual($0, tag.span) }) else { throw columns.damaged }
        return try Row(&columns)
    }

    /// Writes a row in the place of the one with its primary key, if there is one.
    func put<Row: StoredRow>(_ row: Row) throws(KeyStoreError) {
        var values = row.values
        values.append(.blob(keys.tag(of: Row.table.tagged(values[...]), in: Row.table.name)))
        try connection.rows(Row.table.put, values)
    }

    /// Deletes by primary key; tells whether there was a row.
    @discardableResult
    func delete<Row: StoredRow>(_: Row.Type, key: SQLiteValue) throws(KeyStoreError) -> Bool {
        try connection.rows(Row.table.delete, [key])
        return connection.changes > 0
    }

    /// A row number that no row of the table has.
    func newRowNumber<Row: StoredRow>(in _: Row.Type) throws(KeyStoreError) -> Int64 {
        let highest = try connection.integer("SELECT coalesce(max(id), 0) FROM \(Row.table.name)")
        let (number, overflow) = highest.addingReportingOverflow(1)
        guard !overflow, number > 0 else { throw .damagedRow(.integer(highest), in: Row.table.name) }
        return number
    }
}

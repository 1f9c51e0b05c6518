internal import Pushcrypt

/// The rows of a store inside one transaction: every row is authenticated before it is used.
struct StoreTransaction {
    let connection: SQLiteConnection
    let keys: StoreKeys

    /// The rows that a clause selects, in its order.
    func rows<Row: StoredRow>(
        _: Row.Type = Row.self, _ clause: String, _ values: SQLiteValue...
    ) throws(KeyStoreError) -> [Row] {
        var rows: [Row] = []
        for values in try connection.rows("\(Row.table.select) \(clause)", values) {
            rows.append(try proved(values))
        }
        return rows
    }

    /// The one row that a clause selects.
    func row<Row: StoredRow>(
        _: Row.Type = Row.self, _ clause: String, _ values: SQLiteValue...
    ) throws(KeyStoreError) -> Row? {
        guard let values = try connection.rows("\(Row.table.select) \(clause)", values).first else { return nil }
        return try proved(values)
    }

    /// The row with this primary key.
    func row<Row: StoredRow>(_: Row.Type = Row.self, key: SQLiteValue) throws(KeyStoreError) -> Row? {
        guard let values = try connection.rows(Row.table.selectByKey, [key]).first else { return nil }
        return try proved(values)
    }

    /// Checks the tag of a row that was read with its table's `select`, and decodes it.
    func proved<Row: StoredRow>(_ values: [SQLiteValue]) throws(KeyStoreError) -> Row {
        let table = Row.table
        var columns = ColumnReader(values.prefix(table.count), of: table)
        guard values.count == table.count + 1, case .blob(let tag) = values[table.count],
            Sodium.areEqual(tag.span, keys.tag(of: table.tagged(values.prefix(table.count)), in: table.name).span)
        else { throw columns.damaged }
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

internal import Pushcrypt

/// The rows of a store inside one transaction; every row is authenticated before it is used.
struct StoreTransaction {
    let connection: SQLiteConnection
    let keys: StoreKeys
    /// Nil for a reader.
    var reports: ReportedCertificates?

    /// Returns the rows that a clause selects, in its order.
    func rows<Row: StoredRow>(
        _: Row.Type = Row.self, _ clause: String, _ values: SQLiteValue...
    ) throws(KeyStoreError) -> [Row] {
        try connection.rows("\(Row.table.select) \(clause)", values, verified)
    }

    /// Returns the single row that a clause selects.
    func row<Row: StoredRow>(
        _: Row.Type = Row.self, _ clause: String, _ values: SQLiteValue...
    ) throws(KeyStoreError) -> Row? {
        try connection.firstRow("\(Row.table.select) \(clause)", values, verified)
    }

    /// Returns the row with this primary key.
    ///
    /// Compares the key again: in a database whose declarations were changed, two different texts may compare equal.
    func row<Row: StoredRow>(_: Row.Type = Row.self, key: SQLiteValue) throws(KeyStoreError) -> Row? {
        try connection.firstRow(Row.table.selectByKey, [key]) { (row) throws(KeyStoreError) in
            guard row.has(key, in: 0) else { throw .damagedRow(key, in: Row.table.name) }
            return try verified(row)
        }
    }

    /// Checks the tag of a row that was read with its table's `select`, and decodes it.
    func verified<Row: StoredRow>(_ row: SQLiteRow) throws(KeyStoreError) -> Row {
        let table = Row.table
        var columns = ColumnReader(row, of: table)
        guard row.count == table.count + 1, row.isBlob(table.count) else { throw columns.damaged }
        let tag = keys.tag(of: row, columns: table.count, in: table.name)
        guard row.withBytes(table.count, { Sodium.areEqual($0, tag.span) }) else { throw columns.damaged }
        return try Row(&columns)
    }

    /// Writes a row, replacing the one with its primary key, if any.
    func put<Row: StoredRow>(_ row: Row) throws(KeyStoreError) { try write(row, Row.put) }

    /// Writes the row of a device that the caller has looked for in this transaction and not found; throws `corruptStore`
    /// if it is there. An import of many saves a lookup each.
    func insert(_ row: DeviceRow) throws(KeyStoreError) { try write(row, DeviceRow.insert) }

    private func write<Row: StoredRow>(_ row: Row, _ statement: String) throws(KeyStoreError) {
        var values = row.values
        values.append(.blob(keys.tag(of: values[...], in: Row.table.name)))
        try connection.rows(statement, values)
    }

    /// Deletes by primary key; returns whether there was a row.
    @discardableResult
    func delete<Row: StoredRow>(_: Row.Type, key: SQLiteValue) throws(KeyStoreError) -> Bool {
        try connection.rows(Row.table.delete, [key])
        return connection.changes > 0
    }

    /// Deletes all rows of a table.
    func deleteAll<Row: StoredRow>(_: Row.Type) throws(KeyStoreError) {
        try connection.rows("DELETE FROM \(Row.table.name)")
    }

    /// Returns a row number that no row of the table has.
    func newRowNumber<Row: StoredRow>(in _: Row.Type) throws(KeyStoreError) -> Int64 {
        let highest = try connection.integer("SELECT coalesce(max(id), 0) FROM \(Row.table.name)")
        let (number, overflow) = highest.addingReportingOverflow(1)
        guard !overflow, number > 0 else { throw .damagedRow(.integer(highest), in: Row.table.name) }
        return number
    }
}

/// A page of a table by primary key; fits into memory whatever the size of the table.
struct RowPage<Entry> {
    /// The result for each row.
    let entries: [Entry]
    /// The key after which the next page begins, byte for byte as stored; nil on the last page.
    let end: SQLiteValue?
}

extension StoreTransaction {
    /// Calls `body` with at most `length` rows after `last`, in the order of their primary keys.
    ///
    /// Throws `corruptStore` for rows in another order, as in a forged file: paging over them might never end, or
    /// return one twice.
    func page<Row: StoredRow, Entry>(
        of _: Row.Type, after last: SQLiteValue?, length: Int, _ body: (SQLiteRow) throws(KeyStoreError) -> Entry
    ) throws(KeyStoreError) -> RowPage<Entry> {
        let table = Row.table
        let start = last == nil ? "" : "WHERE \(table.key) > ?"
        let sql = "\(table.select) \(start) ORDER BY \(table.key) LIMIT \(length)"
        var order = RowOrder(after: last, of: table.name)
        let entries = try connection.rows(sql, last.map { [$0] } ?? []) { (row) throws(KeyStoreError) in
            try order.append(row[0])
            return try body(row)
        }
        return RowPage(entries: entries, end: entries.count == length ? order.last : nil)
    }
}

/// Checks that keys arrive in the order that the database promises.
struct RowOrder {
    private(set) var last: SQLiteValue?
    private let table: StaticString

    init(after last: SQLiteValue? = nil, of table: StaticString) {
        self.last = last
        self.table = table
    }

    mutating func append(_ key: SQLiteValue) throws(KeyStoreError) {
        if let last, !last.precedes(key) {
            throw KeyStoreError(
                .corruptStore,
                "the rows of table \(table) are out of order: the file is damaged or forged; restore it from a backup"
            )
        }
        last = key
    }
}

extension SQLiteValue {
    /// Returns whether an index has this value before another: NULL, then numbers, texts, blobs; texts and blobs by
    /// their bytes.
    fileprivate func precedes(_ other: SQLiteValue) -> Bool {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): a < b
        case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)): a.lexicographicallyPrecedes(b)
        default: rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .text: 2
        case .blob: 3
        }
    }
}

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

/// Some rows of a table by primary key, as many as fit into memory whatever the table has.
struct RowPage<Entry> {
    /// What was made of each row.
    let entries: [Entry]
    /// The key after which the next page begins, byte for byte as it lies; nil when this is the last page.
    let end: SQLiteValue?
}

extension StoreTransaction {
    /// Makes something of at most `length` rows that follow `last`, in the order of their primary keys.
    ///
    /// Throws `corruptStore` for rows that lie in another order, as in a file that somebody has made: whoever pages over
    /// them might never come to the end, or get one twice.
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

/// Checks that keys come in the order in which the database says to give them.
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
                "the rows of table \(table) are out of order: the file is damaged, or somebody has made it; restore it from a backup"
            )
        }
        last = key
    }
}

extension SQLiteValue {
    /// Whether an index has this value before another: NULL, then numbers, texts, blobs; of two texts or blobs the bytes decide.
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

internal import Pushcrypt

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

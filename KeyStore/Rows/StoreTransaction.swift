internal import Pushcrypt

/// The rows of a store inside one transaction; every row is authenticated before it is used.
struct StoreTransaction {
    let connection: SQLiteConnection
    let keys: StoreKeys
    var states = StateCaches()
    var memory = TransactionMemory()

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
    func put<Row: StoredRow>(_ row: Row) throws(KeyStoreError) {
        var values = row.values
        values.append(.blob(keys.tag(of: values[...], in: Row.table.name)))
        try connection.rows(Row.put, values)
    }
}

/// The provider's state as one transaction has read and changed it.
final class TransactionMemory {
    fileprivate(set) var provider: ProviderState?
    fileprivate(set) var hasChanged = false
    /// Whether a secret is in the state no more.
    fileprivate(set) var hasLostSecrets = false
    /// The certificates of devices that were verified, with the keys that have signed them.
    var verified: [Certificate: ProviderPublicKey] = [:]
}

extension StoreTransaction {
    /// Returns the provider's state; an empty one if nothing was ever stored.
    func provider() throws(KeyStoreError) -> ProviderState {
        if let state = memory.provider { return state }
        let state = try load(states.provider)?.state ?? ProviderState()
        memory.provider = state
        return state
    }

    /// Returns the provider's state; nil if it is damaged, for what must go on then.
    func providerIfSound() throws(KeyStoreError) -> ProviderState? {
        do throws(KeyStoreError) {
            return try provider()
        } catch {
            guard error.code == .corruptStore else { throw error }
            return nil
        }
    }

    /// Changes the provider's state; if `body` throws, nothing has changed. Nothing is written if nothing changes.
    @discardableResult
    func changeProvider<R>(
        _ body: (inout ProviderState) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        let old = try provider()
        var new = old
        let result = try body(&new)
        guard new != old else { return result }
        try store(new)
        memory.provider = new
        memory.hasChanged = true
        let kept = Set(new.secrets.map(\.place))
        if old.secrets.contains(where: { !kept.contains($0.place) }) { memory.hasLostSecrets = true }
        return result
    }
}

/// A page of a table by primary key; fits into memory whatever the size of the table.
struct RowPage<Entry> {
    /// The result for each row.
    let entries: [Entry]
    /// The key after which the next page begins, byte for byte as stored; nil on the last page.
    let end: [SQLiteValue]?
}

extension StoreTransaction {
    /// Calls `body` with at most `length` rows after `last`, in the order of their primary keys; only with those that a condition
    /// selects, without an index.
    ///
    /// Throws `corruptStore` for rows in another order, as in a forged file: paging over them might never end, or
    /// return one twice.
    func page<Row: StoredRow, Entry>(
        of _: Row.Type, where condition: String = "true", after last: [SQLiteValue]?, length: Int,
        _ body: (SQLiteRow) throws(KeyStoreError) -> Entry
    ) throws(KeyStoreError) -> RowPage<Entry> {
        let table = Row.table
        let places = repeatElement("?", count: table.keyCount).joined(separator: ", ")
        let start = last == nil ? "" : "AND (\(table.key)) > (\(places))"
        let sql = "\(table.select) WHERE \(condition) \(start) ORDER BY \(table.key) LIMIT \(length)"
        var order = RowOrder(after: last, of: table)
        let entries = try connection.rows(sql, last ?? []) { (row) throws(KeyStoreError) in
            try order.append(row)
            return try body(row)
        }
        return RowPage(entries: entries, end: entries.count == length ? order.last : nil)
    }
}

/// Checks that keys arrive in the order that the database promises.
struct RowOrder {
    private(set) var last: [SQLiteValue]?
    private let table: StoreTable

    init(after last: [SQLiteValue]? = nil, of table: StoreTable) {
        self.last = last
        self.table = table
    }

    mutating func append(_ row: SQLiteRow) throws(KeyStoreError) {
        let key = (0..<table.keyCount).map { row[$0] }
        if let last, !last.lexicographicallyPrecedes(key, by: { $0.precedes($1) }) {
            throw KeyStoreError(
                .corruptStore,
                "the rows of table \(table.name) are out of order: the file is damaged or forged; restore it from a backup"
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

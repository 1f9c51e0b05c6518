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

    /// Checks the tag of a row that was read with its table's `select`, and decodes it.
    func verified<Row: StoredRow>(_ row: SQLiteRow) throws(KeyStoreError) -> Row {
        let table = Row.table
        var columns = ColumnReader(row, of: table)
        guard row.count == table.count + 1, row.isBlob(table.count) else { throw columns.damaged }
        let tag = keys.tag(of: (0..<table.count).map { row[$0] }, in: table.name)
        guard row.withBytes(table.count, { Sodium.areEqual($0, tag.span) }) else { throw columns.damaged }
        return try Row(&columns)
    }

    /// Writes a row, replacing the one with its primary key, if any.
    func put<Row: StoredRow>(_ row: Row) throws(KeyStoreError) {
        var values = row.values
        values.append(.blob(keys.tag(of: values, in: Row.table.name)))
        try connection.rows(Row.table.put, values)
    }
}

/// The provider's state as one transaction has read and changed it, and whether secrets were lost.
final class TransactionMemory {
    fileprivate var provider: ProviderState?
    /// Whether a secret is no longer in a state.
    var hasLostSecrets = false
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
        try replace(old, with: new)
        memory.provider = new
        return result
    }
}

// MARK: Rows

/// A row of one table: how it is written, and how it is read after its tag was checked.
protocol StoredRow {
    static var table: StoreTable { get }
    /// One value per column of the table, the primary key first.
    var values: [SQLiteValue] { get }
    init(_ columns: inout ColumnReader) throws(KeyStoreError)
}

/// The name and columns of a table, and its statements. The row's tag is not listed; it is read and written as the last column.
struct StoreTable: Sendable {
    let name: StaticString
    /// The columns of the primary key.
    let key: String
    let count: Int
    let select: String
    let put: String

    init(_ name: StaticString, key: String..., columns: String...) {
        let columns = key + columns
        let list = (columns + ["tag"]).joined(separator: ", ")
        self.name = name
        (self.key, count) = (key.joined(separator: ", "), columns.count)
        select = "SELECT \(list) FROM \(name)"
        // REPLACE would silently delete rows that violate a unique index of another program.
        let updates = (columns.dropFirst(key.count) + ["tag"]).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        put = """
            INSERT INTO \(name) (\(list)) VALUES (\(String(repeating: "?, ", count: count))?)
            ON CONFLICT (\(self.key)) DO UPDATE SET \(updates)
            """
    }
}

/// Reads the columns of an authenticated row one by one. A value of the wrong kind is an error, like a wrong tag. Import checks are
/// skipped, which cost 60 µs for a provider key: the tag proves that a key passed its check before.
struct ColumnReader {
    private let table: StaticString
    private let row: SQLiteRow
    private var position = 0

    init(_ row: SQLiteRow, of table: StoreTable) { (self.row, self.table) = (row, table.name) }

    var damaged: KeyStoreError { .damagedRow(row.count > 0 ? row[0] : .null, in: table) }

    /// Returns what the next column holds; nil for NULL.
    private mutating func optional<R>(_ read: (SQLiteRow, Int) -> R?) throws(KeyStoreError) -> R? {
        defer { position += 1 }
        if row.isNull(position) { return nil }
        guard let value = read(row, position) else { throw damaged }
        return value
    }

    private func required<R>(_ value: R?) throws(KeyStoreError) -> R {
        guard let value else { throw damaged }
        return value
    }

    mutating func optionalNumber<R>(_ parse: (UInt64) -> R? = { $0 }) throws(KeyStoreError) -> R? {
        try optional { $0.isInteger($1) ? parse(UInt64(bitPattern: $0.integer($1))) : nil }
    }

    mutating func number() throws(KeyStoreError) -> UInt64 {
        let number = try optionalNumber()
        return try required(number)
    }

    mutating func optionalTime() throws(KeyStoreError) -> Timestamp? {
        try optionalNumber { Timestamp(milliseconds: $0) }
    }

    mutating func time() throws(KeyStoreError) -> Timestamp { Timestamp(milliseconds: try number()) }

    mutating func optionalBlob<R>(_ parse: (Bytes) -> R? = { $0 }) throws(KeyStoreError) -> R? {
        try optional { $0.isBlob($1) ? parse(Bytes($0, $1)) : nil }
    }

    mutating func optionalText<R>(_ parse: (String) -> R? = { $0 }) throws(KeyStoreError) -> R? {
        try optional { row, column in
            guard row.isText(column) else { return nil }
            return row.withBytes(column) { bytes in
                parse(unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) })
            }
        }
    }

    mutating func text() throws(KeyStoreError) -> String {
        let text = try optionalText()
        return try required(text)
    }

    mutating func optionalDeviceKey() throws(KeyStoreError) -> DevicePublicKey? {
        try optionalBlob { bytes in
            CipherSuite.allCases.contains { $0.publicKeyLength == bytes.count } ? DevicePublicKey(checked: bytes) : nil
        }
    }

    mutating func optionalProviderKey() throws(KeyStoreError) -> ProviderPublicKey? {
        try optionalBlob { $0.count == ProviderPublicKey.length ? ProviderPublicKey(checked: $0) : nil }
    }

    mutating func optionalSigningKey() throws(KeyStoreError) -> SigningPublicKey? {
        try optionalBlob { $0.count == SigningPublicKey.length ? SigningPublicKey(checked: $0) : nil }
    }
}

extension KeyStoreError {
    /// Creates the error for a damaged row, named by its primary key.
    static func damagedRow(_ key: SQLiteValue, in table: StaticString) -> KeyStoreError {
        let name =
            switch key {
            case .integer(let number): "\(number)"
            // Nothing has authenticated this text, so it is quoted only if a terminal can show it.
            case .text(let bytes):
                if let text = String(exactly: bytes), StoreName.isAllowed(text) {
                    "'\(text)'"
                } else {
                    Bytes(bytes.prefix(32)).hex
                }
            case .blob(let bytes): Bytes(bytes.prefix(32)).hex
            case .null: "without a key"
            }
        return KeyStoreError(
            .corruptStore,
            "row \(name) of table \(table) is damaged, or was changed without the store key, and is not used: register the device again or remove it, or restore a backup",
            concernsOneRow: true)
    }
}

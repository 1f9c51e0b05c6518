internal import Pushcrypt

/// A row of one table: how it is written, and how it is read after its tag was checked.
protocol StoredRow {
    static var table: StoreTable { get }
    /// The statement that writes a row: `table.put`, which readers do not need.
    static var put: String { get }
    /// One value per column of the table, the primary key first.
    var values: [SQLiteValue] { get }
    init(_ columns: inout ColumnReader) throws(KeyStoreError)
}

/// The name and columns of a table. The row's tag is not listed; it is read and written as the last column.
struct StoreTable: Sendable {
    let name: StaticString
    /// The columns of the primary key.
    let key: StaticString
    let keyCount: Int
    let count: Int
    private let columns: [StaticString]
    let select: String
    let selectByKey: String

    init(_ name: StaticString, key: StaticString, count keyCount: Int = 1, _ columns: StaticString...) {
        self.columns = columns
        self.name = name
        (self.key, self.keyCount) = (key, keyCount)
        count = columns.count + keyCount
        select = "SELECT \(Self.list(key, columns)), tag FROM \(name)"
        selectByKey = "\(select) WHERE \(key) = ?"
    }

    private static func list(_ key: StaticString, _ columns: [StaticString]) -> String {
        columns.reduce(into: key.description) { list, column in
            list.append(", ")
            list.append(column.description)
        }
    }

    /// The statement that writes a row. REPLACE would silently delete other rows that violate a unique index.
    var put: String {
        let updates = columns.map { "\($0) = excluded.\($0), " }.joined()
        return "\(insert) ON CONFLICT (\(key)) DO UPDATE SET \(updates)tag = excluded.tag"
    }

    private var insert: String {
        "INSERT INTO \(name) (\(Self.list(key, columns)), tag) VALUES (\(String(repeating: "?, ", count: count))?)"
    }
}

/// Reads the columns of an authenticated row one by one. A value of the wrong kind is an error, like a wrong tag.
struct ColumnReader {
    private let table: StaticString
    private let count: Int
    private let row: SQLiteRow
    private var position = 0

    init(_ row: SQLiteRow, of table: StoreTable) {
        self.row = row
        self.table = table.name
        count = min(table.count, row.count)
    }

    var damaged: KeyStoreError { .damagedRow(row.count > 0 ? row[0] : .null, in: table) }

    private mutating func next() throws(KeyStoreError) -> Int {
        guard position < count else { throw damaged }
        defer { position += 1 }
        return position
    }

    mutating func integer() throws(KeyStoreError) -> Int64 {
        let column = try next()
        guard row.isInteger(column) else { throw damaged }
        return row.integer(column)
    }

    mutating func unsigned() throws(KeyStoreError) -> UInt64 { UInt64(bitPattern: try integer()) }

    mutating func optionalTime() throws(KeyStoreError) -> Timestamp? {
        try optionalUnsigned().map { Timestamp(milliseconds: $0) }
    }

    mutating func optionalUnsigned() throws(KeyStoreError) -> UInt64? {
        let column = try next()
        if row.isNull(column) { return nil }
        guard row.isInteger(column) else { throw damaged }
        return UInt64(bitPattern: row.integer(column))
    }

    mutating func time() throws(KeyStoreError) -> Timestamp { Timestamp(milliseconds: try unsigned()) }

    mutating func blob() throws(KeyStoreError) -> Bytes {
        guard let bytes = try optionalBlob() else { throw damaged }
        return bytes
    }

    mutating func optionalBlob() throws(KeyStoreError) -> Bytes? {
        let column = try next()
        if row.isNull(column) { return nil }
        guard row.isBlob(column) else { throw damaged }
        return Bytes(row, column)
    }

    mutating func text() throws(KeyStoreError) -> String {
        guard let text = try optionalText() else { throw damaged }
        return text
    }

    mutating func optionalText() throws(KeyStoreError) -> String? {
        let column = try next()
        if row.isNull(column) { return nil }
        guard row.isText(column) else { throw damaged }
        return row.withBytes(column) { bytes in
            unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }

    mutating func topic() throws(KeyStoreError) -> Topic? {
        guard let text = try optionalText() else { return nil }
        guard let topic = try? Topic(text) else { throw damaged }
        return topic
    }

    mutating func appVersion() throws(KeyStoreError) -> AppVersion? {
        guard let text = try optionalText() else { return nil }
        guard let version = AppVersion(text) else { throw damaged }
        return version
    }

    /// Skips the import check: the tag proves that the key passed it before.
    mutating func optionalDevicePublicKey() throws(KeyStoreError) -> DevicePublicKey? {
        guard let bytes = try optionalBlob() else { return nil }
        guard CipherSuite.allCases.contains(where: { $0.publicKeyLength == bytes.count }) else { throw damaged }
        return DevicePublicKey(checked: bytes)
    }

    /// Skips the import check, which costs 60 µs: the tag proves that the key passed it before.
    mutating func optionalProviderPublicKey() throws(KeyStoreError) -> ProviderPublicKey? {
        guard let bytes = try optionalBlob() else { return nil }
        guard bytes.count == ProviderPublicKey.length else { throw damaged }
        return ProviderPublicKey(checked: bytes)
    }

    /// Skips the import check: the tag proves that the key passed it before.
    mutating func optionalSigningPublicKey() throws(KeyStoreError) -> SigningPublicKey? {
        guard let bytes = try optionalBlob() else { return nil }
        guard bytes.count == SigningPublicKey.length else { throw damaged }
        return SigningPublicKey(checked: bytes)
    }

    mutating func optionalEpoch() throws(KeyStoreError) -> UInt32? {
        guard let number = try optionalUnsigned() else { return nil }
        guard let epoch = UInt32(exactly: number) else { throw damaged }
        return epoch
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
            "row \(name) of table \(table) is damaged, or was changed without the store key, and is not used: restore a backup or recreate the row",
            concernsOneRow: true)
    }
}

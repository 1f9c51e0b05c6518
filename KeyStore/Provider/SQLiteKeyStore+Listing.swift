internal import Pushcrypt

// MARK: Lists
extension SQLiteKeyStore {
    private static let pageLength = 1000

    /// Calls `body` with every device, by id, and with a failure (`corruptStore`) for each damaged row.
    ///
    /// The store is not locked while `body` runs: it may see some of the devices that others add or remove meanwhile. Rows are
    /// authenticated, not counted: one that somebody deleted or put back is not noticed.
    public func forEachDevice(_ body: (Result<DeviceRecord, KeyStoreError>) throws -> Void) throws {
        try forEachRow(where: HeldRow.isDevice, \.device, body)
    }

    /// Calls `body` with every removed device, as `forEachDevice` does.
    package func forEachRemovedDevice(_ body: (Result<RemovedDevice, KeyStoreError>) throws -> Void) throws {
        try forEachRow(where: HeldRow.isRemoval, \.removed, body)
    }

    /// Returns the number of devices.
    package func deviceCount() throws(KeyStoreError) -> Int {
        try readOnce { (store) throws(KeyStoreError) in
            Int(clamping: try store.connection.integer("SELECT count(*) FROM devices WHERE removed IS NULL"))
        }
    }

    private func forEachRow<Record>(
        where condition: String, _ record: (Held) -> Record?, _ body: (Result<Record, KeyStoreError>) throws -> Void
    ) throws {
        var last: SQLiteValue?
        repeat {
            let page = try readOnce { (store) throws(KeyStoreError) in
                try store.page(where: condition, after: last, length: Self.pageLength) {
                    (row) -> Result<Record?, KeyStoreError> in
                    Result { () throws(KeyStoreError) in record((try store.verified(row) as HeldRow).held) }
                }
            }
            for row in page.entries {
                switch row {
                case .success(let record?): try body(.success(record))
                case .success(nil): continue
                case .failure(let error): try body(.failure(error))
                }
            }
            last = page.end
        } while last != nil
    }
}

extension HeldRow {
    /// In the order of ids: the plus keeps SQLite from the index of removals, which it would sort for each page.
    static let isDevice = "+removed IS NULL"
    static let isRemoval = "+removed IS NOT NULL"
}

// MARK: Look-ups

/// Looks up many of a provider's devices in one snapshot; valid during the call that provides it.
package struct DeviceReader {
    private let store: StoreTransaction

    fileprivate init(store: StoreTransaction) { self.store = store }

    /// Returns the device with this id. The row is authenticated: nobody without the store key can exchange its public
    /// key.
    ///
    /// Throws `unknownDevice`, `removedDevice`, and `corruptStore` for a damaged row; these concern only this device
    /// (`KeyStoreError.concernsOneDevice`).
    package func device(id: String) throws(KeyStoreError) -> DeviceRecord {
        switch try store.held(id) {
        case .device(let device): return device
        case .removed(let removed): throw .removed(removed)
        case nil: throw .unknownDevice(id)
        }
    }

    /// Returns the devices of a user, by id, and a failure for each damaged row; none if no device has this user.
    ///
    /// A row that somebody deleted, or hid from the index, is not noticed.
    package func devices(ofUser user: String) throws(KeyStoreError) -> [Result<DeviceRecord, KeyStoreError>] {
        var order = RowOrder()
        return try store.connection.rows(HeldRow.selectByUser, [.text(user)]) {
            (row) throws(KeyStoreError) in
            // A forged index may list a device repeatedly.
            try order.append(row)
            return Result { () throws(KeyStoreError) in
                let row: (id: SQLiteValue, held: Held) = (row[0], (try store.verified(row) as HeldRow).held)
                // The database found the row by a text that its declarations may compare differently.
                guard let device = row.held.device, let owner = device.user, StoreName.areEqual(owner, user) else {
                    throw .damagedRow(row.id, in: HeldRow.table.name)
                }
                return device
            }
        }
    }
}

extension HeldRow {
    fileprivate static let selectByUser = "\(table.select) WHERE user = ? AND removed IS NULL ORDER BY id"
}

extension SQLiteKeyStore {
    /// Calls `body` with the devices as they are now, unaffected by concurrent writes; `body` must not use this store.
    package func readDevices<R>(_ body: (DeviceReader) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try read { (store) throws(KeyStoreError) in try body(DeviceReader(store: store)) }
    }

    /// Returns the device with this id, or nil. The row is authenticated: nobody without the store key can exchange its
    /// public key.
    public func device(id: String) throws(KeyStoreError) -> DeviceRecord? {
        try readOnce { (store) throws(KeyStoreError) in try store.held(id)?.device }
    }

    /// Returns the devices of a user, by id, and a failure (`corruptStore`) for each damaged row; none if no device has
    /// this user.
    ///
    /// Someone who can write the database can hide a device here, as by deleting it, but cannot add one.
    public func devices(ofUser user: String) throws(KeyStoreError) -> [Result<DeviceRecord, KeyStoreError>] {
        try readDevices { (reader) throws(KeyStoreError) in try reader.devices(ofUser: user) }
    }
}

extension KeyStoreError {
    /// Whether a failed lookup says nothing about other devices.
    package var concernsOneDevice: Bool {
        switch code {
        case .corruptStore, .removedDevice, .unknownDevice: true
        default: false
        }
    }

    fileprivate static func removed(_ device: RemovedDevice) -> KeyStoreError {
        let reason = device.reason.map { " (\($0))" } ?? ""
        return KeyStoreError(
            .removedDevice,
            "device '\(device.id)' was removed at \(device.removedAt)\(reason); it can be sealed to once it registers again"
        )
    }

    static func unknownDevice(_ id: String) -> KeyStoreError {
        // Nothing has checked this name, so it is quoted only if a terminal can show it.
        let name = StoreName.isAllowed(id) ? "'\(id)'" : Bytes(id.utf8.prefix(32)).hex
        return KeyStoreError(.unknownDevice, "no device \(name) in the store")
    }
}

// MARK: Pages

/// A page of devices by id; fits into memory whatever the size of the table.
package struct RowPage<Entry> {
    /// The result for each row.
    package let entries: [Entry]
    /// The id after which the next page begins, byte for byte as stored; nil on the last page.
    let end: SQLiteValue?

    /// Whether this is the last page.
    package var isLast: Bool { end == nil }
}

extension RowPage: Sendable where Entry: Sendable {}

/// Ids, which are not authenticated: read the device before using one. An id that no store accepts is an error: a forged one, meant
/// to be mistaken for something else, such as a key or two lines.
package typealias DevicePage = RowPage<Result<String, KeyStoreError>>

extension SQLiteKeyStore {
    /// Returns at most `count` ids after those of `page`, or the first ones for nil.
    package func devicePage(after page: DevicePage?, count: Int) throws(KeyStoreError) -> DevicePage {
        try readOnce { (store) throws(KeyStoreError) in
            try store.page(where: HeldRow.isDevice, after: page?.end, length: count, HeldRow.listedID)
        }
    }
}

extension HeldRow {
    fileprivate static func listedID(_ row: SQLiteRow) -> Result<String, KeyStoreError> {
        guard case .text(let bytes) = row[0], let id = String(exactly: bytes), DeviceID.isAllowed(id) else {
            return .failure(.damagedRow(row[0], in: table.name))
        }
        return .success(id)
    }
}

extension StoreTransaction {
    /// Calls `body` with at most `length` rows of devices after an id, in the order of their ids; only with those that a condition
    /// selects, without an index.
    ///
    /// Throws `corruptStore` for rows in another order, as in a forged file: paging over them might never end, or
    /// return one twice.
    fileprivate func page<Entry>(
        where condition: String, after last: SQLiteValue?, length: Int,
        _ body: (SQLiteRow) throws(KeyStoreError) -> Entry
    ) throws(KeyStoreError) -> RowPage<Entry> {
        let start = last == nil ? "" : "AND id > ?"
        let sql = "\(HeldRow.table.select) WHERE \(condition) \(start) ORDER BY id LIMIT \(length)"
        var order = RowOrder(last: last)
        let entries = try connection.rows(sql, last.map { [$0] } ?? []) { (row) throws(KeyStoreError) in
            try order.append(row)
            return try body(row)
        }
        return RowPage(entries: entries, end: entries.count == length ? order.last : nil)
    }
}

/// Checks that ids arrive in the order that the database promises: texts, then blobs, each by their bytes.
private struct RowOrder {
    var last: SQLiteValue?

    mutating func append(_ row: SQLiteRow) throws(KeyStoreError) {
        let id = row[0]
        if let last, !Self.isInOrder(last, id) {
            throw KeyStoreError(
                .corruptStore,
                "the rows of table \(HeldRow.table.name) are out of order: the file is damaged or forged; restore it from a backup"
            )
        }
        last = id
    }

    private static func isInOrder(_ first: SQLiteValue, _ second: SQLiteValue) -> Bool {
        switch (first, second) {
        case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)): a.lexicographicallyPrecedes(b)
        case (.text, .blob): true
        default: false
        }
    }
}

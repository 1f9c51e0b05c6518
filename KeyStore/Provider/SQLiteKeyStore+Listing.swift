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
        var last: [SQLiteValue]?
        repeat {
            let page = try readOnce { (store) throws(KeyStoreError) in
                try store.page(of: HeldRow.self, where: condition, after: last, length: Self.pageLength) {
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
        var order = RowOrder(of: HeldRow.table)
        return try store.connection.rows(HeldRow.selectByUser, [.text(user)]) {
            (row) throws(KeyStoreError) in
            // A forged index may list a device repeatedly.
            try order.append(row)
            return try Self.ofOneRow { () throws(KeyStoreError) in
                let row: (id: SQLiteValue, held: Held) = (row[0], (try store.verified(row) as HeldRow).held)
                // The database found the row by a text that its declarations may compare differently.
                guard let device = row.held.device, let owner = device.user, StoreName.areEqual(owner, user) else {
                    throw .damagedRow(row.id, in: HeldRow.table.name)
                }
                return device
            }
        }
    }

    private static func ofOneRow(
        _ body: () throws(KeyStoreError) -> DeviceRecord
    ) throws(KeyStoreError) -> Result<DeviceRecord, KeyStoreError> {
        do throws(KeyStoreError) {
            return .success(try body())
        } catch {
            guard error.concernsOneDevice else { throw error }
            return .failure(error)
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

// MARK: Pages of ids
/// The ids of some of a provider's devices, in order.
package struct DevicePage: Sendable {
    /// The ids. The rows are not authenticated: read the device before using one.
    package let ids: [String]
    /// An error for each id that no store accepts: a forged one, meant to be mistaken for something else, such as a key
    /// or two lines.
    package let damaged: [KeyStoreError]
    /// Whether this is the last page.
    package var isLast: Bool { end == nil }

    fileprivate let end: [SQLiteValue]?
}

extension SQLiteKeyStore {
    /// Returns at most `count` ids after those of `page`, or the first ones for nil.
    package func devicePage(after page: DevicePage?, count: Int) throws(KeyStoreError) -> DevicePage {
        let next = try readOnce { (store) throws(KeyStoreError) in
            try store.page(
                of: HeldRow.self, where: HeldRow.isDevice, after: page?.end, length: count, HeldRow.listedID)
        }
        var ids: [String] = []
        var damaged: [KeyStoreError] = []
        for entry in next.entries {
            switch entry {
            case .success(let id): ids.append(id)
            case .failure(let error): damaged.append(error)
            }
        }
        return DevicePage(ids: ids, damaged: damaged, end: next.end)
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

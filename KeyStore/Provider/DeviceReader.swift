internal import Pushcrypt

/// A provider's devices in one snapshot, for whoever looks up many; of use while the call that gave it runs.
package struct DeviceReader {
    private let store: StoreTransaction

    fileprivate init(store: StoreTransaction) { self.store = store }

    /// The device with this id. The row is authenticated: nobody without the store key can swap its public key.
    ///
    /// Failures are `unknownDevice`, `removedDevice`, and `corruptStore` for a row that is damaged: they say nothing of
    /// other devices.
    package func device(id: String) throws(KeyStoreError) -> Result<DeviceRecord, KeyStoreError> {
        try Self.ofOneRow { () throws(KeyStoreError) in
            if let device = try store.device(id: id) { return device.record }
            if let removed = try store.removedDevice(id) { throw .removed(removed) }
            throw .unknownDevice(id)
        }
    }

    /// The devices of a user, by id; those whose rows are damaged as failures, none for a user whom no device has.
    ///
    /// A row that was deleted, or that the index hides, is not missed.
    package func devices(ofUser user: String) throws(KeyStoreError) -> [Result<DeviceRecord, KeyStoreError>] {
        var order = RowOrder(of: DeviceRow.table.name)
        return try store.connection.rows(DeviceRow.selectByUser, [.text(user)]) { (row) throws(KeyStoreError) in
            // An index that somebody has made may name a device again and again.
            try order.append(row[0])
            return try Self.ofOneRow { () throws(KeyStoreError) in
                let device: DeviceRow = try store.proved(row)
                // The database found it by a text that its declarations may compare in another way.
                guard let owner = device.record.user, StoreName.areEqual(owner, user) else {
                    throw .damagedRow(row[0], in: DeviceRow.table.name)
                }
                return device.record
            }
        }
    }

    private static func ofOneRow(
        _ body: () throws(KeyStoreError) -> DeviceRecord
    ) throws(KeyStoreError) -> Result<DeviceRecord, KeyStoreError> {
        do throws(KeyStoreError) {
            return .success(try body())
        } catch {
            switch error.code {
            case .corruptStore, .removedDevice, .unknownDevice: return .failure(error)
            default: throw error
            }
        }
    }
}

extension DeviceRow {
    fileprivate static let selectByUser = "\(table.select) WHERE user = ? ORDER BY id"
}

extension SQLiteKeyStore {
    /// Gives `body` the devices as they are now; it must not use this store, and what others write meanwhile it does not see.
    package func readDevices<R>(_ body: (DeviceReader) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try read { (store) throws(KeyStoreError) in try body(DeviceReader(store: store)) }
    }

    /// The device with this id, or nil. The row is authenticated: nobody without the store key can swap its public key.
    public func device(id: String) throws(KeyStoreError) -> DeviceRecord? {
        try readOnce { (store) throws(KeyStoreError) in try store.device(id: id)?.record }
    }

    /// The devices of a user, by id: those whose rows are damaged as failures (`corruptStore`), none for a user whom no
    /// device has. Whoever can write the database can hide a device here, as by deleting it, and cannot add one.
    public func devices(ofUser user: String) throws(KeyStoreError) -> [Result<DeviceRecord, KeyStoreError>] {
        try readDevices { (reader) throws(KeyStoreError) in try reader.devices(ofUser: user) }
    }
}

extension StoreTransaction {
    func device(id: String) throws(KeyStoreError) -> DeviceRow? { try row(key: .text(id)) }

    func removedDevice(_ id: String) throws(KeyStoreError) -> RemovedDevice? {
        let row: RemovedDeviceRow? = try row(key: .text(id))
        return row?.record
    }
}

internal import Pushcrypt

/// The ids of some of a provider's devices, in their order.
package struct DevicePage: Sendable {
    /// The ids. The rows are not authenticated: who uses one reads the device.
    package let ids: [String]
    /// A row for each id that no store takes: whoever made it means the id to be taken for something else, such as a key
    /// or two lines.
    package let damaged: [KeyStoreError]
    /// Whether no device follows.
    package var isLast: Bool { end == nil }

    fileprivate let end: SQLiteValue?
}

extension SQLiteKeyStore {
    /// The ids after those of `page`, from the first for nil: at most `count` rows. The last page has none after it.
    package func devicePage(after page: DevicePage?, count: Int) throws(KeyStoreError) -> DevicePage {
        let next = try readOnce { (store) throws(KeyStoreError) in
            try store.page(of: DeviceRow.self, after: page?.end, length: count, DeviceRow.listedID)
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

extension DeviceRow {
    fileprivate static func listedID(_ row: SQLiteRow) -> Result<String, KeyStoreError> {
        guard case .text(let bytes) = row[0], let id = String(exactly: bytes), DeviceID.isAllowed(id) else {
            return .failure(.damagedRow(row[0], in: table.name))
        }
        return .success(id)
    }
}

internal import Pushcrypt

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

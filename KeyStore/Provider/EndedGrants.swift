/// A relay's grant that has ended, and the device that a message was sent to with it.
package struct EndedGrant: Hashable, Sendable {
    /// The provider's name for the device.
    package let id: String
    /// The grant that was used.
    package let grant: String

    /// Creates a report.
    package init(id: String, grant: String) {
        self.id = id
        self.grant = grant
    }
}

extension SQLiteKeyStore {
    /// Forgets grants that have ended, and keeps those that phones have sent since; returns how many were forgotten.
    package func forgetGrants(_ batch: [EndedGrant]) throws(KeyStoreError) -> Int {
        var count = 0
        for start in stride(from: 0, to: batch.count, by: Self.importChunk) {
            let chunk = batch[start..<min(start + Self.importChunk, batch.count)]
            count += try write { (store) throws(KeyStoreError) in
                var count = 0
                for ended in chunk where try store.forget(ended) { count += 1 }
                return count
            }
        }
        return count
    }
}

extension StoreTransaction {
    fileprivate func forget(_ ended: EndedGrant) throws(KeyStoreError) -> Bool {
        do throws(KeyStoreError) {
            guard var record = try device(id: ended.id)?.record, record.grant == ended.grant else { return false }
            record.grant = nil
            try put(DeviceRow(record))
            return true
        } catch {
            // Every list reports a damaged row.
            guard error.concernsOneRow else { throw error }
            return false
        }
    }
}

public import Pushcrypt

/// What became of a batch of registrations.
public struct DeviceImportResult: Sendable {
    /// A registration that was not taken.
    public struct Refusal: Sendable {
        /// Its place in the batch, from 0.
        public let index: Int
        /// Why.
        public let error: KeyStoreError
    }

    /// How many devices are new.
    public fileprivate(set) var added = 0
    /// How many records have changed.
    public fileprivate(set) var updated = 0
    /// How many records said the same already.
    public fileprivate(set) var unchanged = 0
    /// What was not taken, and why; the others were.
    public fileprivate(set) var refused: [Refusal] = []
}

extension SQLiteKeyStore {
    /// The most registrations that one transaction takes.
    ///
    /// Random ids lie on pages all over the table: the more of them a transaction takes, the fewer pages are written
    /// twice. So many hold off other writers for half a second.
    public static let importChunk = 50_000

    /// Takes many registrations, each as `addDevice` would, 50 000 to a transaction.
    ///
    /// They are taken in the order of their ids, so a large batch costs less than many small ones.
    ///
    /// When it throws, whole chunks from the start of the batch have been taken; the same batch again does no harm.
    ///
    /// - Throws: what concerns the store and not one registration: `storeBusy`, `diskFull`, `inputOutput`.
    public func importDevices(
        _ batch: [(id: String, registration: DeviceRegistration)], replace: Bool = false, now: Timestamp
    ) throws(KeyStoreError) -> DeviceImportResult {
        // In the order of the table, so that a page is read and written once for all its rows; the index keeps several
        // registrations of one device in the order in which they came.
        let order = batch.indices.map { (id: Bytes(batch[$0].id.utf8), index: $0) }
            .sorted { a, b in a.id == b.id ? a.index < b.index : a.id.lexicographicallyPrecedes(b.id) }
        var result = DeviceImportResult()
        for start in stride(from: 0, to: order.count, by: Self.importChunk) {
            let chunk = order[start..<min(start + Self.importChunk, order.count)]
            result = try write { (store) throws(KeyStoreError) in
                var result = result
                for (_, index) in chunk {
                    do throws(KeyStoreError) {
                        let (id, registration) = batch[index]
                        result.count(try store.register(registration, id: id, replace: replace, now: now))
                    } catch {
                        guard error.concernsOneRow else { throw error }
                        result.refused.append(DeviceImportResult.Refusal(index: index, error: error))
                    }
                }
                return result
            }
        }
        result.refused.sort { $0.index < $1.index }
        return result
    }
}

extension DeviceImportResult {
    fileprivate mutating func count(_ outcome: RegistrationOutcome) {
        switch outcome {
        case .added: added += 1
        case .updated: updated += 1
        case .unchanged: unchanged += 1
        }
    }
}

extension KeyStoreError {
    fileprivate var concernsOneRow: Bool {
        code == .invalidName || code == .generationRollback || code == .topicMismatch
    }
}

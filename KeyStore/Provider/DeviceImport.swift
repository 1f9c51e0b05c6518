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
    public internal(set) var added = 0
    /// How many records have changed.
    public internal(set) var updated = 0
    /// How many records said the same already.
    public internal(set) var unchanged = 0
    /// What was not taken, and why; the others were.
    public internal(set) var refused: [Refusal] = []
}

extension SQLiteKeyStore {
    /// The most registrations that one transaction takes.
    public static let importChunk = 10_000

    /// Takes many registrations, each as `addDevice` would, 10 000 to a transaction.
    ///
    /// When it throws, whole chunks from the start of the batch have been taken; the same batch again does no harm.
    ///
    /// - Throws: what concerns the store and not one registration: `storeBusy`, `diskFull`, `inputOutput`.
    public func importDevices(
        _ batch: [(id: String, registration: DeviceRegistration)], replace: Bool = false, now: Timestamp
    ) throws(KeyStoreError) -> DeviceImportResult {
        var result = DeviceImportResult()
        for start in stride(from: 0, to: batch.count, by: Self.importChunk) {
            let chunk = start..<min(start + Self.importChunk, batch.count)
            result = try write { (store) throws(KeyStoreError) in
                var result = result
                for index in chunk {
                    do throws(KeyStoreError) {
                        let (id, registration) = batch[index]
                        switch try store.register(registration, id: id, replace: replace, now: now) {
                        case .added: result.added += 1
                        case .updated: result.updated += 1
                        case .unchanged: result.unchanged += 1
                        }
                    } catch {
                        guard error.concernsOneRow else { throw error }
                        result.refused.append(DeviceImportResult.Refusal(index: index, error: error))
                    }
                }
                return result
            }
        }
        return result
    }
}

extension KeyStoreError {
    fileprivate var concernsOneRow: Bool {
        code == .invalidName || code == .generationRollback || code == .topicMismatch
    }
}

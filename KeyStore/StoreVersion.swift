/// Tells a program that goes on for long when what it has read of a store may be out of date.
///
/// Two of one connection are equal when nothing has changed in between, whoever might have changed it.
package struct StoreVersion: Hashable, Sendable {
    private let others: Int64
    private let own: Int32
    /// Whether another database has taken the place of the one that this connection reads, such as a restored backup:
    /// `anotherConnection()` reads that one.
    package let isReplaced: Bool

    fileprivate init(others: Int64, own: Int32, isReplaced: Bool) {
        self.others = others
        self.own = own
        self.isReplaced = isReplaced
    }
}

extension SQLiteKeyStore {
    /// What state the store is in: a look at its file and one at its counter, a few microseconds.
    ///
    /// - Throws: `storeMissing` when the database has lost its name.
    package func version() throws(KeyStoreError) -> StoreVersion {
        var isReplaced = false
        if let directory {
            guard let facts = try FileFacts(at: directory.file(Self.databaseName)) else {
                throw StoreDirectory.missing(directory.path)
            }
            isReplaced = facts.identity != file
        }
        let state = try withConnection { (connection) throws(KeyStoreError) in try connection.state() }
        return StoreVersion(others: state.others, own: state.own, isReplaced: isReplaced)
    }
}

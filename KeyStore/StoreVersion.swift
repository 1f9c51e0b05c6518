internal import Pushcrypt

/// The state of a store; shows a long-running program whether its data may be out of date.
///
/// Two values of one connection are equal if nothing has changed in between.
package struct StoreVersion: Hashable, Sendable {
    private let others: Int64
    private let own: Int32
    /// Whether the database that this connection reads was replaced by another, such as a restored backup, or was changed
    /// although it could only be read here; `anotherConnection()` opens what is there now.
    package let isReplaced: Bool

    fileprivate init(others: Int64, own: Int32, isReplaced: Bool) {
        self.others = others
        self.own = own
        self.isReplaced = isReplaced
    }
}

extension SQLiteKeyStore {
    /// Returns the state of the store; takes a few microseconds.
    ///
    /// - Throws: `storeMissing` if the database no longer has its name.
    package func version() throws(KeyStoreError) -> StoreVersion {
        var isReplaced = false
        if let directory {
            guard let facts = try FileFacts(at: directory.file(Self.databaseName)) else {
                throw StoreDirectory.missing(directory.path)
            }
            isReplaced = facts.identity != file
            // Another process writes after all, and this connection never reads its log.
            if let readOnly {
                let hasLog = try LogFile.log.hasContent(in: directory)
                isReplaced = isReplaced || hasLog || facts.changedAt != readOnly.changedAt
            }
        }
        let state = try withConnection { (connection) throws(KeyStoreError) in try connection.state() }
        return StoreVersion(others: state.others, own: state.own, isReplaced: isReplaced)
    }
}

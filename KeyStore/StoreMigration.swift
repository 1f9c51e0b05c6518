internal import Pushcrypt

/// A step from one layout of a store to the next. A released one never changes.
package struct StoreMigration: Sendable {
    /// The layout that it changes.
    let layout: Int
    /// Changes tables and rows, each of which is authenticated as it is read.
    let change: @Sendable (StoreTransaction) throws(KeyStoreError) -> Void

    /// The steps from every released layout, in order. No earlier layout than this one was released.
    static let all: [StoreMigration] = []
}

extension SQLiteKeyStore {
    /// Brings a store of an earlier layout to this one in one transaction, after a copy beside it.
    ///
    /// - Parameter directory: Where the copy goes, as `keystore.db.layout-N`; nil for none.
    static func migrate(
        _ connection: SQLiteConnection, _ keys: StoreKeys, copyIn directory: StoreDirectory?, _ options: StoreOptions
    ) throws(KeyStoreError) {
        while try Schema.version(of: connection) < Schema.version {
            let layout = try Schema.version(of: connection)
            let copied = try connection.state().others
            // SQLite copies nothing inside a transaction that writes.
            if let directory {
                try connection.copy(to: "\(directory.file(databaseName))\(layoutSuffix)\(layout)", options)
            }
            try connection.transaction(.writing) { () throws(KeyStoreError) in
                // Another process may have changed or migrated the store by now.
                guard try connection.state().others == copied else { return }
                let store = StoreTransaction(
                    connection: connection, keys: keys, changes: TotalChanges(), reports: ReportedCertificates())
                for step in options.migrations where step.layout >= layout { try step.change(store) }
                try store.noteTotals()
                try connection.execute("PRAGMA user_version = \(Schema.version)")
            }
        }
    }

    /// What follows the database's name in that of its copy, before the number of the layout.
    static let layoutSuffix = ".layout-"

    /// Throws `newerVersion` if a later version has migrated the store while it was open.
    static func refuseOtherLayout(of connection: SQLiteConnection) throws(KeyStoreError) {
        let layout = try Schema.version(of: connection)
        guard layout != Schema.version else { return }
        throw KeyStoreError(
            .newerVersion,
            "\(connection.name) was changed to layout \(layout) by another version while it was open: upgrade this one too, and start it again"
        )
    }
}

extension SQLiteConnection {
    /// Writes this database to a file, and replaces one that has its name.
    fileprivate func copy(to path: String, _ options: StoreOptions) throws(KeyStoreError) {
        try FileFacts.removeFile(at: path)
        let file = try NewFile(path)
        do throws(KeyStoreError) {
            _ = try file.create()
            do {
                let copy = try SQLiteKeyStore.connect(file.temporary, named: path, options)
                try copy.receiveCopy(of: self)
                try copy.leaveLog()
            }
            try Descriptor(reading: file.temporary, named: path).synchronize()
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
    }
}

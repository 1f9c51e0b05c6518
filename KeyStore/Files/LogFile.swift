/// A file that SQLite keeps beside a store's database or, if that is a symbolic link, beside what it leads to.
enum LogFile: String {
    case log = "-wal"
    case index = "-shm"
    case journal = "-journal"

    /// Returns the properties; nil if there is no such file. The database exists.
    func facts(in directory: StoreDirectory) throws(KeyStoreError) -> FileFacts? {
        let path = try realPath(directory.file(SQLiteKeyStore.databaseName)) + rawValue
        let facts = try FileFacts(at: path)
        try facts?.requireRegular(path)
        return facts
    }

    func exists(in directory: StoreDirectory) throws(KeyStoreError) -> Bool { try facts(in: directory) != nil }

    func hasContent(in directory: StoreDirectory) throws(KeyStoreError) -> Bool {
        try facts(in: directory)?.size ?? 0 > 0
    }
}

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
internal import Pushcrypt

/// The file `store.key`: 32 random bytes, without which the database cannot be opened.
enum StoreKeyFile {
    static let name: StaticString = "store.key"
    static let newName: StaticString = "store.key.new"

    static func read(
        in directory: StoreDirectory, named name: StaticString = name
    ) throws(KeyStoreError) -> SecretBytes {
        try SecretBytes(count: StoreKDF.keyLength) { (key) throws(KeyStoreError) in
            try read(in: directory, named: name, into: &key)
        }
    }

    /// Reads the key into memory of its length.
    static func read(
        in directory: StoreDirectory, named name: StaticString = name, into key: inout MutableBytes
    ) throws(KeyStoreError) {
        let path = directory.file(name)
        guard try directory.has(name) else {
            throw KeyStoreError(
                .storeKeyMissing,
                "\(path) is missing, and the database cannot be opened without it: restore it from a backup")
        }
        let descriptor = try Descriptor(path, O_RDONLY)
        // The file opened may not be the one checked.
        let facts = try FileFacts(of: descriptor)
        if let problem = UnsafeFile.problems(of: path, facts).first { throw problem }
        guard facts.size == StoreKDF.keyLength else { throw wrongSize(path, facts.size) }
        let count = try descriptor.read(into: &key)
        guard count == StoreKDF.keyLength else { throw wrongSize(path, Int64(count)) }
    }

    private static func wrongSize(_ path: String, _ size: Int64) -> KeyStoreError {
        KeyStoreError(
            .corruptStore, "\(path) has \(size) bytes instead of \(StoreKDF.keyLength): restore it from a backup")
    }

    /// Creates the file, or uses the one left by an interrupted creation; the directory is locked.
    ///
    /// Never overwrites an existing key: it may be the only one that opens a database stored elsewhere.
    static func make(in directory: StoreDirectory) throws(KeyStoreError) -> SecretBytes {
        if try directory.has(name) { return try read(in: directory) }
        try directory.removeIfPresent(newName)
        let key = SecretBytes(randomCount: StoreKDF.keyLength)
        let descriptor = try directory.create(newName)
        try key.withSpan { (key) throws(KeyStoreError) in try descriptor.write(key) }
        try directory.rename(newName, to: name)
        return key
    }
}

internal import Pushcrypt

/// The file `store.key`: 32 random bytes, without which the database cannot be opened.
enum StoreKeyFile {
    static let name: StaticString = "store.key"
    static let newName: StaticString = "store.key.new"

    static func read(in directory: StoreDirectory) throws(KeyStoreError) -> SecretBytes {
        guard try directory.has(name) else {
            throw KeyStoreError(
                .storeKeyMissing,
                "\(directory.file(name)) is missing, and the database cannot be opened without it: restore it from a backup"
            )
        }
        return try read(at: directory.file(name))
    }

    fileprivate static func read(at path: String) throws(KeyStoreError) -> SecretBytes {
        let descriptor = try Descriptor(reading: path)
        let facts = try FileFacts(of: descriptor)
        try facts.requireRegular(path)
        guard facts.size == StoreKDF.keyLength else { throw wrongSize(path, facts.size) }
        return try SecretBytes(count: StoreKDF.keyLength) { (key) throws(KeyStoreError) in
            let count = try descriptor.read(into: &key)
            guard count == StoreKDF.keyLength else { throw wrongSize(path, Int64(count)) }
        }
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

/// A copy of `store.key` outside the store.
final class StoreKeyCopy {
    let path: String
    let key: SecretBytes

    init(at path: String) throws(KeyStoreError) {
        self.path = path
        key = try StoreKeyFile.read(at: path)
    }
}

/// Where the key of a store is that has no passphrase.
enum StoreKeySource {
    case file(in: StoreDirectory)
    case copy(StoreKeyCopy)

    var path: String {
        switch self {
        case .file(let directory): directory.file(StoreKeyFile.name)
        case .copy(let copy): copy.path
        }
    }

    func read() throws(KeyStoreError) -> SecretBytes {
        switch self {
        case .file(let directory): return try StoreKeyFile.read(in: directory)
        case .copy(let copy): return copy.key.withSpan { SecretBytes(copying: $0) }
        }
    }
}

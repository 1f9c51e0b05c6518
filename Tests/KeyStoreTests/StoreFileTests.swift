import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The files of a store: how they are made, and what is said when one is missing or damaged.
struct StoreFileTests {
    private func open(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: .quick)
    }

    @discardableResult
    private func create(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .create(in: scratch.store, passphrase: nil, options: .quick)
    }

    // MARK: Making

    @Test func everyFileIsItsOwnersAlone() throws {
        let scratch = try Scratch()
        let store = try create(scratch)
        try store.add()
        #expect(mode(of: scratch.store) == 0o700)
        #expect(try scratch.names() == ["keystore.db", "keystore.db-shm", "keystore.db-wal", "store.key"])
        for name in try scratch.names() { #expect(mode(of: scratch.file(name)) == 0o600, "\(name)") }
        #expect(try readFile(scratch.file("store.key")).count == 32)
    }

    @Test func theProcessMaskNeitherOpensNorClosesTheFiles() async throws {
        // The mask belongs to the whole process, so this is another one.
        for mask: mode_t in [0o000, 0o277] {
            let scratch = try Scratch()
            let path = scratch.store
            await #expect(processExitsWith: .success) { [path = path as String, mask = mask as mode_t] in
                umask(mask)
                let store = try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick)
                try store.add()
                for name in ["keystore.db", "keystore.db-shm", "keystore.db-wal", "store.key"] {
                    try #require(mode(of: path + "/" + name) == 0o600)
                }
            }
        }
    }

    @Test func aStoreIsNeverMadeOverAnother() throws {
        let scratch = try Scratch()
        let key = try create(scratch).add()
        #expect(code { try create(scratch) } == .storeExists)
        #expect(try open(scratch).keys() == [key])
    }

    @Test(arguments: ["", "a\u{0}b"])
    func aPathThatIsNoneIsRefused(_ path: String) {
        #expect(code { try SQLiteKeyStore.create(in: path) } == .inputOutput)
        #expect(code { try SQLiteKeyStore.open(in: path) } == .inputOutput)
    }

    // MARK: An interrupted creation

    /// The files left by a creation that ends after each of its steps.
    @Test(arguments: [
        [], ["store.key.new"], ["store.key"], ["store.key", "keystore.db.new"],
        ["store.key", "keystore.db.new", "keystore.db.new-journal"],
        ["store.key", "keystore.db.new", "keystore.db.new-wal", "keystore.db.new-shm"],
        // The log of a database that somebody removed.
        ["store.key", "keystore.db-wal", "keystore.db-shm"],
    ])
    func anInterruptedCreationIsFinishedByAnother(_ leftovers: [String]) throws {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        for name in leftovers {
            let content = name == "store.key" ? Bytes(0..<32) : Bytes(repeating: 0xa5, count: 5000)
            try writeFile(scratch.file(name), content)
        }
        #expect(code { try open(scratch) } == .storeMissing)
        let store = try create(scratch)
        let key = try store.add()
        #expect(try open(scratch).keys() == [key])
        #expect(try scratch.names() == ["keystore.db", "keystore.db-shm", "keystore.db-wal", "store.key"])
        if leftovers.contains("store.key") {
            // It may be the only key of a database that is kept elsewhere.
            #expect(try readFile(scratch.file("store.key")) == Bytes(0..<32))
        }
    }

    // MARK: Missing and damaged

    @Test(arguments: [0, 1, 31, 33, 64, 5000])
    func aKeyOfAnotherLengthIsRefused(_ count: Int) throws {
        let scratch = try Scratch()
        try create(scratch)
        try writeFile(scratch.file("store.key"), Bytes(repeating: 7, count: count))
        #expect(code { try open(scratch) } == .corruptStore)
    }

    @Test(arguments: 0..<32)
    func aKeyWithOneWrongBitOpensNothing(_ index: Int) throws {
        let scratch = try Scratch()
        try create(scratch)
        var key = try readFile(scratch.file("store.key"))
        key[index] ^= 0x10
        try writeFile(scratch.file("store.key"), key)
        #expect(code { try open(scratch) } == .wrongPassphrase)
    }

    @Test(arguments: [Bytes(), Bytes("not a database at all".utf8), Bytes(repeating: 0, count: 8192)])
    func aFileThatIsNoDatabaseIsRefused(_ content: Bytes) throws {
        let scratch = try Scratch()
        try create(scratch)
        try writeFile(scratch.file("keystore.db"), content)
        #expect(code { try open(scratch) } == .corruptStore)
    }

    @Test func theDatabaseOfAnotherProgramIsRefused() throws {
        let scratch = try Scratch()
        try create(scratch)
        unsafe unlink(scratch.file("keystore.db"))
        try writeFile(scratch.file("keystore.db"), [])
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            "CREATE TABLE t (a); PRAGMA user_version = 1")
        #expect(code { try open(scratch) } == .corruptStore)
    }

    /// The mark says whose it is, no matter what it holds.
    @Test func aStoreWithAnotherMarkIsRefused() throws {
        let scratch = try Scratch()
        try create(scratch)
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            "PRAGMA application_id = 1")
        #expect(code { try open(scratch) } == .corruptStore)
    }

    // MARK: Who is first

    @Test func whileOneProcessMakesAStoreAnotherWaits() throws {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        let directory = try StoreDirectory(existing: scratch.store)
        try directory.withLock(waiting: 0) { () throws(KeyStoreError) in
            let failure = error {
                try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .impatient)
            }
            if failure?.code != .storeBusy { throw KeyStoreError(.inputOutput, "not busy: \(failure as Any)") }
        }
        try create(scratch)
    }
}

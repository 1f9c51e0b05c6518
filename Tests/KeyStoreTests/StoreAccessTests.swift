import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// No mode, link or owner stops a store; what other users can read or change is a warning.
struct StoreAccessTests {
    private static let isRoot = geteuid() == 0
    private func open(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: .quick)
    }

    @discardableResult
    private func create(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .create(in: scratch.store, passphrase: nil, options: .quick)
    }

    /// Opens, reads, and changes the store; returns what it warns of.
    private func use(_ scratch: Scratch) throws -> [String] {
        let store = try open(scratch)
        try store.setSetting("a", named: "title")
        #expect(try open(scratch).setting(named: "title") == "a")
        #expect(store.check().filter { $0.severity != .note } == store.warnings())
        return store.warnings().map(\.message)
    }

    // MARK: Modes

    /// Other users reach a file through its directory.
    @Test(arguments: [
        (0o700, 0o666, []), (0o2700, 0o777, []), (0o755, 0o600, []), (0o711, 0o700, []), (0o744, 0o644, []),
        (0o750, 0o640, ["store.key (mode 0640), keystore.db (mode 0640)"]),
        (0o701, 0o604, ["store.key (mode 0604), keystore.db (mode 0604)"]),
        (0o711, 0o602, ["store.key (mode 0602), keystore.db (mode 0602)"]),
        (0o777, 0o600, ["directory"]), (0o1777, 0o600, ["directory"]), (0o702, 0o600, ["directory"]),
        (0o2775, 0o660, ["store.key (mode 0660), keystore.db (mode 0660)", "directory"]),
    ])
    func aModeIsAWarning(_ directory: mode_t, _ file: mode_t, _ expected: [String]) throws {
        let scratch = try Scratch()
        try create(scratch)
        for name in try scratch.names() { try #require(unsafe chmod(scratch.file(name), file) == 0) }
        try #require(unsafe chmod(scratch.store, directory) == 0)
        let texts = expected.map {
            $0 == "directory" ? "other users can replace the files" : "other users can read or change \($0)"
        }
        #expect(try use(scratch).elementsEqual(texts) { $0.hasPrefix($1 + " in ") })
    }

    @Test func theWarningSaysWhatEndsIt() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/it's; rm -rf x"
        let store = try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick)
        try #require(unsafe chmod(path, 0o777) == 0)
        #expect(
            store.warnings().map(\.fix) == [
                #"if that is not meant, run: chmod -R go= '\#(scratch.path)/it'\''s; rm -rf x'"#
            ])
    }

    /// A log that a reader created would be the reader's, and the owner could change nothing any more.
    @Test(.enabled(if: isRoot, "only root can become another user"), arguments: [0o440, 0o640] as [mode_t])
    func aReaderLeavesNoLog(_ bits: mode_t) async throws {
        let scratch = try Scratch()
        try create(scratch).setSetting("a", named: "title")
        // Everybody's way to the directory.
        try #require(unsafe chmod(scratch.path + "/..", 0o711) == 0)
        for path in [scratch.path, scratch.store] {
            try #require(unsafe chown(path, 0, 4711) == 0)
            try #require(unsafe chmod(path, 0o770) == 0)
        }
        for name in try scratch.names() {
            try #require(unsafe chown(scratch.file(name), 0, 4711) == 0)
            try #require(unsafe chmod(scratch.file(name), bits) == 0)
        }
        let path = scratch.store
        // The user belongs to the whole process, so this is another one.
        await #expect(processExitsWith: .success) { [path = path as String] in
            try #require(setgid(4711) == 0 && setuid(4711) == 0)
            let store = try SQLiteKeyStore.open(in: path)
            try #require(try store.setting(named: "title") == "a")
            let error = error { try store.setSetting("b", named: "title") }
            try #require(error?.description == "cannot write \(path)/keystore.db: Permission denied")
        }
        #expect(try scratch.names() == ["keystore.db", "store.key"])
        try open(scratch).setSetting("c", named: "title")
    }

    // MARK: Links

    /// SQLite has the log of a database behind a link beside the database: it is missed there.
    @Test func theLogOfADatabaseBehindALinkIsNotLeftOut() throws {
        guard let disk = try SmallDisk(kilobytes: 900) else { return }
        let home = try Home()
        _ = try home.store.generateProviderKey(at: start)
        let copy = disk.path + "/copy"
        for path in [copy, disk.path + "/real"] { try #require(unsafe mkdir(path, 0o700) == 0) }
        for name in ["keystore.db", "keystore.db-wal"] {
            try writeFile("\(disk.path)/real/\(name)", try readFile(home.scratch.file(name)))
        }
        try writeFile("\(copy)/store.key", try readFile(home.scratch.file("store.key")))
        try #require(unsafe symlink("../real/keystore.db", copy + "/keystore.db") == 0)
        try disk.setReadOnly(true)
        let found = Result { try SQLiteKeyStore.open(in: copy, passphrase: nil, options: .quick).providerKeys() }
        // Either it is read with its log, or not at all.
        #expect((try? found.get())?.count ?? 1 == 1)
        try disk.setReadOnly(false)
        let store = try SQLiteKeyStore.open(in: copy, passphrase: nil, options: .quick)
        #expect(try store.providerKeys().count == 1)
    }

    @Test func aDatabaseWithTwoNamesIsAWarning() throws {
        let scratch = try Scratch()
        try create(scratch)
        for name in try scratch.names() {
            try #require(unsafe link(scratch.file(name), "\(scratch.path)/\(name)") == 0)
        }
        let found = try use(scratch)
        #expect(found.count == 1 && found[0].hasPrefix("'\(scratch.file("keystore.db"))' has 2 names (hard links)"))
        try #require(unsafe unlink(scratch.path + "/keystore.db") == 0)
        #expect(try use(scratch) == [])
    }

    // MARK: Other than files

    @Test(arguments: ["keystore.db", "keystore.db-wal", "store.key"])
    func onlyRegularFilesAreAccepted(_ name: String) throws {
        for make in [{ unsafe mkdir($0, 0o700) }, { unsafe mkfifo($0, 0o600) }] as [(String) -> Int32] {
            let scratch = try Scratch()
            try create(scratch)
            unsafe unlink(scratch.file(name))
            try #require(make(scratch.file(name)) == 0)
            let error = error { try open(scratch) }
            #expect(error?.code == .inputOutput)
            #expect(error?.description == "\(scratch.file(name)) is not a regular file")
        }
    }
}

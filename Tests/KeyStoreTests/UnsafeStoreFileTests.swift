import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Files and directories that others can reach: the store is not opened, and the error says how to fix it.
struct UnsafeStoreFileTests {
    private static let isRoot = geteuid() == 0

    private func open(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: .quick)
    }

    @discardableResult
    private func create(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .create(in: scratch.store, passphrase: nil, options: .quick, at: start)
    }

    /// Makes the store unsafe in one way.
    struct Unsafe: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fix: String
        let spoil: @Sendable (Scratch) throws -> Void
    }

    @Test func aLogLeftReadOnlyIsMadeWritable() throws {
        let scratch = try Scratch()
        try create(scratch).setSetting("a", named: "title")
        for name in ["keystore.db-shm", "keystore.db-wal"] {
            // Not empty: SQLite itself changes the mode of an empty one.
            try writeFile(scratch.file(name), [0])
            #expect(unsafe chmod(scratch.file(name), 0o400) == 0)
        }
        let store = try open(scratch)
        try store.setSetting("b", named: "title")
        #expect(mode(of: scratch.file("keystore.db-shm")) == 0o600)
        // A database that is read-only stays so.
        #expect(unsafe chmod(scratch.file("keystore.db"), 0o400) == 0)
        #expect(unsafe chmod(scratch.file("keystore.db-shm"), 0o400) == 0)
        #expect(try open(scratch).setting(named: "title") == "b")
        #expect(mode(of: scratch.file("keystore.db-shm")) == 0o400)
        withExtendedLifetime(store) {}
    }

    private static let files = ["keystore.db", "keystore.db-wal", "keystore.db-shm", "store.key"]

    private static var unsafeWays: [Unsafe] {
        var ways = [
            Unsafe(testDescription: "directory open to the group", fix: "chmod 0700 '") {
                #expect(unsafe chmod($0.store, 0o750) == 0)
            },
            Unsafe(testDescription: "directory open to all", fix: "chmod 0700 '") {
                #expect(unsafe chmod($0.store, 0o701) == 0)
            },
            Unsafe(testDescription: "parent writable by all", fix: "chmod o-w '") {
                #expect(unsafe chmod($0.path, 0o777) == 0)
            },
            Unsafe(testDescription: "directory a link", fix: "$(realpath '") {
                #expect(unsafe rename($0.store, $0.path + "/real") == 0)
                #expect(unsafe symlink($0.path + "/real", $0.store) == 0)
            },
            Unsafe(testDescription: "directory a file", fix: "name another directory") {
                #expect(unsafe rename($0.store, $0.path + "/real") == 0)
                try writeFile($0.store, [])
            },
        ]
        for name in files {
            for bits: mode_t in [0o640, 0o604, 0o620, 0o602, 0o666] {
                ways.append(
                    Unsafe(testDescription: "\(name) with mode \(String(bits, radix: 8))", fix: "chmod 0600 '") {
                        try touch($0.file(name))
                        #expect(unsafe chmod($0.file(name), bits) == 0)
                    })
            }
            ways.append(
                Unsafe(testDescription: "\(name) a link", fix: "realpath '") {
                    try touch($0.file(name))
                    #expect(unsafe rename($0.file(name), $0.path + "/real") == 0)
                    #expect(unsafe symlink($0.path + "/real", $0.file(name)) == 0)
                })
            ways.append(
                Unsafe(testDescription: "\(name) under two names", fix: "cp -p '") {
                    try touch($0.file(name))
                    #expect(unsafe link($0.file(name), $0.path + "/other") == 0)
                })
            ways.append(
                Unsafe(testDescription: "\(name) a pipe", fix: "mv '") {
                    unsafe unlink($0.file(name))
                    #expect(unsafe mkfifo($0.file(name), 0o600) == 0)
                })
        }
        return ways
    }

    /// Ways that only the superuser can prepare.
    private static var foreignWays: [Unsafe] {
        guard isRoot else {
            print("SKIPPED: stores of another owner (needs root)")
            return []
        }
        var ways = [
            Unsafe(testDescription: "directory of another user", fix: "chown 0 '") {
                #expect(unsafe chown($0.store, 1, 1) == 0)
            },
            Unsafe(testDescription: "parent writable by another group", fix: "chmod g-w '") {
                #expect(unsafe chown($0.path, 0, 1) == 0)
                #expect(unsafe chmod($0.path, 0o770) == 0)
            },
        ]
        for name in files {
            ways.append(
                Unsafe(testDescription: "\(name) of another user", fix: "chown 0 '") {
                    try touch($0.file(name))
                    #expect(unsafe chown($0.file(name), 1, 1) == 0)
                })
        }
        return ways
    }

    private static func touch(_ path: String) throws {
        if unsafe access(path, F_OK) != 0 { try writeFile(path, []) }
    }

    @Test(arguments: unsafeWays + foreignWays)
    func anUnsafeStoreIsRefusedWithTheCommandThatFixesIt(_ way: Unsafe) throws {
        let scratch = try Scratch()
        _ = try create(scratch).generateDeviceKey(at: start)
        #expect(try open(scratch).deviceKeys().count == 1)
        try way.spoil(scratch)
        let error = error { try open(scratch) }
        #expect(error?.code == .unsafeStoreFile)
        #expect(error?.description.contains(way.fix) == true, "\(error?.description ?? "none")")
    }

    /// A checked file may be a link by the time that it is opened.
    @Test func noFileIsOpenedThroughALink() throws {
        let scratch = try Scratch()
        try create(scratch)
        for (name, link) in [("store.key", "key"), ("keystore.db", "database")] {
            try #require(unsafe symlink(scratch.file(name), scratch.path + "/" + link) == 0)
        }
        #expect(code { try FileFacts(of: Descriptor(scratch.file("store.key"), O_RDONLY)) } == nil)
        #expect(code { try FileFacts(of: Descriptor(scratch.path + "/key", O_RDONLY)) } == .inputOutput)
        #expect(
            code { try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0) } == nil)
        #expect(code { try SQLiteConnection(path: scratch.path + "/database", busyTimeout: 0) } == .inputOutput)
    }

    @Test func aStickyParentIsSafe() throws {
        let scratch = try Scratch()
        try create(scratch)
        try #require(unsafe chmod(scratch.path, 0o1777) == 0)
        #expect(code { try open(scratch) } == nil)
    }

    /// Its owner can rename the store, sticky or not.
    @Test(.enabled(if: isRoot, "only root can give a directory away"), arguments: [0o755, 0o1777] as [mode_t])
    func aParentOfAnotherUserIsRefused(_ bits: mode_t) throws {
        let scratch = try Scratch()
        try create(scratch)
        try #require(unsafe chown(scratch.path, 12_345, 0) == 0)
        try #require(unsafe chmod(scratch.path, bits) == 0)
        #expect(code { try open(scratch) } == .unsafeStoreFile)
    }

    @Test func aStoreIsNotMadeWhereItWouldBeUnsafe() throws {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        try #require(unsafe chmod(scratch.store, 0o755) == 0)
        #expect(code { try create(scratch) } == .unsafeStoreFile)
        #expect(try scratch.names() == [])
    }

    @Test func aQuoteInAPathDoesNotLeaveItsCommand() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/it's; rm -rf x"
        _ = try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick, at: start)
        try #require(unsafe chmod(path, 0o755) == 0)
        let error = error { try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick) }
        #expect(error?.description.hasSuffix(#"/it'\''s; rm -rf x'"#) == true)
    }

    /// The user's own group may have more members, unless it has the user's own number.
    @Test(.enabled(if: isRoot, "only root can change its group"))
    func aParentThatASharedGroupMayWriteIsRefused() async throws {
        let scratch = try Scratch()
        try create(scratch)
        #expect(unsafe chown(scratch.path, 0, 1) == 0)
        #expect(unsafe chmod(scratch.path, 0o770) == 0)
        let path = scratch.store
        // The group belongs to the whole process, so this is another one.
        await #expect(processExitsWith: .success) { [path = path as String] in
            try #require(setegid(1) == 0)
            try #require(code { try SQLiteKeyStore.open(in: path) } == .unsafeStoreFile)
        }
    }
}

import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A store is copied while it is in use, and the copy put in its place again.
struct BackupTests {
    private let home: Home
    private var scratch: Scratch { home.scratch }
    private var backup: String { scratch.path + "/backup" }
    private var key: String { scratch.path + "/backup.key" }

    init() throws {
        home = try Home()
        _ = try home.store.generateSenderKey(at: start)
        try add(0..<20)
    }

    private func add(_ numbers: Range<Int>) throws {
        for number in numbers {
            let device = DeviceRegistration(publicKey: .numbered(number), createdAt: start)
            try home.store.addDevice(device, id: "d\(number)", at: start)
        }
    }

    private func restore(to directory: String? = nil, key: String? = nil, replace: Bool = false) throws {
        try SQLiteKeyStore.restore(
            backup, to: directory ?? scratch.store, key: key, passphrase: nil, replace: replace, options: .impatient,
            at: start)
    }

    /// Uses a copy of the directory, which nobody has open.
    private func elsewhere() throws -> String {
        let directory = scratch.path + "/elsewhere"
        try restore(to: directory, key: key)
        return directory
    }

    @Test func aBackupIsOneFileWithEverythingInIt() throws {
        let sender = try home.store.senderKey(named: nil).record
        try home.store.backUp(to: backup)
        try home.store.backUpKey(to: key)
        #expect(mode(of: backup) == 0o600 && mode(of: key) == 0o600)
        for rest in [".new", ".new-wal", ".new-shm", "-wal", "-shm"] {
            #expect(unsafe access(backup + rest, F_OK) != 0)
        }
        // What comes later is not in it.
        try add(20..<30)
        let store = try SQLiteKeyStore.open(in: elsewhere(), passphrase: nil, options: .quick)
        #expect(try store.deviceCount() == 20)
        #expect(try store.senderKey(named: nil).record == sender)
        #expect(try store.restoredAt() == start)
        #expect(store.check().allSatisfy { $0.severity == .note })
        try store.setSetting("a", named: "title")
    }

    @Test func nothingIsOverwritten() throws {
        try writeFile(backup, [1])
        try writeFile(key, [1])
        #expect(code { try home.store.backUp(to: backup) } == .storeExists)
        #expect(code { try home.store.backUpKey(to: key) } == .storeExists)
        #expect(try readFile(backup) == [1] && readFile(key) == [1])
    }

    @Test func aDamagedStoreGivesNoBackup() throws {
        try home.raw().execute("DELETE FROM devices WHERE id = 'd3'")
        #expect(code { try home.store.backUp(to: backup) } == .corruptStore)
        #expect(unsafe access(backup, F_OK) != 0)
    }

    @Test func aBackupNeedsItsKey() throws {
        try home.store.backUp(to: backup)
        let other = try Home()
        #expect(code { try restore(to: scratch.path + "/none") } == .storeKeyMissing)
        #expect(
            code { try restore(to: scratch.path + "/none", key: other.scratch.file("store.key")) } == .wrongPassphrase)
        #expect(unsafe access(scratch.path + "/none/keystore.db", F_OK) != 0)
    }

    @Test(arguments: ["damaged", "short", "log"])
    func whatIsNoBackupIsRefusedAndTheStoreStays(_ kind: String) throws {
        try home.store.backUp(to: backup)
        let bytes = try readFile(backup)
        switch kind {
        case "damaged":
            try SQLiteConnection(path: backup, busyTimeout: 0).execute("DELETE FROM devices WHERE id = 'd3'")
        case "short": try writeFile(backup, Bytes(bytes.prefix(8192)))
        default: try writeFile(backup + "-wal", [1])
        }
        let directory = scratch.path + "/elsewhere"
        try home.store.backUpKey(to: key)
        #expect(code { try restore(to: directory, key: key) } == .corruptStore)
        #expect(code { try restore(replace: true) } == .corruptStore)
        #expect(try home.store.deviceCount() == 20)
        #expect(try scratch.names().allSatisfy { !$0.contains(".new") })
    }

    @Test func aStoreInUseIsNotReplaced() throws {
        try home.store.backUp(to: backup)
        #expect(code { try restore(replace: true) } == .storeBusy)
    }

    @Test func aStoreThatRotatedSinceIsReplacedOnRequestOnly() throws {
        try home.store.backUp(to: backup)
        try home.store.backUpKey(to: key)
        let directory = try elsewhere()
        // Devices that were added since are no reason.
        try SQLiteKeyStore.open(in: directory, passphrase: nil, options: .quick).setSetting("a", named: "title")
        try restore(to: directory)
        do {
            let store = try SQLiteKeyStore.open(in: directory, passphrase: nil, options: .quick)
            #expect(try store.setting(named: "title") == nil)
            _ = try store.rotateSenderKey(at: start)
        }
        #expect(code { try restore(to: directory) } == .storeExists)
        try restore(to: directory, replace: true)
        let store = try SQLiteKeyStore.open(in: directory, passphrase: nil, options: .quick)
        #expect(try store.senderKey(named: nil).record.generation == 1)
    }

    @Test func anotherOrADamagedStoreIsReplacedOnRequestOnly() throws {
        try home.store.backUp(to: backup)
        try home.store.backUpKey(to: key)
        let other = try Scratch()
        _ = try SQLiteKeyStore.create(in: other.store, passphrase: nil, options: .quick, at: start)
        #expect(code { try restore(to: other.store, key: key) } == .storeExists)
        try writeFile(other.file("keystore.db"), Bytes(repeating: 7, count: 5000))
        #expect(code { try restore(to: other.store, key: key) } == .storeExists)
        try restore(to: other.store, key: key, replace: true)
        #expect(try SQLiteKeyStore.open(in: other.store, passphrase: nil, options: .quick).deviceCount() == 20)
    }

    @Test func aProcessNoticesThatItsStoreWasReplaced() throws {
        try home.store.backUp(to: backup)
        let log = try readFile(scratch.file("keystore.db-wal"))
        try #require(!log.isEmpty)
        try #require(unsafe rename(backup, scratch.file("keystore.db")) == 0)
        #expect(try home.store.version().isReplaced)
        #expect(code { try home.store.setSetting("a", named: "title") } == .inputOutput)
        #expect(try home.store.anotherConnection().deviceCount() == 20)
    }

    @Test func theLogOfANewDatabaseIsNotDeleted() throws {
        try home.store.backUp(to: backup)
        try home.store.backUpKey(to: key)
        let directory = try elsewhere()
        var old: SQLiteKeyStore? = try .open(in: directory, passphrase: nil, options: .quick)
        _ = try old?.deviceCount()
        for name in ["keystore.db-wal", "keystore.db-shm"] { unsafe unlink("\(directory)/\(name)") }
        try restore(to: scratch.path + "/third", key: key)
        try #require(unsafe rename(scratch.path + "/third/keystore.db", "\(directory)/keystore.db") == 0)
        let new = try SQLiteKeyStore.open(in: directory, passphrase: nil, options: .quick)
        try new.setSetting("a", named: "title")
        old = nil
        withExtendedLifetime(new) { #expect(unsafe access("\(directory)/keystore.db-wal", F_OK) == 0) }
    }
}

import Foundation
import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A store with a provider key and twenty devices, and the paths of its backup.
struct BackupScene {
    let home: Home
    var scratch: Scratch { home.scratch }
    var backup: String { scratch.path + "/backup" }
    var key: String { scratch.path + "/backup.key" }
    /// A directory for a restored store, which nobody has open.
    var elsewhere: String { scratch.path + "/elsewhere" }

    init() throws {
        home = try Home()
        _ = try home.store.generateProviderKey(topic: .app, at: start)
        try add(0..<20)
    }

    func add(_ numbers: Range<Int>) throws {
        for number in numbers {
            let device = DeviceRegistration(publicKey: .numbered(number), createdAt: start)
            try home.store.addDevice(device, id: "d\(number)", at: start)
        }
    }

    /// The files beside the store.
    func names() throws -> [String] { try list(scratch.path).sorted() }
}

/// A store is copied while it is in use.
struct BackupTests {
    private let scene: BackupScene
    private var home: Home { scene.home }
    private var scratch: Scratch { scene.scratch }
    private var backup: String { scene.backup }
    private var key: String { scene.key }

    init() throws { scene = try BackupScene() }

    @Test func aBackupIsOneFileWithEverythingInIt() throws {
        let provider = try home.store.providerKey()
        try home.store.backUp(to: backup, key: key)
        #expect(mode(of: backup) == 0o600 && mode(of: key) == 0o600)
        #expect(try scene.names() == ["backup", "backup.key", "store"])
        #expect(try readFile(key) == readFile(scratch.file("store.key")))
        // Later devices are not in it.
        try scene.add(20..<30)
        _ = try SQLiteKeyStore.restore(
            backup, to: scene.elsewhere, key: key, passphrase: nil, replace: false, options: .impatient, at: start)
        let store = try SQLiteKeyStore.open(in: scene.elsewhere, passphrase: nil, options: .quick)
        #expect(try store.deviceCount() == 20)
        #expect(try store.providerKey() == provider)
        #expect(store.check().allSatisfy { $0.severity == .note })
        try store.setSetting("a", named: "title")
    }

    /// It has every device that was added before it began, and of later ones none without all earlier ones.
    @Test func aBackupIsOfOneMoment() throws {
        let most = 220
        Thread.detachNewThread { [store = home.store] in
            for number in 20..<most {
                let device = DeviceRegistration(publicKey: .numbered(number), createdAt: start)
                _ = try? store.addDevice(device, id: "d\(number)", at: start)
            }
        }
        for number in 0..<200 {
            let before = try home.store.deviceCount()
            try home.store.anotherConnection().backUp(to: "\(backup)\(number)", key: "\(key)\(number)")
            let after = try home.store.deviceCount()
            let place = "\(scene.elsewhere)\(number)"
            _ = try SQLiteKeyStore.restore(
                "\(backup)\(number)", to: place, key: "\(key)\(number)", passphrase: nil, replace: false,
                options: .impatient, at: start)
            let ids = try SQLiteKeyStore.open(in: place, passphrase: nil, options: .quick)
                .devicePage(after: nil, count: most).entries.map { try $0.get() }
            #expect((before...after).contains(ids.count))
            #expect(Set(ids) == Set((0..<ids.count).map { "d\($0)" }))
            if before == most { return }
        }
        Issue.record("the other thread has not added its devices")
    }

    @Test(arguments: [0o000, 0o277] as [mode_t])
    func theProcessMaskDoesNotChangeTheMode(_ mask: mode_t) async throws {
        // The mask belongs to the whole process, so this is another one.
        let (store, path) = (scratch.store, scratch.path)
        await #expect(processExitsWith: .success) {
            [store = store as String, path = path as String, mask = mask as mode_t] in
            umask(mask)
            try SQLiteKeyStore.open(in: store).backUp(to: path + "/b", key: path + "/k")
            try #require(mode(of: path + "/b") == 0o600 && mode(of: path + "/k") == 0o600)
        }
    }

    @Test func theFilesOfOthersStay() throws {
        let others = [".new", ".new-wal", ".new-shm", ".new-journal", "-shm", "-journal"]
        for end in others { try writeFile(backup + end, [7]) }
        try home.store.backUp(to: backup)
        #expect(code { try home.store.backUp(to: backup) } == .storeExists)
        for end in others { #expect(try readFile(backup + end) == [7]) }
    }

    @Test(arguments: ["/backup", "//./backup", "/store/../backup", "/folder/backup"])
    func theKeyNeedsAnotherFile(_ path: String) throws {
        try #require(unsafe symlink(".", scratch.path + "/folder") == 0)
        let error = error { try home.store.backUp(to: backup, key: scratch.path + path) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("is the file of the backup") == true)
        #expect(try scene.names() == ["folder", "store"])
        // A link in the path does not matter otherwise.
        try home.store.backUp(to: scratch.path + "/folder/backup")
        #expect(mode(of: backup) == 0o600)
    }

    @Test func aDamagedStoreGivesNoBackup() throws {
        try home.raw().execute("UPDATE states SET revision = x'00' WHERE name = 'provider'")
        let error = error { try home.store.backUp(to: backup, key: key) }
        #expect(error?.code == .corruptStore)
        #expect(error?.description.contains("row 'provider' of table states is damaged") == true)
        #expect(try scene.names() == ["store"])
    }

    @Test func withoutTheKeyThereIsNoBackup() throws {
        // The system creates no file there.
        #expect(code { try home.store.backUp(to: backup, key: "/proc/pushcrypt.key") } == .inputOutput)
        #expect(try scene.names() == ["store"])
    }

    @Test func aProcessNoticesThatItsStoreWasReplaced() throws {
        try home.store.backUp(to: backup)
        let log = try readFile(scratch.file("keystore.db-wal"))
        try #require(!log.isEmpty)
        try #require(unsafe rename(backup, scratch.file("keystore.db")) == 0)
        #expect(try home.store.version().isReplaced)
        let error = error { try home.store.setSetting("a", named: "title") }
        #expect(error?.code == .inputOutput)
        let text = "was replaced while it was open: open it again, and repeat the change"
        #expect(error?.description.hasSuffix(text) == true)
        #expect(try home.store.anotherConnection().deviceCount() == 20)
    }
}

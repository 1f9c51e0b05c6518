import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A backup becomes a new store, or nothing changes; ``RestoreInPlaceTests`` restore over a store.
struct RestoreTests {
    private let scene: BackupScene
    private var home: Home { scene.home }
    private var scratch: Scratch { scene.scratch }
    private var backup: String { scene.backup }
    private var key: String { scene.key }
    private var elsewhere: String { scene.elsewhere }

    init() throws {
        scene = try BackupScene()
        try home.store.backUp(to: backup, key: key)
    }

    @discardableResult
    private func restore(
        _ path: String? = nil, to directory: String? = nil, key: String? = nil, passphrase: StorePassphrase? = nil,
        replace: Bool = false
    ) throws -> KeyStoreError? {
        try SQLiteKeyStore.restore(
            path ?? backup, to: directory ?? scratch.store, key: key, passphrase: passphrase, replace: replace,
            options: .impatient, at: start + 9
        ).unread
    }

    private func open(_ directory: String) throws -> SQLiteKeyStore {
        try .open(in: directory, passphrase: nil, options: .quick)
    }

    // MARK: The backup and its key

    @Test func aDirectoryThatWasThereStays() throws {
        try #require(unsafe mkdir(elsewhere, 0o700) == 0)
        #expect(code { try restore(to: elsewhere) } == .storeKeyMissing)
        #expect(try list(elsewhere).isEmpty)
    }

    @Test func aBackupAndItsKeyAreFilesAndTheKeyHas32Bytes() throws {
        let pipe = scratch.path + "/pipe"
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        for path in [pipe, scratch.store, scratch.path + "/none"] {
            #expect(code { try restore(to: elsewhere, key: path) } == .inputOutput)
            #expect(code { try restore(path, to: elsewhere, key: key) } == .inputOutput)
        }
        for count in [0, 31, 33] {
            try writeFile(key, Bytes(repeating: 7, count: count))
            #expect(code { try restore(to: elsewhere, key: key) } == .corruptStore)
        }
        #expect(unsafe access(elsewhere, F_OK) != 0)
    }

    /// As a link to the newest backup, on a volume where all files have one mode.
    @Test func aBackupAndItsKeyMayBeLinksAndOpenToOthers() throws {
        for path in [backup, key] {
            try #require(unsafe chmod(path, 0o777) == 0)
            try #require(unsafe symlink(path, path + ".link") == 0)
        }
        try restore(backup + ".link", to: elsewhere, key: key + ".link")
        #expect(try open(elsewhere).deviceCount() == 20)
        for name in ["keystore.db", "store.key"] { #expect(mode(of: "\(elsewhere)/\(name)") == 0o600) }
    }

    /// The newest changes are in its log.
    @Test func aLinkToAStoreInUseIsNoBackup() throws {
        try #require(unsafe symlink(scratch.file("keystore.db"), scratch.path + "/link") == 0)
        try home.store.setSetting("a", named: "title")
        #expect(code { try restore(scratch.path + "/link", to: elsewhere, key: key) } == .corruptStore)
    }

    @Test(arguments: ["short", "log", "text"])
    func aDamagedBackupIsRefusedAndTheStoreStays(_ kind: String) throws {
        let bytes = try readFile(backup)
        let fault: String
        switch kind {
        case "short":
            try writeFile(backup, Bytes(bytes.prefix(8192)))
            fault = "is damaged"
        case "log":
            try writeFile(backup + "-wal", [1])
            fault = "has a log beside it"
        default:
            try writeFile(backup, Bytes("no database".utf8))
            fault = "is damaged"
        }
        for directory in [elsewhere, scratch.store] {
            let isThere = directory == scratch.store
            let error = error { try restore(to: directory, key: isThere ? nil : key, replace: isThere) }
            #expect(error?.code == .corruptStore)
            let text = try #require(error?.description)
            #expect(text.hasPrefix(backup) && text.contains(fault) && !text.contains(".new"), "\(text)")
        }
        #expect(try home.store.deviceCount() == 20)
        #expect(try scratch.names() == ["keystore.db", "keystore.db-shm", "keystore.db-wal", "store.key"])
        #expect((try? list(elsewhere))?.isEmpty ?? true)
    }

    /// One damaged row stops neither a backup nor a restore: every other device is worth having.
    @Test func aDamagedRowIsCopiedAndNamed() throws {
        try home.raw().execute("UPDATE devices SET generation = 2 WHERE id = 'd3'")
        let found = try home.store.backUp(to: backup + "2")
        #expect(found.count == 1 && found[0].message.contains("row 'd3' of table devices is damaged"))
        let restored = try SQLiteKeyStore.restore(
            backup + "2", to: elsewhere, key: key, passphrase: nil, replace: false, options: .impatient, at: start + 9)
        #expect(restored.unread == nil && restored.damaged == found)
        let store = try open(elsewhere)
        #expect(code { try store.device(id: "d3") } == .corruptStore)
        #expect(try store.device(id: "d4")?.generation == 1)
    }

    @Test func aPassphraseNeedsNoKey() throws {
        let other = try Scratch()
        let passphrase = try StorePassphrase(Bytes("secret".utf8).span)
        let store = try SQLiteKeyStore.create(in: other.store, passphrase: passphrase, options: .quick)
        let file = other.path + "/backup"
        #expect(code { try store.backUp(to: file, key: other.path + "/key") } == .storeKeyMissing)
        #expect(try list(other.path) == ["store"])
        try store.backUp(to: file)
        for given in [passphrase, nil] {
            let error = error { try restore(file, to: elsewhere, key: key, passphrase: given) }
            #expect(error?.code == .wrongPassphrase)
            #expect(error?.description.contains("leave the key out") == true)
        }
        #expect(try list(elsewhere).isEmpty)
        #expect(code { try restore(file, to: elsewhere) } == .passphraseNeeded)
        #expect(code { try restore(to: elsewhere, passphrase: passphrase) } == .wrongPassphrase)
        try restore(file, to: elsewhere, passphrase: passphrase)
        #expect(try list(elsewhere) == ["keystore.db"])
    }
}

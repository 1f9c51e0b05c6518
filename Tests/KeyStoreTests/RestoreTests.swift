import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A backup takes the place of a store, or nothing changes.
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
        replace: Bool = false, withRemoved: Bool = false
    ) throws -> String? {
        try SQLiteKeyStore.restore(
            path ?? backup, to: directory ?? scratch.store, key: key, passphrase: passphrase, replace: replace,
            withRemoved: withRemoved, options: .impatient, at: start
        ).formerKey
    }

    private func open(_ directory: String) throws -> SQLiteKeyStore {
        try .open(in: directory, passphrase: nil, options: .quick)
    }

    /// A store with another key, which nobody has open.
    private func otherStore() throws -> Scratch {
        let other = try Scratch()
        _ = try SQLiteKeyStore.create(in: other.store, passphrase: nil, options: .quick, at: start)
        return other
    }

    // MARK: The backup and its key

    @Test func aBackupNeedsItsKey() throws {
        let other = try otherStore()
        let directory = scratch.path + "/a/b"
        let missing = error { try restore(to: directory) }
        #expect(missing?.code == .storeKeyMissing)
        #expect(missing?.description.hasPrefix(directory + "/store.key is missing") == true)
        let wrong = error { try restore(to: directory, key: other.file("store.key")) }
        #expect(wrong?.code == .wrongPassphrase)
        #expect(wrong?.description.hasPrefix(other.file("store.key") + " is not the key of " + backup) == true)
        // Not even a directory is left.
        #expect(try scene.names() == ["backup", "backup.key", "store"])
    }

    @Test func aDirectoryThatWasThereStays() throws {
        try #require(unsafe mkdir(elsewhere, 0o700) == 0)
        #expect(code { try restore(to: elsewhere) } == .storeKeyMissing)
        #expect(try list(elsewhere).isEmpty)
    }

    @Test func theCopyOfTheKeyIsAFileOf32Bytes() throws {
        let pipe = scratch.path + "/pipe"
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        for path in [pipe, scratch.store, scratch.path + "/none"] {
            #expect(code { try restore(to: elsewhere, key: path) } == .inputOutput)
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

    @Test(arguments: ["/none", "/store", "/pipe"])
    func aBackupIsARegularFile(_ name: String) throws {
        try #require(unsafe mkfifo(scratch.path + "/pipe", 0o600) == 0)
        #expect(code { try restore(scratch.path + name, to: elsewhere, key: key) } == .inputOutput)
        #expect(code { try restore("/dev/zero", to: elsewhere, key: key) } == .inputOutput)
        #expect(unsafe access(elsewhere, F_OK) != 0)
    }

    @Test(arguments: ["rows", "short", "log", "text"])
    func whatIsNoBackupIsRefusedAndTheStoreStays(_ kind: String) throws {
        let bytes = try readFile(backup)
        let fault: String
        switch kind {
        case "rows":
            try SQLiteConnection(path: backup, busyTimeout: 0).execute(
                "UPDATE devices SET generation = 2 WHERE id = 'd3'")
            fault = "row 'd3' of table devices is damaged"
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
        #expect(unsafe access(elsewhere, F_OK) != 0)
    }

    @Test func aPassphraseNeedsNoKey() throws {
        let other = try Scratch()
        let passphrase = try StorePassphrase(Bytes("secret".utf8).span)
        let store = try SQLiteKeyStore.create(in: other.store, passphrase: passphrase, options: .quick, at: start)
        let file = other.path + "/backup"
        #expect(code { try store.backUp(to: file, key: other.path + "/key") } == .storeKeyMissing)
        #expect(try list(other.path) == ["store"])
        try store.backUp(to: file)
        for given in [passphrase, nil] {
            let error = error { try restore(file, to: elsewhere, key: key, passphrase: given) }
            #expect(error?.code == .wrongPassphrase)
            #expect(error?.description.contains("leave the key out") == true)
        }
        #expect(unsafe access(elsewhere, F_OK) != 0)
        #expect(code { try restore(file, to: elsewhere) } == .passphraseNeeded)
        #expect(code { try restore(to: elsewhere, passphrase: passphrase) } == .wrongPassphrase)
        try restore(file, to: elsewhere, passphrase: passphrase)
        #expect(try list(elsewhere) == ["keystore.db"])
    }

    // MARK: The present store

    @Test func aStoreInUseIsNotReplaced() throws {
        let before = try readFile(scratch.file("keystore.db"))
        #expect(code { try restore(replace: true) } == .storeBusy)
        #expect(try readFile(scratch.file("keystore.db")) == before)
        #expect(try scratch.names() == ["keystore.db", "keystore.db-shm", "keystore.db-wal", "store.key"])
        try scene.add(20..<21)
        #expect(try home.reopened().deviceCount() == 21)
    }

    /// Otherwise it could rotate a key between the comparison and its replacement.
    @Test func aStoreIsLockedBeforeItIsCompared() throws {
        _ = try home.store.rotateSigningKey(at: start)
        #expect(code { try restore() } == .storeBusy)
    }

    @Test func whileAnotherRestoreRunsThisWaits() throws {
        try restore(to: elsewhere, key: key)
        try StoreDirectory(existing: elsewhere).withLock(waiting: 0) { () throws(KeyStoreError) in
            let failure = error { try restore(to: elsewhere) }
            #expect(failure?.code == .storeBusy)
            #expect(failure?.description.contains("is creating or restoring a store in") == true)
        }
        try restore(to: elsewhere)
    }

    @Test func aStoreThatRotatedSinceIsReplacedOnRequestOnly() throws {
        try restore(to: elsewhere, key: key)
        // Settings and devices that were added since are no reason.
        try open(elsewhere).setSetting("a", named: "title")
        try restore(to: elsewhere)
        #expect(try open(elsewhere).setting(named: "title") == nil)
        let lost = try open(elsewhere).rotateSigningKey(at: start)
        let error = error { try restore(to: elsewhere) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("has rotated the signing key of 'default' since the backup") == true)
        #expect(try open(elsewhere).providerKey() == lost)
        #expect(try restore(to: elsewhere, replace: true) == nil)
        // Phones may know the epoch that is lost: the store knows that it is old, until it rotates.
        let restored = try open(elsewhere).providerKey()
        #expect(restored.epoch == 0 && restored.provenCertificate == lost.certificate)
        let next = try open(elsewhere).rotateSigningKey(at: start)
        #expect(next.epoch > lost.epoch && next.certificate?.floor == next.epoch && next.warning == nil)
        #expect(try list(elsewhere).sorted().filter { !$0.hasPrefix("keystore.db-") } == ["keystore.db", "store.key"])
    }

    @Test func whatHasChangedSinceIsSaidAndReplacedOnRequestOnly() throws {
        try restore(to: elsewhere, key: key)
        do {
            let store = try open(elsewhere)
            try store.removeDevice(id: "d3", reason: "lost", at: start)
            let registration = DeviceRegistration(publicKey: .numbered(99), createdAt: start)
            try store.addDevice(registration, id: "new", owner: .user("anna"), at: start)
            let known = DeviceRegistration(publicKey: .numbered(4), createdAt: start)
            try store.addDevice(known, id: "d4", owner: .user("bert"), replace: true, at: start)
            try store.add(to: "own")
        }
        let refusal = try #require(error { try restore(to: elsewhere) })
        #expect(refusal.code == .storeExists)
        for text in [
            "1 device that the backup lacks ('new')", "1 device with an older state in the backup ('d4')",
            "1 device key that the backup lacks", "1 removed device that stays removed ('d3')",
        ] { #expect(refusal.description.contains(text), "\(refusal)") }
        #expect(try open(elsewhere).deviceCount() == 20)
        // The removal is the store's: it outlives the backup, unless the caller says otherwise.
        try restore(to: elsewhere, replace: true)
        #expect(try open(elsewhere).deviceCount() == 19)
        let removed = code {
            try open(elsewhere).readDevices { (reader) throws(KeyStoreError) in try reader.device(id: "d3") }
        }
        #expect(removed == .removedDevice)
        #expect(try open(elsewhere).check().allSatisfy { $0.severity == .note })
        #expect(code { try restore(to: elsewhere) } == .storeExists)
        try restore(to: elsewhere, replace: true, withRemoved: true)
        #expect(try open(elsewhere).deviceCount() == 20)
        try restore(to: elsewhere)
    }

    /// Otherwise another answer to the message would be the first.
    @Test func firstAnswersOutliveABackup() throws {
        try restore(to: elsewhere, key: key)
        let row = AnswerRow(id: [1], digest: [2], openedAt: start, endsAt: start)
        do {
            let store = try open(elsewhere)
            try store.write { (store) throws(KeyStoreError) in try store.put(row) }
        }
        try restore(to: elsewhere, replace: true)
        let kept = try open(elsewhere).read { (store) throws(KeyStoreError) -> AnswerRow? in
            try store.row(key: .blob(row.id))
        }
        #expect(kept?.digest == row.digest)
    }

    /// Later epochs may be the answer to a theft, which the backup knows nothing of.
    @Test(arguments: [false, true]) func anAnswerSecretThatMayBeStolenDoesNotComeBack(_ hasRotated: Bool) throws {
        _ = try home.store.answerSecret(at: start)
        let later = scratch.path + "/later"
        try home.store.backUp(to: later)
        try restore(later, to: elsewhere, key: key)
        let before = try open(elsewhere).answerSecret(at: start).withBytes { Bytes(copying: $0) }
        if hasRotated { _ = try open(elsewhere).rotateSigningKey(stolen: true, anyway: true, at: start + 5) }
        try restore(later, to: elsewhere, replace: true)
        let after = try open(elsewhere).answerSecret(at: start + 6).withBytes { Bytes(copying: $0) }
        #expect((before == after) == !hasRotated)
    }

    @Test func aPushKeyThatTheBackupLacksIsLostOnRequestOnly() throws {
        try restore(to: elsewhere, key: key)
        let first = try open(elsewhere).addPushKey(at: start)
        let refusal = try #require(error { try restore(to: elsewhere) })
        #expect(refusal.code == .storeExists && refusal.description.contains("a push key that the backup lacks"))
        #expect(try open(elsewhere).pushKey() == first)
        try restore(to: elsewhere, replace: true)
        #expect(try open(elsewhere).pushKey() == nil)
    }

    @Test func aSecretThatWasTakenOutComesBackOnRequestOnly() throws {
        _ = try home.store.rotateSigningKey(at: start)
        let later = scratch.path + "/later"
        try home.store.backUp(to: later)
        try restore(later, to: elsewhere, key: key)
        let secret = try open(elsewhere).providerSecret()
        _ = try open(elsewhere).takeProviderKeyOffline(secret, at: start)
        let error = error { try restore(later, to: elsewhere) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("still holds the secret of provider key 'default'") == true)
        try restore(later, to: elsewhere, replace: true)
        #expect(try !open(elsewhere).providerKey().isOffline)
    }

    @Test func aStoreWithANewerProviderKeyIsReplacedOnRequestOnly() throws {
        try restore(to: elsewhere, key: key)
        _ = try open(elsewhere).generateProviderKey(named: "second", at: start)
        let error = error { try restore(to: elsewhere) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("has a provider key 'second' that the backup lacks") == true)
        try restore(to: elsewhere, replace: true)
        #expect(try open(elsewhere).providerKeys().count == 1)
    }

    @Test func anotherStoreIsReplacedOnRequestOnly() throws {
        let other = try otherStore()
        let former = try readFile(other.file("store.key"))
        let error = error { try restore(to: other.store, key: key) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("holds another store than the backup") == true)
        #expect(try other.names() == ["keystore.db", "store.key"])
        // Its key is kept, since it opens its backups.
        #expect(try restore(to: other.store, key: key, replace: true) == other.file("store.key.old"))
        #expect(try readFile(other.file("store.key.old")) == former)
        #expect(mode(of: other.file("store.key.old")) == 0o600)
        #expect(try readFile(other.file("store.key")) == readFile(key))
        #expect(try open(other.store).deviceCount() == 20)
    }

    @Test func aFormerKeyIsNeverOverwritten() throws {
        let other = try otherStore()
        try writeFile(other.file("store.key.old"), Bytes(0..<32))
        let error = error { try restore(to: other.store, key: key, replace: true) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("store.key.old exists already") == true)
        #expect(try readFile(other.file("store.key.old")) == Bytes(0..<32))
        #expect(try open(other.store).deviceCount() == 0)
        // With the same key, there is none to keep.
        try writeFile(key, try readFile(other.file("store.key")))
        try open(other.store).backUp(to: other.path + "/backup")
        #expect(try restore(other.path + "/backup", to: other.store, key: key) == nil)
        #expect(try readFile(other.file("store.key.old")) == Bytes(0..<32))
    }

    @Test func anUnreadableStoreIsReplacedOnRequestOnly() throws {
        let other = try otherStore()
        try writeFile(other.file("keystore.db"), Bytes(repeating: 7, count: 5000))
        for _ in 0..<2 {
            let error = error { try restore(to: other.store, key: key) }
            #expect(error?.code == .storeExists)
            #expect(error?.description.contains("cannot be compared with the backup") == true)
        }
        try restore(to: other.store, key: key, replace: true)
        #expect(try open(other.store).deviceCount() == 20)
    }

    @Test func aStoreOfAnotherLayoutCannotBeCompared() throws {
        try restore(to: elsewhere, key: key)
        try SQLiteConnection(path: elsewhere + "/keystore.db", busyTimeout: 0).execute(
            "PRAGMA user_version = 1000")
        let error = error { try restore(to: elsewhere) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("cannot be compared with the backup") == true)
    }

    @Test(arguments: [Bytes(repeating: 7, count: 32), Bytes(repeating: 7, count: 5)])
    func aKeyWithoutItsStoreIsReplacedOnRequestOnly(_ former: Bytes) throws {
        try #require(unsafe mkdir(elsewhere, 0o700) == 0)
        try writeFile(elsewhere + "/store.key", former)
        let error = error { try restore(to: elsewhere, key: key) }
        #expect(error?.code == .storeExists)
        #expect(error?.description.contains("store.key is another key than \(key)") == true)
        #expect(try readFile(elsewhere + "/store.key") == former)
        #expect(try restore(to: elsewhere, key: key, replace: true) == elsewhere + "/store.key.old")
        #expect(try readFile(elsewhere + "/store.key.old") == former)
    }

    /// The same store without its key can still be compared: the backup's is the same.
    @Test func aLostKeyIsRestored() throws {
        try restore(to: elsewhere, key: key)
        try #require(unsafe unlink(elsewhere + "/store.key") == 0)
        try restore(to: elsewhere, key: key)
        #expect(try open(elsewhere).deviceCount() == 20)
    }

    @Test func theLogOfANewDatabaseIsNotDeleted() throws {
        try restore(to: elsewhere, key: key)
        var old: SQLiteKeyStore? = try open(elsewhere)
        _ = try old?.deviceCount()
        for name in ["keystore.db-wal", "keystore.db-shm"] { unsafe unlink("\(elsewhere)/\(name)") }
        try restore(to: scratch.path + "/third", key: key)
        try #require(unsafe rename(scratch.path + "/third/keystore.db", "\(elsewhere)/keystore.db") == 0)
        let new = try open(elsewhere)
        try new.setSetting("a", named: "title")
        old = nil
        withExtendedLifetime(new) { #expect(unsafe access("\(elsewhere)/keystore.db-wal", F_OK) == 0) }
    }
}

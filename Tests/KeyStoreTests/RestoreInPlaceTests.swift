import Foundation
import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A backup becomes the content of a store that is there, while processes use it.
struct RestoreInPlaceTests {
    private let scene: BackupScene
    private var home: Home { scene.home }
    private var store: SQLiteKeyStore { scene.home.store }
    private var scratch: Scratch { scene.scratch }
    private var backup: String { scene.backup }
    private var key: String { scene.key }

    init() throws {
        scene = try BackupScene()
        try scene.home.store.backUp(to: scene.backup, key: scene.key)
    }

    /// Restores over the store; returns why nothing of it was kept.
    @discardableResult
    private func restore(
        _ path: String? = nil, to directory: String? = nil, key: String? = nil, replace: Bool = true
    ) throws -> KeyStoreError? {
        try SQLiteKeyStore.restore(
            path ?? backup, to: directory ?? scratch.store, key: key, passphrase: nil, replace: replace,
            options: .impatient, at: start + 100
        ).unread
    }

    private func open(_ directory: String) throws -> SQLiteKeyStore {
        try .open(in: directory, passphrase: nil, options: .quick)
    }

    /// A store with another key, which nobody has open.
    private func otherStore() throws -> Scratch {
        let other = try Scratch()
        _ = try SQLiteKeyStore.create(in: other.store, passphrase: nil, options: .quick)
        return other
    }

    private var files: [String] { get throws { try scratch.names().filter { !$0.hasPrefix("keystore.db-") } } }

    // MARK: Processes go on

    @Test func aStoreIsReplacedOnRequestOnly() throws {
        try scene.add(20..<25)
        let refusal = error { try restore(replace: false) }
        #expect(refusal?.code == .storeExists && refusal?.description.contains("already exists at") == true)
        #expect(try store.deviceCount() == 25 && files == ["keystore.db", "store.key"])
        #expect(try restore() == nil)
        #expect(try home.reopened().deviceCount() == 20)
    }

    /// A connection that was open sees the backup in its next transaction, and its changes are not lost.
    @Test func aProcessGoesOnWithTheBackup() throws {
        let version = try store.version()
        let snapshot = try store.readDevices { (reader) throws(KeyStoreError) in
            let before = try reader.device(id: "d3").publicKey
            do { _ = try restore() } catch { throw error as? KeyStoreError ?? KeyStoreError(.inputOutput, "") }
            return try reader.device(id: "d3").publicKey == before
        }
        #expect(snapshot)
        #expect(try store.version() != version && !store.version().isReplaced)
        try scene.add(20..<21)
        #expect(try home.reopened().deviceCount() == 21)
        #expect(store.check().allSatisfy { $0.severity == .note }, "\(store.check())")
    }

    /// Whoever reads or writes meanwhile finds the former store or the backup, whole.
    @Test func readersAndWritersMeetNoHalf() async throws {
        let (backup, directory) = (backup, scratch.store)
        try scene.add(20..<400)
        let registered = await withTaskGroup(of: Int.self) { group in
            group.addTask {
                for _ in 0..<20 {
                    _ = try? SQLiteKeyStore.restore(
                        backup, to: directory, key: nil, passphrase: nil, replace: true, options: .quick, at: start)
                }
                return 0
            }
            for number in 0..<3 {
                group.addTask { [home] in
                    var done = 0
                    for round in 0..<60 {
                        let id = "new\(number)-\(round)"
                        let device = DeviceRegistration(
                            publicKey: .numbered(1000 + 100 * number + round), createdAt: start)
                        guard let store = try? home.reopened(),
                            (try? store.addDevice(device, id: id, at: start)) != nil,
                            let count = try? store.deviceCount(), count >= 20
                        else { continue }
                        done += 1
                    }
                    return done
                }
            }
            return await group.reduce(0, +)
        }
        #expect(registered == 180)
        #expect(store.check().allSatisfy { $0.severity == .note }, "\(store.check())")
    }

    @Test func whileAnotherRestoreRunsThisWaits() throws {
        try StoreDirectory(existing: scratch.store).withLock(waiting: 0) { () throws(KeyStoreError) in
            let failure = error { try restore() }
            #expect(failure?.code == .storeBusy)
            #expect(failure?.description.contains("is creating or restoring a store in") == true)
        }
        #expect(try restore() == nil)
    }

    /// One that goes on writing for longer than a restore waits.
    @Test func aWriterInTheMiddleIsWaitedForAndNamed() throws {
        try store.write { (_) throws(KeyStoreError) in
            let failure = error { try restore() }
            #expect(failure?.code == .storeBusy)
            #expect(failure?.description.contains(scratch.file("keystore.db")) == true, "\(failure as Any)")
        }
        #expect(try files == ["keystore.db", "store.key"])
    }

    /// At any moment: the store is the former one or the backup, and the next restore does the rest.
    @Test(arguments: [0, 3, 10, 20, 40, 80]) func aRestoreThatIsKilledLeavesOneOfBoth(_ milliseconds: Int) async throws
    {
        try scene.add(20..<200)
        let (backup, directory) = (backup, scratch.store)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [backup = backup as String, directory = directory as String, milliseconds = milliseconds as Int] in
            Thread.detachNewThread {
                usleep(UInt32(1000 * milliseconds))
                kill(getpid(), SIGKILL)
            }
            while true {
                _ = try SQLiteKeyStore.restore(
                    backup, to: directory, key: nil, passphrase: nil, replace: true, options: .quick, at: start)
            }
        }
        let count = try home.reopened().deviceCount()
        #expect(count == 20 || count == 200)
        #expect(!home.store.check().contains { $0.severity == .error })
        try restore()
        #expect(try store.deviceCount() == 20 && files == ["keystore.db", "store.key"])
    }

    // MARK: What is kept

    @Test func removalsOutliveABackup() throws {
        try store.removeDevice(id: "d3", reason: "lost", at: start + 1)
        _ = try store.removeDevices([LostDevice(id: "d4", at: start + 2)], at: start + 2)
        try scene.add(20..<21)
        let removals = try ["d3", "d4"].map { try store.held($0) }
        try restore()
        #expect(try store.deviceCount() == 18 && ["d3", "d4"].map { try store.held($0) } == removals)
        #expect(try store.device(id: "d20") == nil, "phones register again")
    }

    /// A device that its phone ended stays ended, no matter what the clocks said.
    @Test func anEndOutlivesABackup() throws {
        let end = RemovedDevice(
            id: "d3", removedAt: Timestamp(milliseconds: 1),
            signing: RemovedDevice.Signing(sequence: DeviceEnd.sequence))
        _ = try store.importDevices([.removed(end)], at: start)
        try restore()
        #expect(try store.held("d3")?.isEnd == true)
    }

    /// Otherwise another answer to the message would be the first.
    @Test func firstAnswersOutliveABackup() throws {
        func answers() throws -> Int64 { try home.raw().integer("SELECT count(*) FROM answers WHERE digest = x'02'") }
        try home.raw().execute("INSERT INTO answers VALUES (x'01', x'02', 3, 4)")
        try restore()
        #expect(try answers() == 1)
        try store.backUp(to: backup + "2")
        try home.raw().execute("UPDATE answers SET digest = x'05'")
        try restore(backup + "2")
        #expect(try answers() == 0)
    }

    /// Phones may know the epoch that is lost: the store knows that it is old, until it rotates.
    @Test func laterCertificatesOutliveABackup() throws {
        let lost = try store.rotateSigningKey(at: start)
        try restore()
        let restored = try store.providerKey()
        #expect(restored.epoch == 0 && restored.provenCertificate == lost.certificate)
        // Restored again, it still knows.
        try restore()
        #expect(try store.providerKey().provenCertificate == lost.certificate)
        let next = try store.rotateSigningKey(at: start)
        #expect(next.epoch > lost.epoch && next.certificate?.floor == next.epoch && next.warning == nil)
    }

    /// Later epochs may be the answer to a theft, which the backup knows nothing of.
    @Test(arguments: [false, true]) func anAnswerSecretThatMayBeStolenDoesNotComeBack(_ hasRotated: Bool) throws {
        let before = try store.answerSecret(at: start).withBytes { Bytes(copying: $0) }
        try store.backUp(to: backup + "2")
        if hasRotated { _ = try store.rotateSigningKey(stolen: true, anyway: true, at: start + 5) }
        try restore(backup + "2")
        let after = try store.answerSecret(at: start + 6).withBytes { Bytes(copying: $0) }
        #expect((before == after) == !hasRotated)
    }

    /// A key that was replaced since the backup may have been stolen.
    @Test func thePushKeyThatWasReplacedDoesNotComeBack() throws {
        _ = try store.addPushKey(at: start)
        try store.backUp(to: backup + "2")
        try store.removePushKey()
        let (push, next) = (try store.addPushKey(at: start + 1), try store.addNextPushKey(at: start + 2))
        try restore(backup + "2")
        let keys = try #require(try store.pushKeys(at: start + 3))
        #expect(keys.current == push && keys.next == next)
    }

    @Test func aPushKeyThatWasRemovedDoesNotComeBack() throws {
        _ = try store.addPushKey(at: start)
        try store.backUp(to: backup + "2")
        try store.removePushKey()
        try restore(backup + "2")
        #expect(try store.pushKeys(at: start + 3) == nil)
    }

    @Test func aDamagedRowIsLeftOut() throws {
        try store.removeDevice(id: "d3", at: start + 1)
        try store.removeDevice(id: "d4", at: start + 1)
        try home.raw().execute("UPDATE devices SET removed = removed + 1 WHERE id = 'd3'")
        #expect(try restore() == nil)
        #expect(try store.device(id: "d3") != nil && store.device(id: "d4") == nil)
    }

    // MARK: A store that cannot be read

    @Test(arguments: ["text", "empty", "layout", "header", "middle", "short"])
    func aStoreThatCannotBeReadIsReplacedAndNothingIsKept(_ kind: String) throws {
        let directory = scene.elsewhere
        #expect(try restore(to: directory, key: key, replace: false) == nil)
        let database = directory + "/keystore.db"
        do { try open(directory).removeDevice(id: "d3", at: start + 1) }
        var bytes = try readFile(database)
        switch kind {
        case "text": bytes = Bytes(repeating: 7, count: 5000)
        case "empty": bytes = []
        case "layout": bytes[63] = 99
        case "header": bytes.replaceSubrange(0..<100, with: Bytes(repeating: 0xff, count: 100))
        case "middle":
            bytes.replaceSubrange(4096..<bytes.count, with: Bytes(repeating: 0xa5, count: bytes.count - 4096))
        default: bytes = Bytes(bytes.prefix(4096))
        }
        try writeFile(database, bytes)
        let refusal = error { try restore(to: directory, replace: false) }
        #expect(refusal?.code == .storeExists)
        #expect(try readFile(database) == bytes)
        let unread = try restore(to: directory)
        #expect(unread != nil, "\(kind)")
        let restored = try open(directory)
        #expect(try restored.deviceCount() == 20)
        #expect(restored.check().allSatisfy { $0.severity == .note }, "\(restored.check())")
    }

    // MARK: The key

    @Test func aStoreWithAnotherKeyIsKept() throws {
        let other = try otherStore()
        let (database, former) = (try readFile(other.file("keystore.db")), try readFile(other.file("store.key")))
        let refusal = error { try restore(to: other.store, key: key) }
        #expect(refusal?.code == .wrongPassphrase && refusal?.description.contains("name an empty directory") == true)
        #expect(try readFile(other.file("keystore.db")) == database && readFile(other.file("store.key")) == former)
        // As after a copy of the key alone.
        try writeFile(other.file("store.key"), try readFile(key))
        let second = error { try restore(to: other.store) }
        #expect(second?.code == .storeExists && second?.description.contains("holds another store") == true)
        #expect(try readFile(other.file("keystore.db")) == database)
        #expect(try other.names() == ["keystore.db", "store.key"])
    }

    @Test func anotherKeyWithoutAStoreIsKept() throws {
        let directory = scene.elsewhere
        try #require(unsafe mkdir(directory, 0o700) == 0)
        let former = Bytes(repeating: 7, count: 32)
        try writeFile(directory + "/store.key", former)
        for replace in [false, true] {
            #expect(code { try restore(to: directory, key: key, replace: replace) } == .wrongPassphrase)
        }
        #expect(try readFile(directory + "/store.key") == former && list(directory) == ["store.key"])
        // A damaged one opens nothing.
        try writeFile(directory + "/store.key", Bytes(repeating: 7, count: 5))
        #expect(code { try restore(to: directory, key: key, replace: false) } == .storeExists)
        #expect(try restore(to: directory, key: key) == nil)
        #expect(try open(directory).deviceCount() == 20)
    }

    @Test func aLostKeyIsRestored() throws {
        try #require(unsafe unlink(scratch.file("store.key")) == 0)
        #expect(code { try restore() } == .storeKeyMissing)
        #expect(try restore(key: key) == nil)
        #expect(try home.reopened().deviceCount() == 20)
    }

    // MARK: Deleted secrets

    @Test func noFileKeepsDataThatTheBackupLacks() throws {
        let secret = "a-device-that-the-backup-lacks"
        let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
        _ = try store.addDevice(registration, id: secret, at: start)
        #expect(try scratch.bytes().contains(Bytes(secret.utf8)))
        try restore()
        #expect(try !scratch.bytes().contains(Bytes(secret.utf8)))
    }

    @Test func theLogOfADatabaseThatIsGoneIsNotApplied() throws {
        let directory = scene.elsewhere
        try restore(to: directory, key: key, replace: false)
        try scene.add(20..<25)
        try writeFile(directory + "/keystore.db-wal", readFile(scratch.file("keystore.db-wal")))
        try writeFile(directory + "/keystore.db-journal", [1, 2, 3])
        try #require(unsafe unlink(directory + "/keystore.db") == 0)
        try restore(to: directory, replace: false)
        #expect(try open(directory).deviceCount() == 20)
        #expect(try !list(directory).contains("keystore.db-journal"))
    }
}

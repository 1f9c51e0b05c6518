import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A file system of a given size in memory, or nil where this process may not mount one.
final class SmallDisk: Sendable {
    let path: String

    init?(kilobytes: Int) throws {
        let path = "/tmp/pushcrypt-disk-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try #require(unsafe mkdir(path, 0o700) == 0)
        self.path = path
        let size = "size=\(kilobytes)k,mode=700"
        guard unsafe mount("tmpfs", path, "tmpfs", 0, size) == 0 else {
            unsafe rmdir(path)
            print("SKIPPED: disks that are full or read-only (needs the right to mount)")
            return nil
        }
    }

    func setReadOnly(_ readOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
        // A process that another test is starting may still hold a file open for writing, until it becomes its program.
        for _ in 0..<6000 {
            if unsafe mount("tmpfs", path, "tmpfs", flags, nil) == 0 { return }
            try #require(errno == EBUSY)
            usleep(10_000)
        }
        try #require(errno == 0)
    }

    /// Fills the disk.
    func fill() throws {
        let descriptor = unsafe open(path + "/filler", O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        let block = Bytes(repeating: 0x55, count: 4096)
        while unsafe block.withUnsafeBytes({ unsafe write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
    }

    func empty() { unsafe unlink(path + "/filler") }

    deinit {
        unsafe umount2(path, Int32(MNT_DETACH))
        unsafe rmdir(path)
    }
}

/// No room, and no right to write.
struct FullDiskTests {
    private func registration() -> DeviceRegistration {
        DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
    }

    /// A value can be larger than SQLite holds (`SQLITE_TOOBIG`, 18), and that is no damage.
    @Test func aValueThatIsTooLargeIsNoDamage() throws {
        let failure = try SQLiteConnection(path: SQLiteConnection.memory).failure(18)
        #expect(failure.code == .inputOutput && "\(failure)".contains("larger than a store holds"))
    }

    @Test func aChangeThatDoesNotFitHasNotHappened() throws {
        guard let disk = try SmallDisk(kilobytes: 600) else { return }
        let store = try SQLiteKeyStore.create(in: disk.path + "/store", passphrase: nil, options: .quick)
        let key = try store.add()
        let provider = try store.generateProviderKey(at: start)
        try disk.fill()
        // Free pages of the files may be used again, so it may take some changes to find the end.
        var refusals = 0
        for index in 0..<300 where refusals < 3 {
            let devices = try store.deviceCount()
            let failure = error { try store.addDevice(registration(), id: "device \(index)", at: start) }
            if let failure {
                #expect(failure.code == .diskFull)
                refusals += 1
            }
            #expect(try store.deviceCount() == devices + (failure == nil ? 1 : 0))
        }
        #expect(refusals == 3)
        #expect(try store.keys() == [key] && store.providerKeys() == [provider])
        disk.empty()
        #expect(try store.addDevice(registration(), id: "again", at: start) == .added)
        #expect(!store.check().contains { $0.severity != .note })
    }

    @Test func aStoreThatDoesNotFitIsNotMade() throws {
        guard let disk = try SmallDisk(kilobytes: 32) else { return }
        let path = disk.path + "/store"
        #expect(code { try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick) } == .diskFull)
        #expect(code { try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick) } == .storeMissing)
    }

    /// The same without the right to mount: a database that may not grow.
    @Test func aDatabaseAtItsLimitIsAFullDisk() throws {
        let home = try Home()
        var options = StoreOptions.quick
        options.maximumPages = 20
        let store = try home.reopened(options: options)
        let batch = (0..<500).map { DeviceChange.registered(id: "device \($0)", registration()) }
        #expect(code { try store.importDevices(batch, at: start) } == .diskFull)
        #expect(try store.deviceCount() == 0)
    }

    @Test func aReadOnlyDiskIsReadAndNotWritten() throws {
        guard let disk = try SmallDisk(kilobytes: 600) else { return }
        let path = disk.path + "/store"
        let provider = try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick)
            .generateProviderKey(at: start)
        try disk.setReadOnly(true)
        try checkReading(path, provider, changing: .inputOutput)
        #expect(code { try SQLiteKeyStore.create(in: disk.path + "/new") } == .inputOutput)
        try disk.setReadOnly(false)
    }

    @Test func aFullDiskIsRead() throws {
        guard let disk = try SmallDisk(kilobytes: 600) else { return }
        // A name that SQLite must not take for a part of an address.
        let path = disk.path + "/a?b%20#c"
        let provider = try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick)
            .generateProviderKey(at: start)
        try disk.fill()
        try checkReading(path, provider, changing: .diskFull)
        disk.empty()
        #expect(try SQLiteKeyStore.open(in: path).addDevice(registration(), id: "later", at: start) == .added)
    }

    /// A full disk is named as such, and no damage.
    @Test func aFullDiskIsNotALostLog() throws {
        guard let disk = try SmallDisk(kilobytes: 600) else { return }
        let path = disk.path + "/store"
        _ = try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick)
        try disk.fill()
        let problems = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick).check()
            .filter { $0.severity != .note }
        #expect(
            problems.map(\.message) == [
                "cannot use \(path)/keystore.db: the disk is full; free some space and try again"
            ])
    }

    @Test(arguments: [12, 24, 32])
    func aBackupNamesTheDiskThatIsFull(_ kilobytes: Int) throws {
        guard let disk = try SmallDisk(kilobytes: kilobytes) else { return }
        let home = try Home()
        let error = error { try home.store.backUp(to: disk.path + "/backup") }
        #expect(error?.code == .diskFull)
        let text = try #require(error?.description)
        #expect(text.contains(" \(disk.path)/backup: the disk is full; free some space and try again"))
        #expect(try list(disk.path).isEmpty)
    }

    private func checkReading(
        _ path: String, _ provider: ProviderKeyRecord, changing expected: KeyStoreError.Code
    ) throws {
        let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
        for store in [store, try store.anotherConnection()] {
            #expect(try store.providerKeys() == [provider])
            #expect(code { try store.addDevice(registration(), id: "phone", at: start) } == expected)
        }
    }

    /// A container that reads, and a machine that writes.
    @Test func aReaderOfAReadOnlyMountSeesWhatOthersChange() throws {
        guard let disk = try SmallDisk(kilobytes: 900) else { return }
        let (path, view) = (disk.path + "/store", disk.path + "/view")
        try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick)
            .addDevice(registration(), id: "phone", at: start)
        try #require(unsafe mkdir(view, 0o700) == 0)
        try #require(unsafe mount(path, view, nil, UInt(MS_BIND), nil) == 0)
        defer { unsafe umount2(view, Int32(MNT_DETACH)) }
        try #require(unsafe mount(nil, view, nil, UInt(MS_REMOUNT) | UInt(MS_BIND) | UInt(MS_RDONLY), nil) == 0)
        let reader = try SQLiteKeyStore.open(in: view, passphrase: nil, options: .quick)
        #expect(try reader.device(id: "phone") != nil && !reader.version().isReplaced)
        do {
            let writer = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
            try writer.removeDevice(id: "phone", at: start)
            #expect(try reader.version().isReplaced, "the change is in the log")
            #expect(try reader.anotherConnection().device(id: "phone") == nil)
        }
        #expect(try reader.version().isReplaced, "the change is in the database")
        let again = try reader.anotherConnection()
        #expect(try again.device(id: "phone") == nil && !again.version().isReplaced)
    }

    /// Half of an interrupted change would be read.
    @Test func aJournalThatCannotBeReadIsNotLeftOut() throws {
        guard let disk = try SmallDisk(kilobytes: 900) else { return }
        let path = disk.path + "/store"
        _ = try SQLiteKeyStore.create(in: path, passphrase: nil, options: .quick)
        try writeFile(path + "/keystore.db-journal", [1])
        try #require(unsafe chmod(path + "/keystore.db-journal", 0o600) == 0)
        try disk.setReadOnly(true)
        #expect(code { try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick) } == .inputOutput)
        try disk.setReadOnly(false)
    }

    /// The newest changes are in it.
    @Test func aLogThatCannotBeReadIsNotLeftOut() throws {
        guard let disk = try SmallDisk(kilobytes: 900) else { return }
        let home = try Home()
        _ = try home.store.generateProviderKey(at: start)
        let copy = disk.path + "/copy"
        try #require(unsafe mkdir(copy, 0o700) == 0)
        for name in ["keystore.db", "keystore.db-wal", "store.key"] {
            try writeFile("\(copy)/\(name)", try readFile(home.scratch.file(name)))
            try #require(unsafe chmod("\(copy)/\(name)", 0o600) == 0)
        }
        try disk.setReadOnly(true)
        let found = Result { try SQLiteKeyStore.open(in: copy, passphrase: nil, options: .quick).providerKeys() }
        // Either it is read with its log, or not at all.
        #expect((try? found.get())?.count ?? 1 == 1)
        try disk.setReadOnly(false)
        #expect(try SQLiteKeyStore.open(in: copy, passphrase: nil, options: .quick).providerKeys().count == 1)
    }
}

import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Whatever a disk does to a page of the database, no answer is wrong, and no device that is there is unknown.
struct PageChecksumTests {
    private static let pageLength = 4096

    /// A store of many devices, three for each user, and its database as it is on the disk.
    private struct Scene {
        let home: Home
        let records: [DeviceRecord]
        let bytes: Bytes

        init(devices count: Int) throws {
            home = try Home()
            var coin = Coin(state: 7)
            let changes = (0..<count).map { number in
                DeviceChange.registered(
                    id: String(coin.next(), radix: 36),
                    DeviceRegistration(publicKey: .numbered(number), createdAt: start), owner: .user("u\(number / 3)"))
            }
            _ = try home.store.importDevices(changes, at: start)
            var records: [DeviceRecord] = []
            try home.store.forEachDevice { records.append(try $0.get()) }
            self.records = records
            try #require(records.count == count)
            try home.store.withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
            bytes = try readFile(home.scratch.file("keystore.db"))
        }

        var pages: Int { bytes.count / pageLength }

        /// A store with other bytes, and no log.
        func damaged(_ change: (inout Bytes) -> Void) throws -> Scratch {
            let copy = try Scratch()
            try #require(unsafe mkdir(copy.store, 0o700) == 0)
            var bytes = bytes
            change(&bytes)
            try writeFile(copy.file("keystore.db"), bytes)
            try writeFile(copy.file("store.key"), readFile(home.scratch.file("store.key")))
            return copy
        }
    }

    private struct Coin {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 11
        }
    }

    private func open(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: .quick)
    }

    /// Asks for everything; returns whether anything was refused.
    @discardableResult
    private func check(_ scene: Scene, in scratch: Scratch, _ what: String) throws -> Bool {
        let store: SQLiteKeyStore
        do {
            store = try open(scratch)
        } catch let error as KeyStoreError {
            #expect([.corruptStore, .wrongPassphrase, .newerVersion, .olderVersion].contains(error.code), "\(what)")
            return true
        }
        var isRefused = false
        func ask(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                isRefused = true
                #expect((error as? KeyStoreError)?.code == .corruptStore, "\(what): \(error)")
            }
        }
        for record in scene.records {
            ask {
                let found = try store.device(id: record.id)
                #expect(found == record, "\(what)")
            }
        }
        for (user, records) in Dictionary(grouping: scene.records, by: { $0.user ?? "" }) {
            ask {
                let found = try store.devices(ofUser: user)
                let sound = found.compactMap { try? $0.get() }
                #expect(Set(sound).isSubset(of: records), "\(what)")
                #expect(sound.count == records.count || sound.count < found.count, "\(what): \(user)")
                if sound.count < found.count { isRefused = true }
            }
        }
        ask {
            var found: [DeviceRecord] = []
            try store.forEachDevice { found.append(try $0.get()) }
            #expect(found == scene.records, "\(what)")
        }
        ask {
            let count = try store.deviceCount()
            #expect(count == scene.records.count, "\(what)")
        }
        return isRefused
    }

    // MARK: Bits

    /// `Tests/Checks/Faults/store_damage.py` flips a thousand, and asks the command.
    @Test func aFlippedBitGivesNoWrongAnswer() throws {
        let scene = try Scene(devices: 3000)
        var coin = Coin(state: 1)
        var refused = 0
        for _ in 0..<12 {
            let bit = Int(coin.next() % UInt64(scene.bytes.count * 8))
            let scratch = try scene.damaged { $0[bit / 8] ^= 1 << (bit % 8) }
            refused += try check(scene, in: scratch, "bit \(bit)") ? 1 : 0
        }
        #expect(refused > 0, "nothing was damaged")
        print("store: flipped bits: 12, of which refused: \(refused)")
    }

    @Test func aFlippedBitInEachPartOfEachPageIsNoticed() throws {
        let scene = try Scene(devices: 120)
        var opened = 0
        for page in 0..<scene.pages {
            // The kind, the number of cells, where they begin, the right-most child, the first pointers, the last byte, the checksum.
            for byte in [0, 4, 6, 11, 13, 15, 17, Self.pageLength - 9, Self.pageLength - 8, Self.pageLength - 1] {
                let place = page * Self.pageLength + byte + (page == 0 ? 100 : 0)
                let scratch = try scene.damaged { $0[min(place, $0.count - 1)] ^= 1 }
                try check(scene, in: scratch, "page \(page + 1), byte \(byte)")
                // Every page is read by this one.
                let store = try? open(scratch)
                opened += store == nil ? 0 : 1
                #expect(
                    store?.check().contains { $0.severity == .error } ?? true, "page \(page + 1), byte \(byte)")
                #expect(
                    code { try store?.backUp(to: scratch.path + "/backup") } == (store == nil ? nil : .corruptStore))
            }
        }
        // Only what every use needs keeps a store from being opened.
        #expect(opened > scene.pages * 10 / 2)
    }

    /// SQLite takes what a short file lacks for zeros.
    @Test(arguments: [1, 60, 4095]) func aCutLastPageIsNoticed(left: Int) throws {
        let scene = try Scene(devices: 120)
        let scratch = try scene.damaged { $0.removeLast(Self.pageLength - left) }
        #expect(try check(scene, in: scratch, "\(left) bytes of the last page"))
    }

    @Test func aPageInThePlaceOfAnotherIsNoticed() throws {
        let scene = try Scene(devices: 120)
        for page in 1..<scene.pages - 1 {
            let (from, to) = (page * Self.pageLength, (page + 1) * Self.pageLength)
            let scratch = try scene.damaged { bytes in
                for byte in 0..<Self.pageLength { bytes[to + byte] = bytes[from + byte] }
            }
            let isRefused = try check(scene, in: scratch, "page \(page + 1) twice")
            let store = try? open(scratch)
            #expect(isRefused || store?.check().contains { $0.severity == .error } != false)
        }
    }

    // MARK: Changes

    /// The place of a device's key in the file.
    private func place(of record: DeviceRecord, in bytes: Bytes) throws -> Int {
        try #require(bytes.firstRange(of: record.publicKey.bytes)).lowerBound
    }

    @Test func aDamagedPageStaysDamagedWhateverIsRegistered() throws {
        let scene = try Scene(devices: 120)
        let record = scene.records[50]
        let place = try place(of: record, in: scene.bytes)
        let scratch = try scene.damaged { $0[place] ^= 1 }
        let store = try open(scratch)
        let other = DeviceRegistration(publicKey: .numbered(9000), createdAt: start)
        // Both are in the page, the second and the third are not found there.
        for id in [record.id, record.id + "a", scene.records[51].id] {
            #expect(code { try store.addDevice(other, id: id, replace: true, at: start) } == .corruptStore, "\(id)")
        }
        #expect(code { try store.device(id: record.id) } == .corruptStore)
        #expect(code { try store.device(id: record.id + "a") } == .corruptStore)
        // What has a right tag is right.
        #expect(try store.device(id: scene.records[51].id) == scene.records[51])
        #expect(try store.device(id: scene.records[0].id) == scene.records[0])
        #expect(try store.device(id: "") == nil)
        // The operator's word: afterwards only the row is damaged.
        try store.acceptRows()
        #expect(code { try store.device(id: record.id) } == .corruptStore)
        #expect(try store.device(id: record.id + "a") == nil)
        try store.addDevice(other, id: record.id, replace: true, at: start)
        #expect(try open(scratch).device(id: record.id)?.publicKey == other.publicKey)
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    @Test func aPageThatIsDamagedWhileTheStoreIsOpenIsNoticed() throws {
        let scene = try Scene(devices: 600)
        let store = try open(try scene.damaged { _ in })
        let path = try #require(store.directory).file(SQLiteKeyStore.databaseName)
        let missing = scene.records[300].id + "a"
        #expect(try store.device(id: scene.records[0].id) != nil)
        var bytes = scene.bytes
        bytes[try place(of: scene.records[300], in: bytes)] ^= 1
        try writeFile(path, bytes)
        for _ in 0..<2 {
            #expect(code { try store.device(id: missing) } == .corruptStore)
            #expect(try store.device(id: scene.records[301].id) == scene.records[301])
            let found = try store.readDevices { (reader) throws(KeyStoreError) in
                _ = try reader.device(id: scene.records[301].id)
                // In memory by now.
                do throws(KeyStoreError) { return try reader.device(id: missing).id } catch { return "\(error.code)" }
            }
            #expect(found == "corrupt-store")
        }
        try writeFile(path, scene.bytes)
        #expect(try store.device(id: missing) == nil)
    }

    // MARK: Other programs

    @Test func anotherProgramMayReadTheStoreAndEmptyItsLog() throws {
        let scene = try Scene(devices: 120)
        let scratch = scene.home.scratch
        let removed = scene.records[7].id
        try scene.home.store.removeDevice(id: removed, at: start + 60)
        let copy = try Scratch()
        try #require(unsafe mkdir(copy.store, 0o700) == 0)
        for name in ["keystore.db", "keystore.db-wal", "store.key"] {
            try writeFile(copy.file(name), readFile(scratch.file(name)))
        }
        try #require(readFile(copy.file("keystore.db-wal")).count > 0)
        do {
            let other = try SQLiteConnection(path: copy.file("keystore.db"), busyTimeout: 0)
            #expect(try other.integer("SELECT count(*) FROM devices") == 119)
        }
        #expect(try !list(copy.store).contains("keystore.db-wal"))
        let store = try open(copy)
        #expect(try store.device(id: removed) == nil)
        #expect(try store.device(id: scene.records[8].id) == scene.records[8])
        #expect(store.check().allSatisfy { $0.severity == .note })
    }

    @Test func whatAnotherProgramHasWrittenIsAcceptedOnTheOperatorsWord() throws {
        let scene = try Scene(devices: 120)
        let scratch = try scene.damaged { _ in }
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0).execute(
            "DELETE FROM devices WHERE id = '\(scene.records[7].id)'")
        let store = try open(scratch)
        #expect(code { try store.device(id: scene.records[7].id) } == .corruptStore)
        #expect(store.check().contains { $0.severity == .error })
        try store.acceptRows()
        #expect(try store.device(id: scene.records[7].id) == nil)
        #expect(store.check().allSatisfy { $0.severity == .note })
    }
}

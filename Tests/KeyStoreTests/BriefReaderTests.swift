import Glibc
import Pushcrypt
import Testing
import Waiting

@testable import PushcryptKeyStore

/// A store that is read at once and closed: alone if nobody else has it open, beside the others if somebody has.
struct BriefReaderTests {
    static func brief(waiting milliseconds: Int32 = StoreOptions.patience) -> StoreOptions {
        var options = StoreOptions.quick
        options.busyTimeout = milliseconds
        options.isBrief = true
        return options
    }

    /// A store that nobody has open, with one device.
    private func closedStore() throws -> Scratch {
        let scratch = try Scratch()
        let store = try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .quick, at: start)
        try Self.add("phone", to: store)
        return scratch
    }

    static func add(_ id: String, to store: SQLiteKeyStore) throws {
        let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
        try #require(try store.addDevice(registration, id: id, at: start) == .added)
    }

    private static func open(_ scratch: Scratch, _ options: StoreOptions) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: options)
    }

    @Test func aLoneReaderNeedsNoSharedMemory() throws {
        let scratch = try closedStore()
        do {
            let store = try Self.open(scratch, Self.brief())
            #expect(try store.device(id: "phone") != nil)
            #expect(try !scratch.names().contains("keystore.db-shm"))
        }
        #expect(try scratch.names() == ["keystore.db", "store.key"])
    }

    @Test func othersWaitUntilALoneReaderCloses() async throws {
        let scratch = try closedStore()
        let writer = try beginWriting(scratch)
        try await writer.value
        #expect(try Self.open(scratch, Self.brief()).device(id: "tablet") != nil)
    }

    /// Nothing suspends while the reader is open: the tests that run meanwhile would decide how long that is.
    private func beginWriting(_ scratch: Scratch) throws -> SeparateThread<Void> {
        let reader = try Self.open(scratch, Self.brief())
        #expect(code { try Self.open(scratch, .impatient) } == .storeBusy)
        let begun = Gate()
        let writer = SeparateThread {
            begun.open()
            try Self.add("tablet", to: Self.open(scratch, .quick))
        }
        begun.pass()
        // Now it tries.
        usleep(20_000)
        #expect(try reader.device(id: "tablet") == nil)
        return writer
    }

    @Test func aReaderBesideOthersLocksNobodyOut() throws {
        let home = try Home()
        try Self.add("phone", to: home.store)
        let reader = try home.reopened(options: Self.brief(waiting: 0))
        try Self.add("tablet", to: home.store)
        #expect(try reader.device(id: "tablet") != nil)
        try Self.add("watch", to: home.reopened())
        #expect(try reader.device(id: "watch") != nil)
    }

    @Test func whatAKilledWriterHasWrittenIsRead() async throws {
        let scratch = try closedStore()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.store as String] in
            let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
            try BriefReaderTests.add("tablet", to: store)
            kill(getpid(), SIGKILL)
        }
        #expect(try !readFile(scratch.file("keystore.db-wal")).isEmpty)
        #expect(try Self.open(scratch, Self.brief()).device(id: "tablet") != nil)
    }

    @Test func aKilledReaderLeavesNoLock() async throws {
        let scratch = try closedStore()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.store as String] in
            let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: BriefReaderTests.brief())
            try #require(try store.device(id: "phone") != nil)
            kill(getpid(), SIGKILL)
        }
        #expect(try Self.open(scratch, Self.brief(waiting: 0)).device(id: "phone") != nil)
        try Self.add("tablet", to: Self.open(scratch, .quick))
    }

    /// Readers that lock others out, two processes that write, and all of them get through.
    @Test func readersAndWritersOfManyProcessesGetThrough() async throws {
        let scratch = try closedStore()
        let path = scratch.store
        async let first: Void = Self.writeInAnotherProcess(path, "a")
        async let second: Void = Self.writeInAnotherProcess(path, "b")
        async let third: Void = Self.readInAnotherProcess(path)
        async let fourth: Void = Self.readInAnotherProcess(path)
        _ = await (first, second, third, fourth)
        #expect(try Self.open(scratch, .quick).deviceCount() == 1 + 2 * Self.rounds)
        #expect(try scratch.names() == ["keystore.db", "store.key"])
    }

    static let rounds = 50

    private static func writeInAnotherProcess(_ path: String, _ name: String) async {
        await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
            for round in 0..<BriefReaderTests.rounds {
                // Opened each time, as by a command.
                let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
                try BriefReaderTests.add("\(name)\(round)", to: store)
            }
        }
    }

    private static func readInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            for _ in 0..<BriefReaderTests.rounds * 4 {
                let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: BriefReaderTests.brief())
                try #require(try store.device(id: "phone") != nil)
            }
        }
    }
}

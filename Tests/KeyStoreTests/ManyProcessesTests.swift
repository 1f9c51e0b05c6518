import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// A store that several processes open, read, write and close, and may be killed in.
struct ManyProcessesTests {
    /// A store that nobody has open, with one device.
    private func closedStore() throws -> Scratch {
        let scratch = try Scratch()
        let store = try SQLiteKeyStore.create(in: scratch.store, passphrase: nil, options: .quick)
        try Self.add("phone", to: store)
        return scratch
    }

    static func add(_ id: String, to store: SQLiteKeyStore) throws {
        let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
        try #require(try store.addDevice(registration, id: id, at: start) == .added)
    }

    private static func open(_ scratch: Scratch) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: .quick)
    }

    @Test func aKilledWritersChangesAreRead() async throws {
        let scratch = try closedStore()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.store as String] in
            let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
            try ManyProcessesTests.add("tablet", to: store)
            kill(getpid(), SIGKILL)
        }
        #expect(try !readFile(scratch.file("keystore.db-wal")).isEmpty)
        #expect(try Self.open(scratch).device(id: "tablet") != nil)
    }

    @Test func aKilledReaderLeavesNoLock() async throws {
        let scratch = try closedStore()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.store as String] in
            let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
            try #require(try store.device(id: "phone") != nil)
            kill(getpid(), SIGKILL)
        }
        #expect(try Self.open(scratch).device(id: "phone") != nil)
        try Self.add("tablet", to: Self.open(scratch))
    }

    @Test func readersAndWritersOfManyProcessesGetThrough() async throws {
        let scratch = try closedStore()
        let path = scratch.store
        async let first: Void = Self.writeInAnotherProcess(path, "a")
        async let second: Void = Self.writeInAnotherProcess(path, "b")
        async let third: Void = Self.readInAnotherProcess(path)
        async let fourth: Void = Self.readInAnotherProcess(path)
        _ = await (first, second, third, fourth)
        #expect(try Self.open(scratch).deviceCount() == 1 + 2 * Self.rounds)
        #expect(try scratch.names() == ["keystore.db", "store.key"])
    }

    static let rounds = 50

    private static func writeInAnotherProcess(_ path: String, _ name: String) async {
        await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
            for round in 0..<ManyProcessesTests.rounds {
                // Opened each time, as by a command.
                let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
                try ManyProcessesTests.add("\(name)\(round)", to: store)
            }
        }
    }

    private static func readInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            for _ in 0..<ManyProcessesTests.rounds * 4 {
                let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
                try #require(try store.device(id: "phone") != nil)
            }
        }
    }
}

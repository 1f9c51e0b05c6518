import Foundation
import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Many threads, many connections, many processes; and processes that end in the middle.
struct ConcurrencyTests {
    @Test func manyProcessesUseOneStore() async throws {
        let home = try Home()
        let path = home.scratch.store
        async let first: Void = Self.writeInAnotherProcess(path, 0)
        async let second: Void = Self.writeInAnotherProcess(path, 1)
        try await Self.write(from: 2..<6) { _ in home.store }
        _ = await (first, second)
        try Self.expectEverything(in: home.store, writers: 6)
    }

    private static func writeInAnotherProcess(_ path: String, _ writer: Int) async {
        // An exit test is a C function: it cannot capture this type.
        await #expect(processExitsWith: .success) { [path = path as String, writer = writer as Int] in
            let store = try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick)
            try ConcurrencyTests.write(store, writer)
        }
    }

    private static let rounds = 8

    /// Every writer makes its own keys, devices and settings, and reads them back at once.
    static func write(_ store: SQLiteKeyStore, _ writer: Int) throws {
        for round in 0..<rounds {
            let id = "\(writer).\(round)"
            let registration = DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: start)
            try #require(try store.addDevice(registration, id: id, at: start) == .added)
            try #require(try store.device(id: id)?.publicKey == registration.publicKey)
            if round == 0 {
                try patiently { () throws(KeyStoreError) in try store.add(to: id) }
                _ = try store.generateProviderKey(named: id, topic: .app, at: start)
            } else {
                try patiently { () throws(KeyStoreError) in try store.rotate("\(writer).0") }
                try patiently { () throws(KeyStoreError) in try store.confirm("\(writer).0") }
                _ = try store.rotateSigningKey(named: "\(writer).0", at: start)
            }
        }
    }

    private static func write(
        from writers: Range<Int>, _ store: @escaping @Sendable (Int) throws -> SQLiteKeyStore
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in writers { group.addTask { try write(store(writer), writer) } }
            try await group.waitForAll()
        }
    }

    private static func expectEverything(in store: SQLiteKeyStore, writers: Int) throws {
        #expect(try store.deviceCount() == writers * rounds)
        #expect(try store.keys().count == writers * rounds)
        let epoch = UInt32(start.milliseconds / 1000) + UInt32(rounds) - 2
        #expect(try store.providerKeys().map(\.epoch) == Array(repeating: epoch, count: writers))
        #expect(!store.check().contains { $0.severity != .note })
    }

    // MARK: Two at once

    @Test func twoThatRotateAtOnceGetOnePendingKey() async throws {
        let home = try Home()
        try home.store.add()
        let stores = try (0..<6).map { _ in try home.store.anotherConnection() }
        let keys = try await withThrowingTaskGroup(of: DevicePublicKey.self) { group in
            for store in stores { group.addTask { try store.rotate().publicKey } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(try home.store.keys().map(\.state) == [.active, .pending])
    }

    private static let rotations = 6

    @Test func processesThatRotateASigningKeyAtOnceMakeNoEpochTwice() async throws {
        let home = try Home()
        let provider = try home.store.generateProviderKey(topic: .app, at: start).publicKey
        let path = home.scratch.store
        async let first: Void = Self.rotateInAnotherProcess(path)
        async let second: Void = Self.rotateInAnotherProcess(path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let stores = try (0..<2).map { _ in try home.store.anotherConnection() }
            for store in stores { group.addTask { try Self.rotate(store) } }
            try await group.waitForAll()
        }
        _ = await (first, second)
        let key = try home.store.provider().key(nil)
        let issued = key.past.compactMap(\.certificate) + [try #require(key.certificate)]
        let lowest = UInt32(start.milliseconds / 1000)
        #expect(issued.map(\.epoch) == (0..<UInt32(4 * Self.rotations)).map { lowest + $0 })
        for certificate in issued { #expect(throws: Never.self) { try certificate.check(for: provider, topic: .app) } }
    }

    private static func rotateInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            try ConcurrencyTests.rotate(.open(in: path, passphrase: nil, options: .quick))
        }
    }

    static func rotate(_ store: SQLiteKeyStore) throws {
        for _ in 0..<rotations { try store.rotateSigningKey(at: start) }
    }

    // MARK: Waiting

    /// One transaction follows another: who waits would find no gap between them.
    @Test func aLongImportLetsOthersWrite() throws {
        let home = try Home()
        let (importer, counts) = (try home.reopened(), Locked(Counts()))
        let ended = DispatchSemaphore(value: 0)
        let changes = 40 * SQLiteKeyStore.importChunk
        Thread.detachNewThread {
            _ = try? importer.inChunks(Array(0..<changes), 0) { (_, _, _) throws(KeyStoreError) in
                counts.withLock { $0.done += 1 }
            }
            ended.signal()
        }
        while counts.withLock({ $0.done }) == 0 { sched_yield() }
        try home.store.setSetting("a", named: "title")
        #expect(counts.withLock { $0.done } < changes)
        ended.wait()
    }

    @Test func aLongImportPausesForTwoTriesOfOthers() throws {
        let (home, clock, chunk) = (try Home(), ContinuousClock(), SQLiteKeyStore.importChunk)
        var (last, shortest) = (clock.now, Duration.seconds(60))
        _ = try home.store.inChunks(Array(0..<4 * chunk), 0) { (_, item, _) throws(KeyStoreError) in
            let now = clock.now
            if item > 0, item % chunk == 0 { shortest = min(shortest, last.duration(to: now)) }
            last = now
        }
        #expect(shortest >= .milliseconds(10))
    }

    private final class Counts: @unchecked Sendable { var done = 0 }

    // MARK: Killed

    @Test func aKilledReaderLeavesNoLock() async throws {
        let home = try Home()
        try home.store.add()
        let path = home.scratch.store
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try #require(try SQLiteKeyStore.open(in: path, passphrase: nil, options: .quick).keys().count == 1)
            kill(getpid(), SIGKILL)
        }
        try home.reopened().rotate()
        #expect(try home.store.keys().map(\.state) == [.active, .pending])
    }
}

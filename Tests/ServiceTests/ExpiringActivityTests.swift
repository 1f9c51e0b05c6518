import Foundation
import Pushcrypt
import Testing
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptService

/// The app's work on shared files, during which the system should not suspend it.
@Suite struct ExpiringActivityTests {
    /// The system, which may answer late, twice or never.
    private final class System: Sendable {
        private final class State {
            var blocks: [@Sendable (Bool) -> Void] = []
            var ended = 0
        }

        private let state = Locked(State())

        var activity: ExpiringActivity {
            ExpiringActivity { _, block in self.state.withLock { $0.blocks.append(block) } }
        }

        var asked: Int { state.withLock { $0.blocks.count } }
        /// How many calls of the block have returned.
        var ended: Int { state.withLock { $0.ended } }

        /// Answers on another thread.
        func answer(isExpired: Bool) {
            guard let block = state.withLock({ $0.blocks.last }) else { return }
            Thread.detachNewThread {
                block(isExpired)
                self.state.withLock { $0.ended += 1 }
            }
        }
    }

    private let system = System()

    @Test func theActivityEndsOnceWithTheWork() async throws {
        let (gate, system) = (Gate(), system)
        let work = SeparateThread {
            system.activity.run("test", expired: { Issue.record("there is time") }) {
                gate.pass()
                return 7
            }
        }
        #expect(await gate.hasVisitors())
        system.answer(isExpired: false)
        await allTurns()
        #expect(system.asked == 1 && system.ended == 0)
        gate.open()
        #expect(try await work.value == 7)
        #expect(await eventually { system.ended == 1 })
    }

    @Test func workThatFailsEndsIt() async throws {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try system.activity.run("test", expired: {}) {
                system.answer(isExpired: false)
                throw Failure()
            }
        }
        #expect(await eventually { system.ended == 1 })
    }

    @Test(arguments: [false, true]) func anAnswerAfterTheWorkHasNoEffect(_ isExpired: Bool) async {
        system.activity.run("test", expired: { Issue.record("the work is over") }) {}
        system.answer(isExpired: isExpired)
        #expect(await eventually { system.ended == 1 })
    }

    /// Whether the system had given time before or not.
    @Test(arguments: [false, true]) func whenTimeIsOverTheWorkIsToldOnce(_ hadTime: Bool) async throws {
        let (gate, told, system) = (Gate(), System(), system)
        let work = SeparateThread {
            system.activity.run(
                "test",
                expired: {
                    told.activity.begin("") { _ in }
                    gate.open()
                }, gate.pass)
        }
        #expect(await gate.hasVisitors())
        if hadTime { system.answer(isExpired: false) }
        system.answer(isExpired: true)
        await eventually { told.asked > 0 }
        gate.open()
        try await work.value
        #expect(await eventually { system.ended == (hadTime ? 2 : 1) })
        #expect(told.asked == 1)
    }

    /// No lock is held on the shared file while the process is suspended.
    @Test func aMergeWithoutTimeEndsAndCanBeRepeated() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("activity-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let (keys, now) = (try SQLiteKeyStore.inMemory(), Timestamp(milliseconds: 1_800_000_000_000))
        let (provider, topic) = (ProviderKey(), try Topic("com.example.app"))
        let pending = try keys.generateDeviceKey(at: now)
        let plan = try CertificatePlan(after: nil, at: now)
        let certificate = try UnsignedCertificate(
            plan, for: SigningKey().publicKey, provider: provider.publicKey, topic: topic
        ).signed(by: provider)
        let database = ExtensionDatabase(in: folder.path)
        try ExtensionKeys(keys: keys, database: database).settle(
            openedWith: pending.publicKey, provider: provider.publicKey, certificate: certificate, topic: topic, at: now
        )
        let expired = ExpiringActivity { _, block in
            Thread.detachNewThread { block(true) }
            for _ in 0..<10_000 where !database.interruption.isStopped { usleep(1000) }
        }
        let error = #expect(throws: KeyStoreError.self) {
            try AppGroup.merge(database, into: keys, at: now, expired)
        }
        #expect(error?.code == .storeBusy)
        let other = try SQLiteConnection(path: folder.path + "/extension.db", busyTimeout: 0)
        try other.execute("BEGIN EXCLUSIVE; ROLLBACK")
        let merged = try AppGroup.merge(ExtensionDatabase(in: folder.path), into: keys, at: now, .system)
        #expect(merged.raised == 1)
    }

    /// Looking always asks the system for time, and creates no file, whether there is time or not.
    @Test(arguments: [false, true]) func lookingForWithdrawnMessagesCreatesNothing(_ isExpired: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("activity-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let told = System()
        let activity = ExpiringActivity { _, block in
            told.activity.begin("") { _ in }
            if isExpired { block(true) }
        }
        NotificationList().removeWithdrawn(in: folder, at: Timestamp(milliseconds: 0), nil, activity)
        #expect(told.asked == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}

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
    @Test func whatHasNoTimeEndsAndCanBeRepeated() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let message = ReplayMessage(
            MessageID(callerName: "1"), from: ProviderKey().publicKey, epoch: 0, trustFloor: 0, to: "anna",
            requestID: "1", sentAt: now, expiresAt: now.adding(.days(1)), withdrawing: [MessageID(callerName: "2")])
        _ = ExtensionDatabase(in: folder.path).replay.take(message, at: now)
        let deleted = Locked(Deleted())
        let senders = SenderDisplay(
            show: { content, _, _ in content }, deleteMessages: { marks in deleted.withLock { $0.marks += marks } },
            deleteAccount: { _ in })
        NotificationList().removeWithdrawn(in: folder, at: now, senders, ExpiringActivity { _, block in block(true) })
        #expect(deleted.withLock { $0.marks } == [])
        let other = try SQLiteConnection(path: folder.path + "/extension.db", busyTimeout: 0)
        try other.execute("BEGIN EXCLUSIVE; ROLLBACK")
        NotificationList().removeWithdrawn(in: folder, at: now, senders)
        #expect(deleted.withLock { $0.marks.count } == 1)
    }

    private final class Deleted {
        var marks: [String] = []
    }

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("activity-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return folder
    }

    /// Looking always asks the system for time, and creates no file, whether there is time or not.
    @Test(arguments: [false, true]) func lookingForWithdrawnMessagesCreatesNothing(_ isExpired: Bool) throws {
        let folder = try folder()
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

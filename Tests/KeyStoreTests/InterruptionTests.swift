import Foundation
import Pushcrypt
import Testing
import Waiting

@testable import PushcryptKeyStore

/// A process that is suspended must hold no lock on a file.
@Suite struct InterruptionTests {
    private static let long =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n"
    private static let entry = JournalEntry(
        time: Timestamp(milliseconds: 1), fingerprint: nil, code: "opened", keyState: .active, milliseconds: 1)

    private final class Outcome {
        var error: KeyStoreError?
        var isOver = false
    }

    /// Writes on a separate thread; the tasks of the other tests need theirs.
    private static func write(
        _ file: RecoverableDatabase, _ body: @escaping @Sendable (SQLiteConnection) throws(KeyStoreError) -> Void
    ) -> Locked<Outcome> {
        let (outcome, box) = (Locked(Outcome()), UncheckedSendableBox(file))
        Thread.detachNewThread {
            var failure: KeyStoreError?
            do throws(KeyStoreError) { try box.value.write(at: start, body) } catch { failure = error }
            outcome.withLock { ($0.error, $0.isOver) = (failure, true) }
        }
        return outcome
    }

    @Test func workThatIsStoppedReleasesItsLock() async throws {
        let scratch = try Scratch()
        let started = Gate()
        #expect(ExtensionDatabase(in: scratch.path).journal.append(Self.entry) == nil)
        let name = "\(scratch.path)/extension.db"
        let identity = try #require(try FileFacts(at: name)?.identity)
        let file = RecoverableDatabase(in: scratch.path, busyTimeout: 100)
        let interruption = file.interruption
        try file.write(at: start) { _ in }
        let inside = Locked(Outcome())
        let outcome = Self.write(file) { (connection) throws(KeyStoreError) in
            started.pass()
            do throws(KeyStoreError) {
                try connection.rows(Self.long)
            } catch {
                inside.withLock { $0.error = error }
                throw error
            }
        }
        #expect(await started.hasVisitors())
        let journal = ExtensionDatabase(in: scratch.path, busyTimeout: 100).journal
        #expect(journal.append(Self.entry)?.code == .storeBusy)
        started.open()
        // Repeated, because the statement may not have begun.
        let ends = await eventually {
            interruption.stop()
            return outcome.withLock { $0.isOver }
        }
        #expect(ends)
        #expect(inside.withLock { $0.error?.code } == .storeBusy, "no damage, so the file is not recreated")
        #expect(outcome.withLock { $0.error?.code } == .storeBusy)
        #expect(journal.append(Self.entry) == nil)
        #expect(try journal.entries().map(\.code) == ["opened", "opened"])
        #expect(try FileFacts(at: name)?.identity == identity)
    }

    /// Neither is a damaged file replaced: there may be no time left.
    @Test(arguments: [true, false])
    func aStoppedDatabaseStaysStoppedUntilItBegins(_ isDamaged: Bool) throws {
        let scratch = try Scratch()
        let name = "\(scratch.path)/extension.db"
        let file = RecoverableDatabase(in: scratch.path, busyTimeout: 100)
        let other = RecoverableDatabase(in: scratch.path, busyTimeout: 100)
        try file.write(at: start) { _ in }
        if isDamaged { try writeFile(name, Bytes(repeating: 7, count: 8192)) }
        let before = try readFile(name)
        for database in [file, other] { database.interruption.stop() }
        for database in [file, other, file, other] {
            #expect(throws: KeyStoreError.self) { try database.write(at: start) { _ in Issue.record("runs") } }
            #expect(try readFile(name) == before)
        }
        file.interruption.begin()
        try file.write(at: start) { _ in }
        #expect(file.takeDamaged() == isDamaged)
    }

    @Test func aWaitThatIsStoppedEnds() async throws {
        let scratch = try Scratch()
        let held = Gate()
        defer { held.open() }
        let file = RecoverableDatabase(in: scratch.path, busyTimeout: 100)
        try file.write(at: start) { _ in }
        let holder = Self.write(file) { _ in held.pass() }
        #expect(await held.hasVisitors())
        let patient = RecoverableDatabase(in: scratch.path, busyTimeout: 3_600_000)
        let interruption = patient.interruption
        let waiting = Self.write(patient) { _ in }
        let ends = await eventually {
            interruption.stop()
            return waiting.withLock { $0.isOver }
        }
        #expect(ends)
        #expect(waiting.withLock { $0.error?.code } == .storeBusy)
        held.open()
        #expect(await eventually { holder.withLock { $0.isOver && $0.error == nil } })
    }
}

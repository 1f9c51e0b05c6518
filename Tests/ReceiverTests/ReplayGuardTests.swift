import Foundation
import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore
@testable import Simulated

/// A message is delivered no matter what became of the replay guard.
@Suite struct ReplayGuardTests {
    private static let madeAnew =
        "replay guard: was damaged and has been recreated; messages sent more than ten minutes ago count as shown"

    /// `ReplayGuardFileTests` has more kinds of damage.
    @Test(arguments: [false, true]) func aGuardThatIsMissingOrDamagedIsMadeAnew(isMissing: Bool) throws {
        let provider = try Provider()
        let folder = try {
            let phone = try Phone(enrolledWith: provider)
            let seen = phone.receive(try provider.push(at: .start), request: "a", at: .start)
            #expect(seen.shown == DuplicateTests.opened)
            return phone.folder
        }()
        let seen = try provider.push(at: .start)
        let file = folder.file("extension.db")
        if isMissing { try FileManager.default.removeItem(at: file) } else { try Data("a text\n".utf8).write(to: file) }

        let now = Timestamp.start.plus(seconds: 3600)
        let phone = try Phone(reopening: folder, at: now)
        let push = try provider.push(at: now)
        let reception = phone.receive(push, request: "b", at: now)
        #expect(reception.shown == DuplicateTests.opened)
        // A missing one is what a phone's first push finds.
        #expect(reception.warnings == (isMissing ? [] : [Self.madeAnew]))
        // It remembers again; what was sent ten minutes before or earlier counts as seen, by a first guard a day before.
        #expect(phone.receive(push, request: "c", at: now).shown == DuplicateTests.passive)
        let age: UInt64 = isMissing ? 86_400_000 : 600_000
        #expect((phone.receive(seen, request: "a", at: now).shown == DuplicateTests.passive) == (age < 3_600_000))
        for (age, shown) in [(age - 1, DuplicateTests.opened), (age, DuplicateTests.passive)] {
            let held = try provider.push(at: now.subtracting(milliseconds: age))
            #expect(phone.receive(held, request: "d\(age)", at: now).shown == shown)
        }
    }

    @Test func aGuardThatCannotBeUsedStopsNothing() throws {
        let scene = try Scene()
        let other = try SQLiteConnection(path: scene.phone.folder.path(of: "extension.db"), busyTimeout: 1000)
        try other.execute("BEGIN EXCLUSIVE")
        let database = ExtensionDatabase(in: scene.phone.folder.path, busyTimeout: 20)
        let push = Scene.push(try scene.envelope())
        for policy in DuplicatePolicy.allCases {
            let reception = scene.phone.receiver(database, duplicates: policy).receive(
                push, requestID: policy.rawValue, at: Scene.now)
            #expect(reception.shown == Scene.opened)
            #expect(reception.warnings.count == 1)
            #expect(reception.warnings.first?.hasPrefix("replay guard: ") == true)
        }
        #expect(try scene.isSettled)
        withExtendedLifetime(other) {}
    }

    /// A folder without the guard's file, into which nothing can be written either.
    @Test func aGuardWhoseFolderIsGoneStopsNothing() throws {
        let scene = try Scene()
        let elsewhere = try TemporaryFolder()
        try FileManager.default.removeItem(atPath: elsewhere.path)
        let reception = scene.phone.receiver(ExtensionDatabase(in: elsewhere.path)).receive(
            Scene.push(try scene.envelope()), requestID: "a", at: Scene.now)
        #expect(reception.shown == Scene.opened)
        #expect(reception.warnings.count == 1)
    }
}

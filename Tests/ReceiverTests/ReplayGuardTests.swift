import Foundation
import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore
@testable import Simulated

/// A message is delivered no matter what became of the replay guard.
@Suite struct ReplayGuardTests {
    static let name = "extension.db"

    /// Something that was done to the guard's file; what `hold` returns lives as long as the test.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hold: @Sendable (TemporaryFolder) throws -> SQLiteConnection?

        init(_ description: String, _ damage: @escaping @Sendable (TemporaryFolder) throws -> Void) {
            testDescription = description
            hold = { folder in
                try damage(folder)
                return nil
            }
        }

        init(holding description: String, _ hold: @escaping @Sendable (TemporaryFolder) throws -> SQLiteConnection) {
            testDescription = description
            self.hold = hold
        }
    }

    private static func file(_ folder: TemporaryFolder) -> URL { folder.file(name) }

    private static func connection(_ folder: TemporaryFolder, _ sql: String) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: file(folder).path, busyTimeout: 1000)
        try connection.execute(sql)
        return connection
    }

    // MARK: Recreated

    static let madeAnew = [
        "replay guard: was damaged and has been recreated; messages sent more than ten minutes ago count as shown"
    ]

    static let repairable: [Damage] = [
        Damage("missing") { try FileManager.default.removeItem(at: file($0)) },
        Damage("empty") { try Data().write(to: file($0)) },
        Damage("a text") { try Data("not a database\n".utf8).write(to: file($0)) },
        Damage("cut in the middle") { folder in
            try Data(contentsOf: file(folder)).prefix(5000).write(to: file(folder))
        },
        Damage("noise after the header") { folder in
            var bytes = try Data(contentsOf: file(folder))
            for index in 100..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 89) }
            try bytes.write(to: file(folder))
        },
        Damage("without its tables") { _ = try connection($0, "DROP TABLE seen") },
        Damage("another program's database") { _ = try connection($0, "PRAGMA application_id = 7") },
    ]

    @Test(arguments: repairable)
    func aGuardThatIsMissingOrDamagedIsMadeAnew(_ damage: Damage) throws {
        let provider = try Provider()
        let folder = try {
            let phone = try Phone(enrolledWith: provider)
            let seen = phone.receive(try provider.push(at: .start), request: "a", at: .start)
            #expect(seen.shown == DuplicateTests.opened)
            return phone.folder
        }()
        let seen = try provider.push(at: .start)
        _ = try damage.hold(folder)
        try makePrivate(folder)

        let now = Timestamp.start.plus(seconds: 3600)
        let phone = try Phone(reopening: folder, at: now)
        let push = try provider.push(at: now)
        let reception = phone.receive(push, request: "b", at: now)
        #expect(reception.shown == DuplicateTests.opened)
        // A missing one is what a phone's first push finds.
        #expect(reception.warnings == (damage.testDescription == "missing" ? [] : Self.madeAnew))
        // It remembers again; what was sent ten minutes before or earlier counts as seen, by a first guard a day before.
        #expect(phone.receive(push, request: "c", at: now).shown == DuplicateTests.passive)
        let age: UInt64 = damage.testDescription == "missing" ? 86_400_000 : 600_000
        #expect((phone.receive(seen, request: "a", at: now).shown == DuplicateTests.passive) == (age < 3_600_000))
        for (age, shown) in [(age - 1, DuplicateTests.opened), (age, DuplicateTests.passive)] {
            let held = try provider.push(at: now.subtracting(milliseconds: age))
            #expect(phone.receive(held, request: "d\(age)", at: now).shown == shown)
        }
    }

    /// The process that has the file open may go on with what it has in memory, or notice; it delivers.
    @Test(arguments: repairable)
    func aGuardThatIsDamagedWhileItIsOpenStopsNothing(_ damage: Damage) throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        #expect(phone.receive(try provider.push(at: .start), at: .start).shown == DuplicateTests.opened)
        _ = try damage.hold(phone.folder)
        try makePrivate(phone.folder)
        let push = try provider.push(at: .start)
        let reception = phone.receive(push, request: "b", at: .start)
        #expect(reception.shown == DuplicateTests.opened)
        #expect([[], Self.madeAnew].contains(reception.warnings))
        #expect(phone.receive(push, request: "c", at: .start).shown == DuplicateTests.passive)
    }

    /// A writer of the file may have made another one, with another mode.
    private func makePrivate(_ folder: TemporaryFolder) throws {
        guard FileManager.default.fileExists(atPath: Self.file(folder).path) else { return }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: Self.file(folder).path)
    }

    // MARK: Unusable

    static let unusable: [Damage] = [
        Damage("a directory") { folder in
            try FileManager.default.removeItem(at: file(folder))
            try FileManager.default.createDirectory(
                at: file(folder), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        },
        Damage("of a newer version") { _ = try connection($0, "PRAGMA user_version = 99") },
        Damage(holding: "locked by another process") { try connection($0, "BEGIN EXCLUSIVE") },
    ]

    @Test(arguments: unusable)
    func aGuardThatCannotBeUsedStopsNothing(_ damage: Damage) throws {
        let scene = try Scene()
        let held = try damage.hold(scene.phone.folder)
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
        withExtendedLifetime(held) {}
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

    /// A file that cannot be written may still be read.
    @Test(arguments: DuplicatePolicy.allCases)
    func aGuardThatOnlyReadsStillKnowsADuplicate(_ policy: DuplicatePolicy) throws {
        let scene = try Scene()
        let push = Scene.push(try scene.envelope())
        #expect(scene.receive(push, request: "a").shown == Scene.opened)
        let writer = try Self.connection(scene.phone.folder, "BEGIN IMMEDIATE")
        let database = ExtensionDatabase(in: scene.phone.folder.path, busyTimeout: 20)
        let receiver = scene.phone.receiver(database, duplicates: policy)
        let again = receiver.receive(push, requestID: "b", at: Scene.now)
        let shown: [DuplicatePolicy: Shown] = [
            .quiet: DuplicateTests.passive, .fallback: Scene.fallback, .suppress: Shown(),
        ]
        #expect(again.shown == shown[policy])
        #expect(again.warnings.count == 1)
        let other = receiver.receive(Scene.push(try scene.envelope()), requestID: "c", at: Scene.now)
        #expect(other.shown == Scene.opened)
        #expect(other.warnings.count == 1)
        withExtendedLifetime(writer) {}
    }
}

import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The extension's database: what its kinds of rows have in common. The replay guard has separate tests of the file.
struct ExtensionDatabaseTests {
    enum Kind: CaseIterable, Sendable {
        case journal
        case responses
    }

    /// The database, with rows of one kind that hold numbers.
    private struct Subject {
        let kind: Kind
        let database: ExtensionDatabase

        init(_ kind: Kind, at path: String) {
            self.kind = kind
            database = ExtensionDatabase(in: path)
        }

        /// Adds something that tells this number from others.
        func add(_ number: UInt64) -> KeyStoreError.Code? {
            switch kind {
            case .journal:
                database.journal.append(
                    JournalEntry(time: start, fingerprint: nil, code: "c", keyState: .none, milliseconds: number))?.code
            case .responses:
                code {
                    let key = try OneKey().key
                    try database.responses.keep(Bytes(String(number).utf8), sealedTo: key.publicKey, at: start)
                }
            }
        }

        func numbers() throws -> [UInt64] {
            switch kind {
            case .journal: try database.journal.entries().map(\.milliseconds)
            case .responses:
                try database.responses.responses(openedWith: OneKey().store, at: start)
                    .compactMap { UInt64(String(decoding: $0.response, as: UTF8.self)) }
            }
        }
    }

    private static let name = "extension.db"

    private func directory() throws -> Scratch {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        return scratch
    }

    /// A row that no version writes is skipped: the other kinds of rows, and the guard, keep theirs.
    @Test(arguments: Kind.allCases)
    func rowsOfAnotherFormHarmNoOther(_ kind: Kind) throws {
        let scratch = try directory()
        let subjects = Kind.allCases.map { Subject($0, at: scratch.store) }
        for subject in subjects { #expect(subject.add(1) == nil) }
        let change =
            switch kind {
            case .journal: "UPDATE journal SET key = 'x'"
            case .responses: "UPDATE responses SET kept = 'x'"
            }
        try SQLiteConnection(path: scratch.file(Self.name), busyTimeout: 0).execute(change)
        for subject in subjects {
            #expect(try subject.numbers() == (subject.kind == kind ? [] : [1]))
            #expect(subject.add(2) == nil)
            #expect(try subject.numbers() == (subject.kind == kind ? [2] : [1, 2]))
        }
    }

    /// Damage that only a reader meets is repaired by the next writer, whatever that writes.
    @Test func damageThatAReaderFindsIsRepairedByTheNextWriter() throws {
        let scratch = try directory()
        let database = ExtensionDatabase(in: scratch.store)
        #expect(Subject(.responses, at: scratch.store).add(1) == nil)
        let root = try SQLiteConnection(path: scratch.file(Self.name), busyTimeout: 0)
            .integer("SELECT rootpage FROM sqlite_schema WHERE name = 'responses'")
        var bytes = try readFile(scratch.file(Self.name))
        for index in (Int(root) - 1) * 4096..<Int(root) * 4096 { bytes[index] = 0xff }
        try writeFile(scratch.file(Self.name), bytes)
        let entry = JournalEntry(time: start, fingerprint: nil, code: "c", keyState: .none, milliseconds: 1)
        #expect(database.journal.append(entry) == nil)
        #expect(try database.responses.responses(openedWith: OneKey().store, at: start).isEmpty)
        #expect(try database.journal.entries().count == 1)
        #expect(database.journal.append(entry) == nil)
        #expect(try database.journal.entries().count == 1, "a new file")
        #expect(try SQLiteConnection(path: scratch.file(Self.name), busyTimeout: 0).isSound())
    }

    /// The guard of a file that another kind of row has created: what was sent a day before counts as shown.
    /// [O-8.10]
    @Test(arguments: Kind.allCases)
    func whoeverMakesTheFileSetsTheGuardsFloor(_ kind: Kind) throws {
        let scratch = try directory()
        #expect(Subject(kind, at: scratch.store).add(1) == nil)
        let replay = ExtensionDatabase(in: scratch.store).replay
        let floor = Timestamp(milliseconds: start.milliseconds - 86_400_000)
        for (id, sentAt, verdict) in [(1, floor, .seen), (2, floor.next, .new)] as [(UInt64, Timestamp, ReplayVerdict)]
        {
            let message = ReplayMessage(
                MessageID(id), from: OneProvider.key.publicKey, epoch: 0, trustFloor: 0, to: "default", requestID: "r",
                sentAt: sentAt, expiresAt: start + 600)
            #expect(replay.take(message, at: start + 100).verdict == verdict)
        }
    }

    @Test(arguments: Kind.allCases)
    func aFileThatCannotBeUsedIsSaidAndLeftAlone(_ kind: Kind) throws {
        let scratch = try directory()
        #expect(Subject(kind, at: scratch.path + "/none").add(1) == .storeMissing)
        let path = scratch.file(Self.name)
        #expect(Subject(kind, at: scratch.store).add(1) == nil)
        try SQLiteConnection(path: path, busyTimeout: 0).execute("PRAGMA user_version = 4")
        #expect(Subject(kind, at: scratch.store).add(2) == .newerVersion)
        unsafe unlink(path)
        unsafe symlink("/dev/null", path)
        #expect(Subject(kind, at: scratch.store).add(2) == .inputOutput)
    }

    @Test(arguments: Kind.allCases)
    func onAFullDiskNothingIsLostThatWasKept(_ kind: Kind) throws {
        guard let disk = try SmallDisk(kilobytes: 300) else { return }
        let path = disk.path + "/store"
        try #require(unsafe mkdir(path, 0o700) == 0)
        let subject = Subject(kind, at: path)
        #expect(subject.add(1) == nil)
        try disk.fill()
        var kept: [UInt64] = [1]
        var codes: Set<KeyStoreError.Code?> = []
        for number in 2...60 as ClosedRange<UInt64> {
            let code = subject.add(number)
            codes.insert(code)
            if code == nil { kept.append(number) }
        }
        #expect(codes.contains(.diskFull) && codes.isSubset(of: [.diskFull, nil]))
        #expect(try Subject(kind, at: path).numbers() == kept)
        disk.empty()
        #expect(subject.add(61) == nil)
    }

    /// SQLite's level EXTRA. With less, a power cut could bring back the journal of a change that was acknowledged, and
    /// the next reader would undo it.
    @Test func aChangeWaitsUntilTheDiskHasForgottenItsJournal() throws {
        #expect(try Home().raw().integer("PRAGMA synchronous") == 3)
    }
}

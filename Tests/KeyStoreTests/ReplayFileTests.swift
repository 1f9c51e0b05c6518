import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The replay guard's file: missing, damaged, unwritable. A delivery never fails for it.
struct ReplayFileTests: ReplayFileSuite {
    // MARK: The file

    @Test func theFileIsItsOwnersAloneAndOneFile() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(judge(file), .new)
        #expect(try scratch.names() == ["replay.db"], "no lock and no log is left between two judgements")
        #expect(mode(of: scratch.file("replay.db")) == 0o600)
    }

    @Test func whatWasSeenIsRememberedByAnotherOpening() throws {
        let scratch = try directory()
        expect(judge(open(scratch.store)), .new)
        expect(judge(open(scratch.store)), .sameRequest(soundAllowed: true))
        expect(judge(open(scratch.store), request: "other"), .duplicate)
    }

    @Test func aGuardIsNotMadeOverAnother() throws {
        let scratch = try directory()
        #expect(code { try ReplayFile.create(in: scratch.store, floor: start) } == .storeExists)
        #expect(code { try ReplayFile.create(in: scratch.path + "/none", floor: start) } == .storeMissing)
    }

    @Test func anInterruptedCreationIsFinishedByAnother() throws {
        let scratch = try directory(withGuard: false)
        for name in ["replay.db.new", "replay.db.new-journal", "replay.db-journal"] {
            try writeFile(scratch.file(name), Bytes(repeating: 0xa5, count: 3000))
        }
        expect(judge(try ReplayFile.create(in: scratch.store, floor: start)), .new)
        #expect(try scratch.names() == ["replay.db"])
    }

    // MARK: Missing and damaged

    /// The floor of a remade guard lies ten minutes back: the message in hand is new, what is older is not.
    private func expectRemade(_ file: ReplayFile, at now: Timestamp, _ location: SourceLocation = #_sourceLocation) {
        let floor = Timestamp(milliseconds: now.milliseconds - 600_000)
        expect(judge(file, 1, sentAt: floor, at: now), .duplicate, location)
        expect(judge(file, 2, sentAt: floor.next, at: now), .new, location)
        expect(judge(file, 2, request: "other", sentAt: floor.next, at: now), .duplicate, location)
    }

    @Test func aMissingFileIsMadeWithAFloorTenMinutesBack() throws {
        let scratch = try directory(withGuard: false)
        let now = start + 1_000_000
        expectRemade(open(scratch.store, at: now), at: now)
        #expect(try scratch.names() == ["replay.db"])
    }

    @Test func thatTheGuardWasDamagedIsSaidOnce() throws {
        let scratch = try directory(withGuard: false)
        let file = open(scratch.store)
        #expect(!judge(file, 1).wasDamaged, "as at the first push")
        #expect(!judge(file, 2).wasDamaged)
        try writeFile(scratch.file("replay.db"), Bytes("damage".utf8))
        let other = open(scratch.store)
        #expect(judge(other, 3).wasDamaged, "by whoever made it anew")
        #expect(!judge(file, 4).wasDamaged && !judge(other, 5).wasDamaged)
        #expect(!judge(try ReplayFile.create(in: Scratch().path, floor: start), 1).wasDamaged, "made where it must be")
    }

    @Test func aFileThatGoesMissingUnderASessionIsMadeAgain() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(judge(file), .new)
        unsafe unlink(scratch.file("replay.db"))
        expectRemade(file, at: start + 2_000_000)
    }

    @Test func aFileThatAnotherReplacedIsTheFile() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(judge(file, 1), .new)
        unsafe unlink(scratch.file("replay.db"))
        expect(judge(try ReplayFile.create(in: scratch.store, floor: start), 2), .new)
        expect(judge(file, 2, request: "other"), .duplicate)
        expect(judge(file, 1), .new)
    }

    private static let damages: [(name: String, damage: @Sendable (Bytes) -> Bytes)] = [
        ("empty", { _ in [] }), ("one byte", { _ in [0] }), ("text", { _ in Bytes("what is this".utf8) }),
        ("zeros", { Bytes(repeating: 0, count: $0.count) }), ("noise", { Bytes($0.map { $0 &* 37 &+ 11 }) }),
        ("cut after the header", { Bytes($0.prefix(100)) }), ("cut after a page", { Bytes($0.prefix(4096)) }),
        ("cut in the middle", { Bytes($0.prefix($0.count / 2 + 100)) }),
        ("a page of noise at the end", { $0.prefix($0.count - 4096) + Bytes(repeating: 0xff, count: 4096) }),
        ("every page but the first", { $0.prefix(4096) + Bytes(repeating: 0xff, count: $0.count - 4096) }),
        ("twice itself", { $0 + $0 }),
    ]

    @Test(arguments: damages.map(\.name))
    func aDamagedFileIsReplacedAndTheMessageInHandIsNew(_ name: String) throws {
        let (_, damage) = try #require(Self.damages.first { $0.name == name })
        let scratch = try directory()
        let path = scratch.file("replay.db")
        let before = open(scratch.store)
        for id in 100..<200 as Range<UInt64> { expect(judge(before, id), .new) }
        try writeFile(path, damage(try readFile(path)))
        let now = start + 3_000_000
        let after = open(scratch.store, at: now)
        for id in 1...50 as ClosedRange<UInt64> { expect(judge(after, id, sentAt: now, at: now), .new) }
        for id in 1...50 as ClosedRange<UInt64> {
            expect(judge(after, id, request: "other", sentAt: now, at: now), .duplicate)
        }
        // The session from before goes on with the new file.
        expect(judge(before, 7, request: "other", sentAt: now, at: now), .duplicate)
        #expect(try scratch.names() == ["replay.db"])
        #expect(try SQLiteConnection(path: path, busyTimeout: 0).isSound())
    }

    @Test func theDatabaseOfAnotherProgramIsReplaced() throws {
        let scratch = try directory(withGuard: false)
        try writeFile(scratch.file("replay.db"), [])
        try SQLiteConnection(path: scratch.file("replay.db"), busyTimeout: 0).execute("CREATE TABLE t (a)")
        let now = start + 1_000_000
        expectRemade(open(scratch.store, at: now), at: now)
    }

    /// Whatever else it holds: one says whose file it is, the other what may go on behind a statement.
    @Test(arguments: ["PRAGMA application_id = 1", "CREATE VIEW v AS SELECT 1"])
    func aFileWithAnotherMarkOrAViewIsReplaced(_ change: String) throws {
        let scratch = try directory()
        try SQLiteConnection(path: scratch.file("replay.db"), busyTimeout: 0).execute(change)
        let now = start + 1_000_000
        expectRemade(open(scratch.store, at: now), at: now)
    }

    @Test(arguments: [
        "UPDATE seen SET request = 1", "UPDATE seen SET first = 'x'", "DROP TABLE seen", "DROP TABLE senders",
    ])
    func aFileWithOtherContentIsReplaced(_ change: String) throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(judge(file), .new)
        try SQLiteConnection(path: scratch.file("replay.db"), busyTimeout: 0).execute(change)
        let now = start + 5
        expect(judge(file, at: now), .new)
        expect(judge(file, request: "other", at: now), .duplicate)
    }

    @Test func aJournalOfAnOldFileIsNotPlayedIntoTheNewOne() throws {
        let scratch = try directory(withGuard: false)
        // What a process leaves that is killed in the middle of a change.
        let old = scratch.path + "/old.db"
        try writeFile(old, [])
        let database = try SQLiteConnection(path: old, busyTimeout: 0)
        try database.execute("CREATE TABLE old (a); INSERT INTO old VALUES (zeroblob(20000))")
        try database.execute("PRAGMA cache_size = 0; BEGIN; UPDATE old SET a = randomblob(20000)")
        let journal = try readFile(old + "-journal")
        #expect(journal.count > 20_000)
        try writeFile(scratch.file("replay.db-journal"), journal)

        _ = try ReplayFile.create(in: scratch.store, floor: start)
        expect(judge(open(scratch.store), 1, sentAt: start), .duplicate)
        expect(judge(open(scratch.store), 2), .new)
        #expect(try scratch.names() == ["replay.db"])
    }

    @Test func aFileOfANewerVersionIsLeftAlone() throws {
        let scratch = try directory()
        try SQLiteConnection(path: scratch.file("replay.db"), busyTimeout: 0).execute("PRAGMA user_version = 2")
        let before = try readFile(scratch.file("replay.db"))
        expect(judge(open(scratch.store)), .new, problem: .newerVersion)
        #expect(try readFile(scratch.file("replay.db")) == before)
    }

    // MARK: A guard that cannot be used stops no delivery

    @Test func withoutADirectoryEveryMessageIsNew() throws {
        let scratch = try Scratch()
        let file = open(scratch.path + "/none")
        expect(judge(file), .new, problem: .storeMissing)
        expect(judge(file), .new, problem: .storeMissing)
    }

    @Test func aFileThatIsOpenToOthersIsNotUsed() throws {
        let scratch = try directory()
        unsafe chmod(scratch.file("replay.db"), 0o644)
        expect(judge(open(scratch.store)), .new, problem: .unsafeStoreFile)
        unsafe unlink(scratch.file("replay.db"))
        unsafe symlink("/dev/null", scratch.file("replay.db"))
        expect(judge(open(scratch.store)), .new, problem: .unsafeStoreFile)
    }

    @Test func whileAnotherWritesTheMessageIsNewAndThatIsSaid() throws {
        let scratch = try directory()
        let file = open(scratch.store, waiting: 20)
        expect(judge(file, 1), .new)
        let writer = try SQLiteConnection(path: scratch.file("replay.db"), busyTimeout: 0)
        try writer.execute("BEGIN IMMEDIATE")
        expect(judge(file, 2), .new, problem: .storeBusy)
        // What is remembered can still be read.
        expect(judge(file, 1, request: "other"), .duplicate, problem: .storeBusy)
        try writer.execute("ROLLBACK; BEGIN EXCLUSIVE")
        expect(judge(file, 1, request: "other"), .new, problem: .storeBusy)
        try writer.execute("ROLLBACK")
        expect(judge(file, 2), .new)
    }

    @Test func onAFullDiskTheMessageIsNewAndThatIsSaid() throws {
        guard let disk = try SmallDisk(kilobytes: 400) else { return }
        let path = disk.path + "/store"
        try #require(unsafe mkdir(path, 0o700) == 0)
        let file = try ReplayFile.create(in: path, floor: start)
        expect(judge(file, 1), .new)
        try disk.fill()
        var problems: Set<KeyStoreError.Code?> = []
        for id in 100..<1000 as Range<UInt64> {
            let judgement = judge(file, id)
            #expect(judgement.verdict == .new)
            problems.insert(judgement.problem?.code)
        }
        #expect(problems.contains(.diskFull) && problems.isSubset(of: [.diskFull, nil]))
        // Nothing has to be written to see that a message is known.
        expect(judge(open(path), 1, request: "other"), .duplicate)
        disk.empty()
        expect(judge(file, 5000), .new)
        expect(judge(file, 5000, request: "other"), .duplicate)
    }

    @Test func onAReadOnlyDiskTheMessageIsNewAndThatIsSaid() throws {
        guard let disk = try SmallDisk(kilobytes: 400) else { return }
        let path = disk.path + "/store"
        try #require(unsafe mkdir(path, 0o700) == 0)
        expect(judge(try ReplayFile.create(in: path, floor: start), 1), .new)
        try disk.setReadOnly(true)
        for file in [open(path), open(path)] {
            expect(judge(file, 2), .new, problem: .inputOutput)
            expect(judge(file, 1, request: "other"), .duplicate, problem: .inputOutput)
        }
        try disk.setReadOnly(false)
    }
}

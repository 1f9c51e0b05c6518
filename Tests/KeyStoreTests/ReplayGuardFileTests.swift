import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The replay guard's file: missing, damaged, unwritable. A delivery never fails for it.
struct ReplayGuardFileTests: ReplayGuardSuite {
    // MARK: The file

    @Test func theFileIsItsOwnersAloneAndOneFile() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file), .new)
        #expect(try scratch.names() == ["extension.db"], "no lock and no log is left between two calls")
        #expect(mode(of: scratch.file("extension.db")) == 0o600)
    }

    @Test func aGuardIsNotMadeOverAnother() throws {
        let scratch = try directory()
        #expect(code { try ExtensionDatabase.create(in: scratch.store, floor: start).replay } == .storeExists)
        #expect(code { try ExtensionDatabase.create(in: scratch.path + "/none", floor: start).replay } == .storeMissing)
    }

    @Test func anInterruptedCreationIsFinishedByAnother() throws {
        let scratch = try directory(withGuard: false)
        for name in ["extension.db.new", "extension.db.new-journal", "extension.db-journal"] {
            try writeFile(scratch.file(name), Bytes(repeating: 0xa5, count: 3000))
        }
        expect(take(try ExtensionDatabase.create(in: scratch.store, floor: start).replay), .new)
        #expect(try scratch.names() == ["extension.db"])
    }

    // MARK: Missing and damaged

    /// The floor of a remade guard lies ten minutes back, or a day if there was none: the message in hand is new, what is
    /// older is not. [O-8.10]
    private func expectRemade(
        _ file: ReplayGuard, at now: Timestamp, afterDamage: Bool = true, _ location: SourceLocation = #_sourceLocation
    ) {
        let floor = Timestamp(milliseconds: now.milliseconds - (afterDamage ? 600_000 : 86_400_000))
        expect(take(file, 1, sentAt: floor, at: now), .seen, location)
        expect(take(file, 2, sentAt: floor.next, at: now), .new, location)
        expect(take(file, 2, request: "other", sentAt: floor.next, at: now), .copy, location)
    }

    @Test func aMissingFileIsMadeWithAFloorADayBack() throws {
        let scratch = try directory(withGuard: false)
        let now = start + 1_000_000
        expectRemade(open(scratch.store), at: now, afterDamage: false)
        #expect(try scratch.names() == ["extension.db"])
    }

    @Test func thatTheGuardWasDamagedIsSaidOnce() throws {
        let scratch = try directory(withGuard: false)
        let file = open(scratch.store)
        #expect(!take(file, 1).wasDamaged, "as at the first push")
        #expect(!take(file, 2).wasDamaged)
        try writeFile(scratch.file("extension.db"), Bytes("damage".utf8))
        let other = open(scratch.store)
        #expect(take(other, 3).wasDamaged, "by whoever made it anew")
        #expect(!take(file, 4).wasDamaged && !take(other, 5).wasDamaged)
        #expect(
            !take(try ExtensionDatabase.create(in: Scratch().path, floor: start).replay, 1).wasDamaged,
            "made where it must be")
    }

    @Test func aFileThatGoesMissingUnderASessionIsMadeAgain() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file), .new)
        unsafe unlink(scratch.file("extension.db"))
        expectRemade(file, at: start + 2_000_000, afterDamage: false)
    }

    @Test func aFileThatAnotherReplacedIsTheFile() throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file, 1), .new)
        unsafe unlink(scratch.file("extension.db"))
        expect(take(try ExtensionDatabase.create(in: scratch.store, floor: start).replay, 2), .new)
        expect(take(file, 2, request: "other"), .copy)
        expect(take(file, 1), .new)
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
        let path = scratch.file("extension.db")
        let before = open(scratch.store)
        for id in 100..<200 as Range<UInt64> { expect(take(before, id), .new) }
        try writeFile(path, damage(try readFile(path)))
        let now = start + 3_000_000
        let after = open(scratch.store)
        for id in 1...50 as ClosedRange<UInt64> { expect(take(after, id, sentAt: now, at: now), .new) }
        for id in 1...50 as ClosedRange<UInt64> {
            expect(take(after, id, request: "other", sentAt: now, at: now), .copy)
        }
        // The session from before goes on with the new file.
        expect(take(before, 7, request: "other", sentAt: now, at: now), .copy)
        #expect(try scratch.names() == ["extension.db"])
        #expect(try SQLiteConnection(path: path, busyTimeout: 0).isSound())
    }

    @Test func theDatabaseOfAnotherProgramIsReplaced() throws {
        let scratch = try directory(withGuard: false)
        try writeFile(scratch.file("extension.db"), [])
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute("CREATE TABLE t (a)")
        let now = start + 1_000_000
        expectRemade(open(scratch.store), at: now)
    }

    /// The mark says whose file it is; a trigger could do anything behind a statement.
    @Test(arguments: ["PRAGMA application_id = 1", "CREATE TRIGGER t AFTER INSERT ON seen BEGIN SELECT 1; END"])
    func aFileWithAnotherMarkOrATriggerIsReplaced(_ change: String) throws {
        let scratch = try directory()
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute(change)
        let now = start + 1_000_000
        expectRemade(open(scratch.store), at: now)
    }

    @Test(arguments: [
        "UPDATE seen SET request = 1", "DELETE FROM providers WHERE key = x''", "UPDATE seen SET state = 'x'",
        "UPDATE seen SET state = 9", "DROP TABLE seen", "DROP TABLE providers",
    ])
    func aFileWithOtherContentIsReplaced(_ change: String) throws {
        let scratch = try directory()
        let file = open(scratch.store)
        expect(take(file), .new)
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute(change)
        let now = start + 5
        expect(take(file, at: now), .new)
        expect(take(file, request: "other", at: now), .copy)
    }

    @Test func aFileOfAnOlderLayoutIsReplaced() throws {
        let scratch = try directory()
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute("PRAGMA user_version = 0")
        let now = start + 1_000_000
        expectRemade(open(scratch.store), at: now)
    }

    // MARK: A full guard with a flipped bit

    /// The message id is in the table and in two indexes: a change that removes no row must not be tried for ever.
    @Test(arguments: [0, 1, 2])
    func aFullGuardWhoseIndexesDifferIsReplacedOrUsed(_ place: Int) async throws {
        let scratch = try directory()
        let (path, first) = (scratch.file("extension.db"), 0xfeed_beef_cafe_f00d as UInt64)
        let file = open(scratch.store, room: 512)
        expect(take(file, first, sentAt: start + 1), .new)
        for id in 1..<512 as Range<UInt64> { expect(take(file, id, sentAt: start + 2, at: start + 2), .new) }
        var bytes = try readFile(path)
        let id = MessageID(first).bytes
        let places = bytes.indices.dropLast(16).filter { bytes[$0] == id[0] && bytes[$0..<$0 + 16] == id[...] }
        #expect(places.count == 3)
        bytes[places[place] + 8] ^= 1
        try writeFile(path, bytes)
        let (store, provider) = (scratch.store, provider.description)
        await #expect(processExitsWith: .success) { [store = store as String, provider = provider as String] in
            limitWork()
            let file = ExtensionDatabase(in: store, busyTimeout: StoreOptions.patience, maximumRows: 512).replay
            let provider = try ProviderPublicKey(text: provider)
            for (request, verdict) in [("r", .new), ("other", .copy)] as [(String, ReplayVerdict)] {
                for id in 5000...5001 as ClosedRange<UInt64> {
                    let message = ReplayMessage(
                        MessageID(id), from: provider, epoch: 0, trustFloor: 0, to: "default", requestID: request,
                        sentAt: start + 3,
                        expiresAt: start + 600)
                    try #require(file.take(message, at: start + 3).verdict == verdict)
                }
            }
        }
        let rows = try SQLiteConnection(path: path, busyTimeout: 0).integer("SELECT count(*) FROM seen NOT INDEXED")
        #expect(rows <= 512, "a row that was not found made no room")
    }

    // MARK: Checking

    @Test func aCheckChangesNothing() throws {
        let scratch = try directory()
        let before = try readFile(scratch.file("extension.db"))
        let sound = Finding(.note, "the extension's database is sound")
        #expect(ExtensionDatabase.check(in: scratch.store, at: start) == [sound])
        #expect(try readFile(scratch.file("extension.db")) == before)
        unsafe unlink(scratch.file("extension.db"))
        #expect(ExtensionDatabase.check(in: scratch.store, at: start) == [])
        #expect(try scratch.names() == [])
    }

    @Test(arguments: [
        ("PRAGMA user_version = 0", "older layout"), ("PRAGMA application_id = 1", "is not an extension's database"),
        ("PRAGMA user_version = 4", "newer version"),
        ("UPDATE providers SET floor = 9000000000000", "the clock was ahead"),
        (
            "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'sent)', 'state)') WHERE name = 'seen_by_time'",
            "does not have the tables of this version"
        ),
    ])
    func aCheckSaysWhatTheNextMessageFinds(_ change: String, _ text: String) throws {
        let scratch = try directory()
        expect(take(open(scratch.store)), .new)
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute(change)
        let findings = ExtensionDatabase.check(in: scratch.store, at: start)
        #expect(findings.map(\.severity) == [.warning])
        #expect(findings.first?.message.contains(text) == true, "\(findings)")
    }

    @Test func aJournalOfAnOldFileIsNotPlayedIntoTheNewOne() throws {
        let scratch = try directory(withGuard: false)
        // A process that is killed during a change leaves this.
        let old = scratch.path + "/old.db"
        try writeFile(old, [])
        let database = try SQLiteConnection(path: old, busyTimeout: 0)
        try database.execute("CREATE TABLE old (a); INSERT INTO old VALUES (zeroblob(20000))")
        try database.execute("PRAGMA cache_size = 0; BEGIN; UPDATE old SET a = randomblob(20000)")
        let journal = try readFile(old + "-journal")
        #expect(journal.count > 20_000)
        try writeFile(scratch.file("extension.db-journal"), journal)

        _ = try ExtensionDatabase.create(in: scratch.store, floor: start).replay
        expect(take(open(scratch.store), 1, sentAt: start), .seen)
        expect(take(open(scratch.store), 2), .new)
        #expect(try scratch.names() == ["extension.db"])
    }

    @Test func aFileOfANewerVersionIsLeftAlone() throws {
        let scratch = try directory()
        try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0).execute("PRAGMA user_version = 4")
        let before = try readFile(scratch.file("extension.db"))
        expect(take(open(scratch.store)), .new, problem: .newerVersion)
        #expect(try readFile(scratch.file("extension.db")) == before)
    }

    // MARK: A guard that cannot be used stops no delivery

    @Test func withoutADirectoryEveryMessageIsNew() throws {
        let scratch = try Scratch()
        let file = open(scratch.path + "/none")
        expect(take(file), .new, problem: .storeMissing)
        expect(take(file), .new, problem: .storeMissing)
    }

    @Test func onlyFilesAreUsed() throws {
        let scratch = try directory()
        unsafe unlink(scratch.file("extension.db"))
        unsafe symlink("/dev/null", scratch.file("extension.db"))
        expect(take(open(scratch.store)), .new, problem: .inputOutput)
    }

    @Test func aFileThatIsOpenToOthersIsUsed() throws {
        let scratch = try directory()
        unsafe chmod(scratch.file("extension.db"), 0o666)
        unsafe chmod(scratch.store, 0o777)
        expect(take(open(scratch.store)), .new)
        expect(take(open(scratch.store), request: "other"), .copy)
    }

    @Test func whileAnotherWritesTheMessageIsNewAndThatIsSaid() throws {
        let scratch = try directory()
        let file = open(scratch.store, waiting: 20)
        expect(take(file, 1), .new)
        let writer = try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0)
        try writer.execute("BEGIN IMMEDIATE")
        expect(take(file, 2), .new, problem: .storeBusy)
        // Earlier messages can still be read.
        expect(take(file, 1, request: "other"), .copy, problem: .storeBusy)
        try writer.execute("ROLLBACK; BEGIN EXCLUSIVE")
        expect(take(file, 1, request: "other"), .new, problem: .storeBusy)
        try writer.execute("ROLLBACK")
        expect(take(file, 2), .new)
    }

    @Test func onAFullDiskTheMessageIsNewAndThatIsSaid() throws {
        guard let disk = try SmallDisk(kilobytes: 400) else { return }
        let path = disk.path + "/store"
        try #require(unsafe mkdir(path, 0o700) == 0)
        let file = try ExtensionDatabase.create(in: path, floor: start).replay
        expect(take(file, 1), .new)
        try disk.fill()
        var problems: Set<KeyStoreError.Code?> = []
        for id in 100..<1000 as Range<UInt64> {
            let taking = take(file, id)
            #expect(taking.verdict == .new)
            problems.insert(taking.problem?.code)
        }
        #expect(problems.contains(.diskFull) && problems.isSubset(of: [.diskFull, nil]))
        // Nothing has to be written to see that a message is known.
        expect(take(open(path), 1, request: "other"), .copy)
        disk.empty()
        expect(take(file, 5000), .new)
        expect(take(file, 5000, request: "other"), .copy)
    }

    @Test func onAReadOnlyDiskTheMessageIsNewAndThatIsSaid() throws {
        guard let disk = try SmallDisk(kilobytes: 400) else { return }
        let path = disk.path + "/store"
        try #require(unsafe mkdir(path, 0o700) == 0)
        expect(take(try ExtensionDatabase.create(in: path, floor: start).replay, 1), .new)
        try disk.setReadOnly(true)
        for file in [open(path), open(path)] {
            expect(take(file, 2), .new, problem: .inputOutput)
            expect(take(file, 1, request: "other"), .copy, problem: .inputOutput)
        }
        try disk.setReadOnly(false)
    }
}

import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Behaviour common to the small files: statements, journal and responses. The replay guard has separate tests.
struct ExtensionFileTests {
    enum Kind: String, CaseIterable, Sendable {
        case statements
        case journal
        case responses

        var name: String { rawValue + ".db" }
    }

    /// One of the files, filled with numbers.
    private struct Subject: Sendable {
        private static let sender = ProviderKey()

        let kind: Kind
        let statements: StatementFile
        let journal: JournalFile
        let responses: ResponseFile

        init(_ kind: Kind, at path: String) {
            self.kind = kind
            statements = StatementFile(in: path)
            journal = JournalFile(in: path)
            responses = ResponseFile(in: path)
        }

        /// Adds something that tells this number from others.
        func add(_ number: UInt64) -> KeyStoreError.Code? {
            switch kind {
            case .statements:
                code {
                    let statement = try RotationStatement(
                        from: Self.sender, to: ProviderKey(), at: Timestamp(milliseconds: number))
                    try statements.keep(openedWith: nil, statements: [statement], topic: .app, at: start)
                }
            case .journal:
                journal.append(
                    JournalEntry(time: start, fingerprint: nil, code: "c", keyState: .none, milliseconds: number))?.code
            case .responses:
                code {
                    let key = try OneKey().key
                    try responses.keep(Bytes(String(number).utf8), sealedTo: key.publicKey, at: start)
                }
            }
        }

        func numbers() throws -> [UInt64] {
            switch kind {
            case .statements: try statements.statements(for: .app).map(\.statement.issuedAt.milliseconds)
            case .journal: try journal.entries().map(\.milliseconds)
            case .responses:
                try responses.responses(openedWith: OneKey(), at: start)
                    .compactMap { UInt64(String(decoding: $0.response, as: UTF8.self)) }
            }
        }
    }

    private func directory() throws -> Scratch {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        return scratch
    }

    @Test(arguments: Kind.allCases)
    func aDamagedFileIsMadeAnewByTheNextWriter(_ kind: Kind) throws {
        for damage in [Bytes(), Bytes("no database".utf8), Bytes(repeating: 0xff, count: 8192)] {
            let scratch = try directory()
            let before = Subject(kind, at: scratch.store)
            #expect(before.add(1) == nil)
            try writeFile(scratch.file(kind.name), damage)
            #expect(Subject(kind, at: scratch.store).add(2) == nil)
            #expect(before.add(3) == nil)
            #expect(try before.numbers() == [2, 3])
            #expect(try scratch.names() == [kind.name])
        }
    }

    @Test(arguments: Kind.allCases)
    func theFileOfAnotherKindIsMadeAnew(_ kind: Kind) throws {
        let scratch = try directory()
        _ = try ReplayFile.create(in: scratch.store, floor: start)
        try writeFile(scratch.file(kind.name), try readFile(scratch.file("replay.db")))
        #expect(Subject(kind, at: scratch.store).add(1) == nil)
        #expect(try Subject(kind, at: scratch.store).numbers() == [1])
    }

    @Test(arguments: Kind.allCases)
    func rowsOfAnotherKindAreDamage(_ kind: Kind) throws {
        let scratch = try directory()
        let subject = Subject(kind, at: scratch.store)
        #expect(subject.add(1) == nil)
        let change =
            switch kind {
            case .journal: "UPDATE entries SET key = 'x'"
            case .statements: "UPDATE statements SET topic = ''"
            case .responses: "UPDATE responses SET kept = 'x'"
            }
        try SQLiteConnection(path: scratch.file(kind.name), busyTimeout: 0).execute(change)
        switch kind {
        case .journal, .responses: #expect(try subject.numbers().isEmpty)
        case .statements:
            let store = try DeviceStoreKind.memory.store()
            #expect(try ExtensionKeys(keys: store, statements: subject.statements).trust(for: .other) == ProviderTrust())
            #expect(try subject.statements.merge(into: store, at: start) == StatementFile.MergeResult())
        }
        #expect(subject.add(2) == nil)
        #expect(try subject.numbers() == [2])
    }

    @Test(arguments: Kind.allCases)
    func aFileThatCannotBeUsedIsSaidAndLeftAlone(_ kind: Kind) throws {
        let scratch = try directory()
        #expect(Subject(kind, at: scratch.path + "/none").add(1) == .storeMissing)
        let path = scratch.file(kind.name)
        #expect(Subject(kind, at: scratch.store).add(1) == nil)
        try SQLiteConnection(path: path, busyTimeout: 0).execute("PRAGMA user_version = 2")
        #expect(Subject(kind, at: scratch.store).add(2) == .newerVersion)
        unsafe chmod(path, 0o644)
        #expect(Subject(kind, at: scratch.store).add(2) == .unsafeStoreFile)
        unsafe unlink(path)
        unsafe symlink("/dev/null", path)
        #expect(Subject(kind, at: scratch.store).add(2) == .unsafeStoreFile)
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

    @Test(arguments: Kind.allCases)
    func onAReadOnlyDiskTheFileIsStillRead(_ kind: Kind) throws {
        guard let disk = try SmallDisk(kilobytes: 300) else { return }
        let path = disk.path + "/store"
        try #require(unsafe mkdir(path, 0o700) == 0)
        #expect(Subject(kind, at: path).add(1) == nil)
        try disk.setReadOnly(true)
        #expect(Subject(kind, at: path).add(2) == .inputOutput)
        #expect(try Subject(kind, at: path).numbers() == [1])
        try disk.setReadOnly(false)
    }

    @Test(arguments: Kind.allCases)
    func manyThreadsAndSessionsShareAFile(_ kind: Kind) async throws {
        let scratch = try directory()
        await withTaskGroup(of: Void.self) { group in
            let shared = Subject(kind, at: scratch.store)
            for writer in 0..<6 as Range<UInt64> {
                group.addTask {
                    let subject = writer < 3 ? shared : Subject(kind, at: scratch.store)
                    for round in 0..<8 as Range<UInt64> { #expect(subject.add(writer * 8 + round) == nil) }
                }
            }
        }
        #expect(try Set(Subject(kind, at: scratch.store).numbers()) == Set(0..<48))
    }

    /// Each process is killed in the middle of its writing, after two writes and a different time.
    @Test(arguments: Kind.allCases)
    func aProcessThatIsKilledLeavesAFileThatCanBeReadAndWritten(_ kind: Kind) async throws {
        let scratch = try directory()
        var kept = 0
        for round in 0..<12 as Range<UInt32> {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = scratch.store as String, kind = kind.rawValue as String, pause = 1000 + round * 700 as UInt32]
                in
                let subject = Subject(try #require(Kind(rawValue: kind)), at: path)
                func add(_ numbers: Range<UInt64>) {
                    for number in numbers { _ = subject.add(UInt64(pause) << 20 | number) }
                }
                add(0..<2)
                let killer = Task.detached {
                    usleep(pause)
                    kill(getpid(), SIGKILL)
                }
                add(2..<1000)
                _ = await killer.value
            }
            let subject = Subject(kind, at: scratch.store)
            // What a process kept is there without a gap.
            for (_, mine) in Dictionary(grouping: try subject.numbers(), by: { $0 >> 20 }) {
                let mine = mine.map { $0 & 0xfffff }
                #expect(zip(mine, mine.dropFirst()).allSatisfy { $0 + 1 == $1 })
                kept += mine.count
            }
            // Makes room.
            _ = try subject.statements.merge(into: try DeviceStoreKind.memory.store(), at: start)
        }
        #expect(kept >= 24)
        #expect(try SQLiteConnection(path: scratch.file(kind.name), busyTimeout: 0).isSound())
        #expect(Subject(.journal, at: scratch.store).add(1) == nil)
        #expect(try Set(scratch.names()).isSuperset(of: [kind.name]))
    }

    /// SQLite's level EXTRA. With less, a power cut could bring back the journal of a change that was acknowledged, and the
    /// next reader would undo it.
    @Test func aChangeWaitsUntilTheDiskHasForgottenItsJournal() throws {
        #expect(try Home().raw().integer("PRAGMA synchronous") == 3)
    }
}

import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The delivery journal: bounded, without content, read back as it was written.
struct JournalTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
    }

    private var file: Journal { ExtensionDatabase(in: scratch.store).journal }

    private func entry(_ number: UInt64, code: String = "opened") -> JournalEntry {
        JournalEntry(
            time: start + number, fingerprint: EnvelopeFingerprint(value: UInt32(truncatingIfNeeded: number)),
            code: code, keyState: .active, milliseconds: number)
    }

    @Test func entriesAreReadBackOldestFirst() throws {
        #expect(try file.entries().isEmpty)
        #expect(try scratch.names().isEmpty, "looking makes nothing")
        let bare = JournalEntry(
            time: start, fingerprint: nil, code: "not-encrypted", keyState: .none, milliseconds: 0)
        let file = file
        for entry in [entry(1), bare, entry(0xffff_ffff)] { #expect(file.append(entry) == nil) }
        #expect(try self.file.entries() == [entry(1), bare, entry(0xffff_ffff)])
        #expect(try scratch.names() == ["extension.db"])
    }

    @Test func theOldestGoesFirst() throws {
        let file = file
        for number in 1...300 as ClosedRange<UInt64> { file.append(entry(number)) }
        #expect(try file.entries() == (45...300 as ClosedRange<UInt64>).map { entry($0) })
        let rows = try SQLiteConnection(path: scratch.file("extension.db"), busyTimeout: 0)
            .integer("SELECT count(*) FROM journal")
        #expect(rows == 256)
    }

    @Test(arguments: ["", "Meet me at 8", "MEET", "zw\u{f6}lf", "a\nb", String(repeating: "a", count: 41)])
    func anythingButACodeIsWrittenAsUnknown(_ text: String) throws {
        let file = file
        file.append(entry(1, code: text))
        #expect(try file.entries().map(\.code) == ["unknown"])
    }

    @Test func everyCodeThereIsIsWritten() throws {
        let codes =
            KeyStoreError.Code.allCases.map(\.description) + OpenError.Code.allCases.map(\.description)
            + [String(repeating: "a", count: 40)]
        #expect(codes.allSatisfy { entry(1, code: $0).code == $0 })
    }

    @Test func theStateOfAKeyIsWhatTheStoreSaid() {
        typealias State = JournalEntry.KeyState
        #expect(
            ([.pending, .active, .retiring] as [DeviceState.Key.State]).map(State.init) == [
                .pending, .active, .retiring,
            ])
        let errors: [(KeyStoreError.Code, State)] = [
            (.storeMissing, .missing), (.storeKeyMissing, .missing), (.storeLocked, .locked), (.corruptStore, .corrupt),
            (.missingEntitlement, .unreadable), (.inputOutput, .unreadable),
        ]
        for (code, state) in errors { #expect(State(KeyStoreError(code, "")) == state) }
    }

    // MARK: Export

    private static let exported = """
        {"version":1,"entries":[{"time":1800000007000,"fingerprint":"0000000a","code":"opened","key":"active",\
        "milliseconds":12},{"time":0,"code":"not-encrypted","key":"none","milliseconds":0}]}
        """

    @Test func anExportHasTheseBytes() throws {
        let entries = [
            JournalEntry(
                time: start + 7, fingerprint: EnvelopeFingerprint(value: 10), code: "opened", keyState: .active,
                milliseconds: 12),
            JournalEntry(
                time: Timestamp(milliseconds: 0), fingerprint: nil, code: "not-encrypted", keyState: .none,
                milliseconds: 0),
        ]
        #expect(String(decoding: JournalExport(entries).json, as: UTF8.self) == Self.exported)
        #expect(try JournalExport(json: Bytes(Self.exported.utf8)).entries == entries)
        #expect(try JournalExport(json: Bytes(#"{"entries":[],"version":1}"#.utf8)).entries.isEmpty)
    }

    /// One thing wrong in each, by replacing a piece of a good export.
    private static let faults: [(String, String)] = [
        (exported, ""), (exported, "[]"), (exported, "{}"), (#""version":1,"#, ""), (#""version":1"#, #""version":2"#),
        (#""version":1"#, #""version":"1""#), (#""version":1"#, #""version":1,"extra":1"#),
        (#""time":0"#, #""time":-1"#), (#""time":0"#, #""time":0.5"#), (#""time":0"#, #""time":9007199254740992"#),
        (#""time":0,"#, ""), (#""time":0"#, #""time":0,"body":"hello""#), ("0000000a", "0000000A"),
        ("0000000a", "a"), (#""0000000a""#, "10"), (#""0000000a""#, "null"), ("not-encrypted", "Not encrypted"),
        (#""key":"none""#, #""key":"broken""#), (#","key":"none""#, ""), (#""milliseconds":0"#, #""milliseconds":"0""#),
        (#"},{"#, #"},1,{"#),
    ]

    @Test(arguments: faults)
    func anythingElseIsRefused(_ good: String, _ bad: String) throws {
        let pieces = Self.exported.split(separator: good, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(pieces.count == 2)
        let json = Bytes("\(pieces[0])\(bad)\(pieces[1])".utf8)
        #expect(throws: MalformedJournal.self) { try JournalExport(json: json) }
    }
}

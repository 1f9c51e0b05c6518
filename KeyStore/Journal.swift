public import Pushcrypt

/// The last deliveries of an extension, for debugging. Bounded; without content and secrets.
public struct Journal: Sendable {
    /// The maximum number of entries; the oldest is dropped first.
    package static let capacity = 256

    static let schema: StaticString = """
        CREATE TABLE journal (
            id INTEGER PRIMARY KEY, time INTEGER NOT NULL, fingerprint INTEGER, code TEXT NOT NULL, key TEXT NOT NULL,
            milliseconds INTEGER NOT NULL);
        """

    let database: ExtensionDatabase

    /// Adds an entry; returns the error that prevented it, for the developer: it never stops a delivery.
    @discardableResult
    package func append(_ entry: JournalEntry) -> KeyStoreError? {
        do throws(KeyStoreError) {
            try database.write(at: entry.time) { (connection) throws(KeyStoreError) in
                try Self.append(entry, to: connection)
            }
            return nil
        } catch {
            return error
        }
    }

    static func append(_ entry: JournalEntry, to connection: SQLiteConnection) throws(KeyStoreError) {
        try connection.rows(
            "INSERT INTO journal (time, fingerprint, code, key, milliseconds) VALUES (?, ?, ?, ?, ?)",
            [
                .unsigned(entry.time.milliseconds), entry.fingerprint.map { .integer(Int64($0.value)) } ?? .null,
                .text(entry.code), .text(entry.keyState.rawValue), .unsigned(entry.milliseconds),
            ])
        try connection.rows("DELETE FROM journal WHERE id <= (SELECT max(id) FROM journal) - \(capacity)")
    }

    /// Returns every entry, oldest first; none if there is no file, or a damaged one.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeBusy`, `diskFull`,
    ///   `inputOutput`, `newerVersion`.
    public func entries() throws(KeyStoreError) -> [JournalEntry] {
        let rows = try database.read { (connection) throws(KeyStoreError) in
            try connection.rows(
                """
                SELECT time, fingerprint, code, key, milliseconds FROM
                (SELECT * FROM journal ORDER BY id DESC LIMIT \(Self.capacity)) ORDER BY id
                """)
        }
        return (rows ?? []).compactMap(JournalEntry.init)
    }
}

extension JournalEntry {
    /// Reads a row; nil for one that no version writes.
    fileprivate init?(_ row: [SQLiteValue]) {
        guard case .integer(let time) = row[0], case .text(let code) = row[2], case .text(let key) = row[3],
            case .integer(let milliseconds) = row[4],
            let state = KeyState(rawValue: String(decoding: key, as: UTF8.self))
        else { return nil }
        var fingerprint: EnvelopeFingerprint?
        if case .integer(let number) = row[1] {
            fingerprint = UInt32(exactly: number).map(EnvelopeFingerprint.init(value:))
        }
        self.init(
            time: Timestamp(milliseconds: UInt64(clamping: time)), fingerprint: fingerprint,
            code: String(decoding: code, as: UTF8.self), keyState: state, milliseconds: UInt64(clamping: milliseconds))
    }
}

/// An entry of the delivery journal for one push: its time, fingerprint, outcome, key state and duration.
///
/// It has no room for anything that the user wrote or a sender sealed.
public struct JournalEntry: Hashable, Sendable {
    /// The state of the device key that a push was sealed to.
    public enum KeyState: String, CaseIterable, Sendable {
        /// The provider seals to it.
        case active
        /// It opens; the provider has not acknowledged it yet.
        case pending
        /// Another key has replaced it, and its end date has not passed.
        case retiring
        /// The device does not have this key; after a log-out it may have none.
        case unknown
        /// The device has no keys.
        case missing
        /// The device has not been unlocked since it started.
        case locked
        /// The device's keys are damaged.
        case corrupt
        /// The keys could not be read for another reason.
        case unreadable
        /// No key was needed: the push ended before.
        case none

        /// Creates the state of a key that was found.
        package init(_ state: DeviceState.Key.State) {
            switch state {
            case .active: self = .active
            case .pending: self = .pending
            case .retiring: self = .retiring
            }
        }

        /// Creates the state that an error of the key store implies.
        package init(_ error: KeyStoreError) {
            switch error.code {
            case .storeMissing, .storeKeyMissing: self = .missing
            case .storeLocked: self = .locked
            case .corruptStore: self = .corrupt
            default: self = .unreadable
            }
        }
    }

    /// The code that replaces an invalid one.
    package static let unknownCode = "unknown"
    private static let longestCode = 40

    /// When the push arrived.
    public let time: Timestamp
    /// The fingerprint by which the provider's log names the envelope; nil for a push without one.
    public let fingerprint: EnvelopeFingerprint?
    /// The outcome: the code of an error, or a word for a delivery.
    public let code: String
    /// The state of the device key.
    public let keyState: KeyState
    /// The time from arrival to delivery.
    public let milliseconds: UInt64

    /// Creates an entry. A code has 1 to 40 lower-case letters, digits and hyphens; anything else becomes `unknown`, so
    /// that no text of a notification gets into the journal by mistake.
    package init(
        time: Timestamp, fingerprint: EnvelopeFingerprint?, code: String, keyState: KeyState, milliseconds: UInt64
    ) {
        self.time = min(time, .maximum)
        self.fingerprint = fingerprint
        self.code = Self.isCode(code) ? code : Self.unknownCode
        self.keyState = keyState
        self.milliseconds = min(milliseconds, Timestamp.maximum.milliseconds)
    }

    static func isCode(_ text: String) -> Bool {
        (1...longestCode).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfCode)
    }
}

/// An exported delivery journal: `{"version":1,"entries":[…]}`, oldest entry first.
///
///     {"time":1800000000000,"fingerprint":"0a1b2c3d","code":"opened","key":"active","milliseconds":12}
///
/// `time` is in milliseconds since 1970; `fingerprint` is omitted for a push without one.
public struct JournalExport: Hashable, Sendable {
    private static let version = 1
    private static let members: Set<String> = ["version", "entries"]
    private static let entryMembers: Set<String> = ["time", "fingerprint", "code", "key", "milliseconds"]

    /// The entries, oldest first.
    public let entries: [JournalEntry]

    /// Creates an export of these entries, oldest first.
    public init(_ entries: [JournalEntry]) {
        self.entries = entries
    }

    /// Parses an export strictly: every member must be present, known and of its kind; throws `MalformedJournal`.
    public init(json: ContiguousArray<UInt8>) throws(MalformedJournal) {
        guard let root = try? JSONDocument(parsing: json).root, root.kind == .object else {
            throw MalformedJournal("is not a JSON object")
        }
        guard Set(root.members.map(\.name)) == Self.members, let list = root["entries"], list.kind == .array else {
            throw MalformedJournal("must have exactly the members version and entries")
        }
        guard root["version"]?.integer == Int64(Self.version) else {
            throw MalformedJournal("is not version \(Self.version): use a newer pushcrypt")
        }
        var entries: [JournalEntry] = []
        for (index, value) in list.elements.enumerated() {
            guard let entry = Self.entry(value) else { throw MalformedJournal("has a bad entry: number \(index + 1)") }
            entries.append(entry)
        }
        self.entries = entries
    }

    private static func entry(_ value: JSONValue) -> JournalEntry? {
        guard value.kind == .object, entryMembers.isSuperset(of: value.members.map(\.name)),
            let time = number(value["time"]), let milliseconds = number(value["milliseconds"]),
            let code = value["code"]?.string, JournalEntry.isCode(code),
            let state = value["key"]?.string.flatMap(JournalEntry.KeyState.init(rawValue:))
        else { return nil }
        let fingerprint = value["fingerprint"]?.string.flatMap { EnvelopeFingerprint($0) }
        guard fingerprint != nil || value["fingerprint"] == nil else { return nil }
        return JournalEntry(
            time: Timestamp(milliseconds: time), fingerprint: fingerprint, code: code, keyState: state,
            milliseconds: milliseconds)
    }

    private static func number(_ value: JSONValue?) -> UInt64? {
        value?.integer.flatMap(UInt64.init(exactly:)).flatMap { $0 <= Timestamp.maximum.milliseconds ? $0 : nil }
    }

    /// The export as minified JSON.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            json.array(for: "entries") { json in
                for entry in entries {
                    json.object { json in
                        json.integer(entry.time.milliseconds, for: "time")
                        if let fingerprint = entry.fingerprint {
                            json.string(fingerprint.description, for: "fingerprint")
                        }
                        json.string(entry.code, for: "code")
                        json.string(entry.keyState.rawValue, for: "key")
                        json.integer(entry.milliseconds, for: "milliseconds")
                    }
                }
            }
        }
        return json.bytes
    }
}

/// The error for text that is not a delivery journal.
public struct MalformedJournal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the error.
    public let description: String

    init(_ problem: String) { description = "the journal \(problem)" }
}

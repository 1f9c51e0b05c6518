internal import Pushcrypt
internal import PushcryptKeyStore

/// The id of every device of a store, a line each, in their order, as a JSON string: a row that somebody has put into the database
/// is one line, too, whatever its id is. Devices that others add or remove meanwhile may be seen or not.
struct DeviceLines: LineSource, Sendable {
    /// The devices of one chunk: as many as a chunk of a file has lines.
    private static let count = 64

    private let store: SQLiteKeyStore
    private let stop: StopSignal
    private var last: String?
    private var line = 1
    private var chunks = 0
    private(set) var isAtEnd = false

    init(_ store: SQLiteKeyStore, until stop: StopSignal) {
        self.store = store
        self.stop = stop
    }

    mutating func next() throws(CommandFailure) -> LineChunk? {
        guard !isAtEnd, !stop.isRaised else { return nil }
        let ids = try withStoreErrors { () throws(KeyStoreError) in
            try store.deviceIDs(after: last, count: Self.count)
        }
        // Devices of one store and of another are no list of anything.
        guard try !withStoreErrors({ () throws(KeyStoreError) in try store.version() }).isReplaced else {
            throw .failed(
                "another store has taken the place of this one; \(line - 1) of its devices were read before",
                hint: "seal again, for the devices of the new one; with the same --id no phone shows it twice")
        }
        guard let last = ids.last else {
            isAtEnd = true
            return nil
        }
        self.last = last
        defer {
            line += ids.count
            chunks += 1
        }
        var bytes = ContiguousArray<UInt8>()
        for id in ids {
            var json = JSONWriter()
            json.string(id)
            bytes.append(contentsOf: json.bytes)
            bytes.append(newline)
        }
        return LineChunk(number: chunks, firstLine: line, bytes: bytes)
    }

    /// Reads one of the lines.
    static func id(in line: ContiguousArray<UInt8>) throws(LineFailure) -> String {
        guard let id = (try? JSONDocument(parsing: line))?.root.string else {
            throw LineFailure(.malformedLine, "the id of a device is a JSON string")
        }
        return id
    }
}

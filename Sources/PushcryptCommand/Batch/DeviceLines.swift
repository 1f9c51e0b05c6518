internal import PushcryptKeyStore

/// The id of every device of a store, a line each, in their order. Devices that others add or remove meanwhile may be seen
/// or not.
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
        guard let last = ids.last else {
            isAtEnd = true
            return nil
        }
        self.last = last
        defer {
            line += ids.count
            chunks += 1
        }
        // An id has no newline in it.
        return LineChunk(
            number: chunks, firstLine: line, bytes: ContiguousArray((ids.joined(separator: "\n") + "\n").utf8))
    }
}

internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The id of every device of a store, a line each, in their order. Devices that others add or remove meanwhile may be seen
/// or not.
struct DeviceLines: LineSource, Sendable {
    /// The devices of one chunk: as many as a chunk of a file has lines.
    private static let count = 64

    private let store: SQLiteKeyStore
    private let stop: StopSignal
    private var page: DevicePage?
    /// Rows whose ids no device has.
    private var damaged = 0
    private var firstDamaged: KeyStoreError?
    private var line = 1
    private var chunks = 0
    private(set) var isAtEnd = false

    init(_ store: SQLiteKeyStore, until stop: StopSignal) {
        self.store = store
        self.stop = stop
    }

    mutating func next() throws(CommandFailure) -> LineChunk? {
        guard !isAtEnd else { return nil }
        var ids: [String] = []
        while ids.isEmpty, page?.isLast != true {
            guard !stop.isRaised else { return nil }
            let next = try withStoreErrors { () throws(KeyStoreError) in
                try store.devicePage(after: page, count: Self.count)
            }
            ids = next.ids
            damaged += next.damaged.count
            firstDamaged = firstDamaged ?? next.damaged.first
            page = next
        }
        try refuseAnotherStore()
        guard !ids.isEmpty else {
            isAtEnd = true
            // A row without the id of a device has no line: told once all others have been read.
            guard let firstDamaged else { return nil }
            let failure = CommandFailure(firstDamaged)
            throw CommandFailure(
                failure.exit, failure.message,
                hints: ["\(damaged) rows have ids that no device has; every other device is answered"])
        }
        defer {
            line += ids.count
            chunks += 1
        }
        // No id has a newline in it, or is blank.
        return LineChunk(
            number: chunks, firstLine: line, bytes: ContiguousArray((ids.joined(separator: "\n") + "\n").utf8))
    }

    /// Some devices of one store and some of another are not all of any.
    private func refuseAnotherStore() throws(CommandFailure) {
        let version = try withStoreErrors { () throws(KeyStoreError) in try store.version() }
        guard version.isReplaced else { return }
        throw .failed(
            "another store has taken the place of this one, of which \(line - 1) devices were read",
            hint: "seal again for the devices of the new one; with the same --id no phone shows it twice")
    }
}

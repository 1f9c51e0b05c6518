internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The ids of all devices of a store as lines, in order. Devices that others add or remove meanwhile may or may not be among
/// them.
struct DeviceLines: LineSource, Sendable {
    /// The devices of one chunk, about as many as a chunk of a file has lines.
    private static let count = 64

    private let store: SQLiteKeyStore
    private let stop: StopSignal
    private var page: DevicePage?
    /// Rows without a valid id.
    private var damaged = 0
    private var firstDamaged: KeyStoreError?
    private var line = 1
    private var chunks = 0
    private(set) var isAtEnd = false

    init(_ store: SQLiteKeyStore, until stop: StopSignal) {
        (self.store, self.stop) = (store, stop)
    }

    mutating func next() throws -> LineChunk? {
        guard !isAtEnd else { return nil }
        var ids: [String] = []
        while ids.isEmpty, page?.isLast != true {
            guard !stop.isRaised else { return nil }
            let next = try store.devicePage(after: page, count: Self.count)
            ids = next.ids
            damaged += next.damaged.count
            firstDamaged = firstDamaged ?? next.damaged.first
            page = next
        }
        // Some devices of one store and some of another are not all devices of either.
        guard try !store.version().isReplaced else {
            throw Failure.failed(
                "the store was replaced; stopped after \(line - 1) devices",
                hint: "seal again for the devices of the new store; with the same --id no phone shows it twice")
        }
        guard !ids.isEmpty else {
            isAtEnd = true
            // A row without an id has no line: reported once all other devices have been read.
            guard let firstDamaged else { return nil }
            throw Failure(
                firstDamaged, hint: "\(damaged) rows have ids that no device has; every other device is answered")
        }
        defer {
            line += ids.count
            chunks += 1
        }
        // No id contains a newline, or is blank.
        return LineChunk(
            number: chunks, firstLine: line, bytes: ContiguousArray((ids.joined(separator: "\n") + "\n").utf8))
    }
}

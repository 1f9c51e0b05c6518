internal import Pushcrypt
internal import PushcryptKeyStore

/// The id of every device of a store, a line each, in their order, as a JSON string, which no character of an id ends. Devices
/// that others add or remove meanwhile may be seen or not.
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
            let next = try self.next(after: page)
            ids = next.ids
            damaged += next.damaged.count
            firstDamaged = firstDamaged ?? next.damaged.first
            page = next
        }
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
        return LineChunk(number: chunks, firstLine: line, bytes: Self.lines(ids))
    }

    private func next(after page: DevicePage?) throws(CommandFailure) -> DevicePage {
        let (next, version) = try withStoreErrors { () throws(KeyStoreError) in
            (try store.devicePage(after: page, count: Self.count), try store.version())
        }
        // Some devices of one store and some of another are not all of any.
        guard !version.isReplaced else {
            throw .failed(
                "another store has taken the place of this one, of which \(line - 1) devices were read",
                hint: "seal again for the devices of the new one; with the same --id no phone shows it twice")
        }
        return next
    }
}

// MARK: A line

extension DeviceLines {
    private static func lines(_ ids: [String]) -> ContiguousArray<UInt8> {
        var bytes = ContiguousArray<UInt8>()
        for id in ids {
            var json = JSONWriter()
            json.string(id)
            bytes.append(contentsOf: json.bytes)
            bytes.append(newline)
        }
        return bytes
    }

    /// Reads one of the lines.
    static func id(in line: ContiguousArray<UInt8>) throws(LineFailure) -> String {
        guard let id = (try? JSONDocument(parsing: line))?.root.string else {
            throw LineFailure(.malformedLine, "the id of a device is a JSON string")
        }
        return id
    }
}

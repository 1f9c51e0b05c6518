internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    /// `device import`: in transactions of many lines, so that an interruption loses only the last of them and the same file can
    /// be imported again.
    static let deviceImport = Command(
        "import", "register many devices, or import what another store knows of them",
        about: """
            Each line is an object: 'device', the provider's name for it; 'user', if known, who was logged in; 'token' and 'environment', if you keep them; and 'record', the registration record or key as the phone sent it. It is registered as by 'device add', but a removed device comes back only if the record's 'created' is later than the removal; an older record is stale and changes nothing. A refused line is reported with its number, and the command ends with 65.
            --from-export reads the output of 'device export'. A line takes effect if its suite, then its generation, then its 'updated' is later than the store's; a removal if its time is later. So two stores that import each other's exports end up equal. Never read what phones have sent this way.
            """,
        examples: [
            "pushcrypt device import devices.ndjson",
            "pushcrypt --store A device export | pushcrypt --store B device import --from-export",
        ]
    ) { a in
        let isExport = a.flag("--from-export", help: "the lines are the output of 'device export'")
        let replaces = a.flag("--replace", help: "import each line, whatever the store has for that device")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let file = a.optionalInput("FILE", help: "newline-delimited JSON; default standard input")
        return { console in
            let store = try console.open(store)
            let now = console.timestamp
            var lines = try NumberedLines(file, console)
            let names = ["added", "updated", "unchanged", "removed", "stale"]
            var counts = names.map { _ in 0 }
            var foreign = try ForeignProviders(of: store)
            try lines.forEach { line in
                try isExport ? ExportedDevice.change(line) : DeviceLine.change(line)
            } take: { items, lines in
                let result = try store.importDevices(items.map(\.item), replace: replaces, at: now)
                let new = [result.added, result.updated, result.unchanged, result.removed, result.stale]
                counts = zip(counts, new).map { $0 + $1 }
                foreign.add(items.map(\.item), except: Set(result.refused.map(\.index)))
                for refusal in result.refused {
                    lines.refuse(items[refusal.index].number, "\(refusal.error.code): \(refusal.error)")
                }
            }
            console.warn(of: foreign)
            let all = Array(zip(names, counts)) + [("refused", lines.refused)]
            try console.report(all + (foreign.count > 0 ? [("foreign", foreign.count)] : []), asJSON: isJSON)
            if lines.refused > 0 { throw ExitCode.refused }
        }
    }
}

extension Console {
    /// Reports counts: as JSON on standard output, or as a line for people.
    func report(_ counts: [(name: String, count: Int)], asJSON: Bool) throws {
        guard asJSON else {
            let words = counts.map { "\($0.count) \($0.name.split(separator: "_").joined(separator: " "))" }
            return changed(words.joined(separator: ", "))
        }
        try writeObject { json in for (name, count) in counts { json.integer(count, for: name) } }
    }
}

/// The lines of a file or of standard input, processed in order.
///
/// A refused line is reported by its number, and the others go on. SIGINT and SIGTERM end the reading; lines already read
/// are processed.
struct NumberedLines: ~Copyable {
    /// The most bytes of lines to process at once, which bounds the memory for long lines.
    static let maximumText = 16 << 20

    private let file: InputFile
    private let console: Console
    private let stop: StopSignal
    private var progress: BatchProgress
    private var tally = BatchTally()
    private(set) var refused = 0

    init(_ path: String, _ console: Console) throws {
        let stop = try StopSignal.ofSignals()
        let file = try InputFile(path, console)
        self.stop = stop
        progress = BatchProgress(size: file.size, console, isShown: true)
        self.file = file
        self.console = console
        console.hintIfTyped(path)
    }

    /// Reports a refused line.
    mutating func refuse(_ number: Int, _ message: String) {
        refused += 1
        console.error("line \(number): \(message)")
    }

    /// Calls `parse` with each line that is not empty, and `take` with the results: as many as one transaction holds, or
    /// fewer if the lines are long. `take` reports the ones it refuses.
    mutating func forEach<Item>(
        parse: (ContiguousArray<UInt8>) throws -> Item?,
        take: ([(number: Int, item: Item)], inout NumberedLines) throws -> Void
    ) throws {
        var reader = LineReader(file.lines(until: stop), maximumLine: DeviceLine.maximumLength)
        var items: [(number: Int, item: Item)] = []
        items.reserveCapacity(SQLiteKeyStore.importChunk)
        var text = 0
        while let chunk = try reader.next() {
            chunk.forEachLine(maximum: DeviceLine.maximumLength) { number, line in
                tally.lines += 1
                do {
                    guard let bytes = line else {
                        throw Failure(.lineTooLong, "a line has at most \(DeviceLine.maximumLength) bytes")
                    }
                    guard let item = try parse(bytes) else { return }
                    items.append((number, item))
                    text += bytes.count
                } catch {
                    refuse(number, Failure(error).message)
                }
            }
            tally.input += chunk.bytes.count
            progress.show(tally)
            if items.count >= SQLiteKeyStore.importChunk || text >= Self.maximumText {
                try take(items, &self)
                items.removeAll(keepingCapacity: true)
                text = 0
            }
        }
        try take(items, &self)
        guard reader.isAtEnd else { throw console.failure(stoppedBy: stop, after: tally.lines) }
    }
}

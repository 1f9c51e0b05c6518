internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

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
        if path == "-", console.input.isTerminal {
            console.hint("reading from the terminal; control-d on a new line ends the input")
        }
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
                    let error = Failure(error)
                    refuse(number, error.message)
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

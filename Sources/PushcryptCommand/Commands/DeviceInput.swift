internal import Pushcrypt
internal import PushcryptKeyStore

/// What `device add` and `device import` read.
enum DeviceInput {
    static let maximumRecord = 1 << 16
    /// What `seal --to` takes for a key and not for an id.
    static let keyPrefix = "pcr1"

    /// Tells a registration record from a bare `pcr1…`.
    static func isRecord(_ bytes: ContiguousArray<UInt8>) -> Bool {
        bytes.first { !$0.isWhiteSpace } == UInt8(ascii: "{")
    }

    /// Reads a registration record, or a bare `pcr1…`.
    static func registration(
        _ bytes: ContiguousArray<UInt8>, at now: Timestamp
    ) throws(CommandFailure) -> DeviceRegistration {
        do throws(KeyError) {
            if isRecord(bytes) { return try DeviceRegistration(json: bytes, at: now) }
            let key = try DevicePublicKey(text: String(decoding: bytes, as: UTF8.self))
            return DeviceRegistration(publicKey: key, createdAt: now)
        } catch {
            throw CommandFailure(error, in: "the device's key")
        }
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}

/// The lines of a file or of standard input that are worked through one after another, however many there are.
///
/// A line that is refused is told by its number, and the others go on. SIGINT and SIGTERM end the reading; what was read is
/// worked through.
struct DeviceLines: ~Copyable {
    private let file: InputFile
    private let console: Console
    private let stop: StopSignal
    private var progress: BatchProgress
    private var tally = BatchTally()
    private(set) var refused = 0

    init(_ path: String, _ console: Console) throws(CommandFailure) {
        file = try InputFile(path, console)
        if path == "-", console.input.isTerminal {
            console.hint("reading from the terminal; control-d on a new line ends the input")
        }
        do throws(SystemError) {
            stop = try StopSignal()
            try stop.raiseOnSignals()
        } catch {
            throw .failed("cannot wait for signals: \(error.text)")
        }
        progress = BatchProgress(size: file.size, console)
        self.console = console
    }

    /// Tells what is wrong with a line.
    mutating func refuse(_ number: Int, _ message: String) {
        refused += 1
        console.error("line \(number): \(message)")
    }

    /// Gives `parse` every line that is not empty, and `take` what came of some of them; `take` tells of those that it
    /// refuses.
    mutating func forEach<Item>(
        parse: (ContiguousArray<UInt8>) throws(CommandFailure) -> Item?,
        take: ([(number: Int, item: Item)], inout DeviceLines) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var reader = LineReader(file.lines(until: stop), maximumLine: DeviceLine.maximumLength)
        var items: [(number: Int, item: Item)] = []
        items.reserveCapacity(SQLiteKeyStore.importChunk)
        while let chunk = try reader.next() {
            chunk.forEachLine(maximum: DeviceLine.maximumLength) { number, line in
                tally.lines += 1
                do throws(CommandFailure) {
                    guard case .text(let text) = line else {
                        throw .refused("\(LineError.Code.lineTooLong): a line has at most \(DeviceLine.maximumLength) bytes")
                    }
                    if let item = try parse(text) { items.append((number, item)) }
                } catch {
                    refuse(number, error.message)
                }
            }
            tally.input += chunk.bytes.count
            progress.show(tally)
            if items.count >= SQLiteKeyStore.importChunk {
                try take(items, &self)
                items.removeAll(keepingCapacity: true)
            }
        }
        try take(items, &self)
        guard reader.isAtEnd else {
            throw .failed("stopped by a signal after \(tally.lines) lines: the rest of the input was not read")
        }
    }
}

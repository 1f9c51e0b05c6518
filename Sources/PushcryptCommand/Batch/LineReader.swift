internal import PushcryptCommandKit

/// The source of a batch's lines; used by one thread at a time.
protocol LineSource {
    /// Waits for the next chunk, numbered from 0; returns nil at the end.
    mutating func next() throws -> LineChunk?
    /// Whether all chunks were returned.
    var isAtEnd: Bool { get }
}

/// Cuts an input into chunks of whole lines.
///
/// Each read that ends a line becomes a chunk, so that lines are answered as soon as they arrive. Memory holds at most the
/// longest line and one read. After a stop, a line that was read in part is read to its end and not beyond, so that the next
/// process that reads the same pipe begins with a whole line.
struct LineReader<Input: LineInput & Sendable>: LineSource, Sendable {
    /// How long the rest of a line may take after a stop, in milliseconds.
    private static var patience: UInt64 { 1000 }

    private let readLength: Int
    private let maximumLine: Int
    private var input: Input
    /// The beginning of a line whose end has not been read.
    private var rest: ContiguousArray<UInt8> = []
    /// Whether the rest of a line that was too long is being skipped.
    private var isSkipping = false
    private var isAtStart = true
    private(set) var isAtEnd = false
    private var chunks = 0
    private var line = 1

    /// - Parameter readLength: The size of a read in bytes: small, so that threads share a short input.
    init(_ input: Input, maximumLine: Int, readLength: Int = 16_384) {
        (self.input, self.maximumLine, self.readLength) = (input, maximumLine, readLength)
    }

    mutating func next() throws -> LineChunk? {
        var bytes = rest
        rest = []
        while !isAtEnd {
            let old = bytes.count
            guard let isMore = try read(into: &bytes) else { return try finish(bytes) }
            guard isMore else {
                isAtEnd = true
                break
            }
            if isSkipping {
                guard let end = bytes.firstIndex(of: newline) else {
                    bytes = []
                    continue
                }
                isSkipping = false
                line += 1
                bytes.removeSubrange(...end)
            }
            if let end = bytes[min(old, bytes.count)...].lastIndex(of: newline) {
                rest = ContiguousArray(bytes[(end + 1)...])
                bytes.removeSubrange((end + 1)...)
                return chunk(bytes)
            }
            if bytes.count > maximumLine {
                isSkipping = true
                defer { chunks += 1 }
                return LineChunk(number: chunks, firstLine: line, bytes: [], isTooLong: true)
            }
        }
        return bytes.isEmpty ? nil : chunk(bytes)
    }

    /// Appends the bytes of one read; returns false at the end of the input, nil if reading was stopped.
    private mutating func read(into bytes: inout ContiguousArray<UInt8>) throws -> Bool? {
        let old = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: readLength))
        guard let count = try input.read(into: &bytes, from: old) else {
            bytes.removeSubrange(old...)
            return nil
        }
        bytes.removeSubrange((old + count)...)
        if isAtStart, count == 0 || !byteOrderMark.starts(with: bytes) || bytes == byteOrderMark {
            isAtStart = false
            if bytes.starts(with: byteOrderMark) { bytes.removeSubrange(..<byteOrderMark.count) }
        }
        return count > 0
    }

    /// Reads a line to its end after a stop, byte by byte; returns nil if there is none.
    private mutating func finish(_ start: ContiguousArray<UInt8>) throws -> LineChunk? {
        guard !start.isEmpty || isSkipping else { return nil }
        var bytes = start
        let end = SystemEnvironment.uptime() + Self.patience
        reading: while true {
            switch try input.readByte(before: end) {
            case .byte(newline):
                if !isSkipping { bytes.append(newline) }
                break reading
            case .byte(let byte):
                if !isSkipping, bytes.count <= maximumLine { bytes.append(byte) }
            case .end:
                isAtEnd = true
                break reading
            case .nothing:
                throw Failure.failed(
                    isSkipping
                        ? "stopped by a signal in line \(line), which is too long: its end was not read"
                        : "stopped by a signal in line \(line), which did not end within a second: its first \(bytes.count) bytes were read, and are not answered"
                )
            }
        }
        guard !isSkipping else {
            isSkipping = false
            return nil
        }
        return chunk(bytes)
    }

    private mutating func chunk(_ bytes: ContiguousArray<UInt8>) -> LineChunk {
        let chunk = LineChunk(number: chunks, firstLine: line, bytes: bytes)
        chunks += 1
        line += chunk.lineCount
        return chunk
    }
}

/// The mark that Windows programs write before UTF-8.
let byteOrderMark: ContiguousArray<UInt8> = [0xEF, 0xBB, 0xBF]

// MARK: Input

/// The bytes that lines are read from.
protocol LineInput {
    /// Reads available bytes into `bytes` from `start` on; returns 0 at the end, nil if reading was stopped.
    mutating func read(into bytes: inout ContiguousArray<UInt8>, from start: Int) throws -> Int?
    /// Reads one byte although reading was stopped, waiting until `end`, an uptime.
    mutating func readByte(before end: UInt64) throws -> StoppedRead
}

/// The result of reading one byte after a stop.
enum StoppedRead {
    case byte(UInt8)
    case end
    /// Nothing came in time.
    case nothing
}

/// A descriptor that is read to its end, or until `stop` is raised.
struct DescriptorInput: LineInput, Sendable {
    let descriptor: Descriptor
    /// The name in messages.
    let name: String
    let stop: StopSignal

    func read(into bytes: inout ContiguousArray<UInt8>, from start: Int) throws -> Int? {
        do {
            var span = bytes.mutableSpan
            return try descriptor.readSome(into: &span, from: start, unless: stop.descriptor)
        } catch {
            throw failure(error)
        }
    }

    func readByte(before end: UInt64) throws -> StoppedRead {
        var byte = ContiguousArray<UInt8>(repeating: 0, count: 1)
        let now = SystemEnvironment.uptime()
        do {
            guard now < end, try descriptor.isReadable(withinMilliseconds: Int32(clamping: end - now)) else {
                return .nothing
            }
            var span = byte.mutableSpan
            let count = try descriptor.readSome(into: &span, from: 0)
            return count == 0 ? .end : .byte(byte[0])
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: SystemError) -> Failure { .failed("cannot read \(name): \(error.text)") }
}

extension InputFile {
    /// The file's bytes, until `stop` is raised; valid while the file is open.
    func lines(until stop: StopSignal) -> DescriptorInput {
        DescriptorInput(descriptor: descriptor, name: name, stop: stop)
    }
}

/// A text in memory.
struct TextInput: LineInput, Sendable {
    private var rest: ArraySlice<UInt8>

    init(_ text: ContiguousArray<UInt8>) { rest = ArraySlice(text) }

    mutating func read(into bytes: inout ContiguousArray<UInt8>, from start: Int) -> Int? {
        let piece = rest.prefix(bytes.count - start)
        bytes.replaceSubrange(start..<start + piece.count, with: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }

    mutating func readByte(before _: UInt64) -> StoppedRead { rest.popFirst().map(StoppedRead.byte) ?? .end }
}

// MARK: Chunks

/// Some lines of an input that were read together.
struct LineChunk: Sendable {
    /// The number of the chunk, from 0.
    let number: Int
    /// The number of its first line in the input, from 1; empty lines count.
    let firstLine: Int
    /// Whole lines with their newlines; the last line of the input may have none.
    let bytes: ContiguousArray<UInt8>
    /// Whether the chunk stands for one line that was too long to keep.
    var isTooLong = false

    /// The lines that are not empty.
    func lines(_ form: LineForm) -> [Line] {
        var lines: [Line] = []
        forEachLine(maximum: form.maximumLength) { lines.append(Line($0, $1, form)) }
        return lines
    }

    /// Calls `body` with the number and the text of each line that is not empty, without its newline; nil for one that is
    /// too long.
    func forEachLine(maximum: Int, _ body: (Int, ContiguousArray<UInt8>?) -> Void) {
        if isTooLong { return body(firstLine, nil) }
        forEachRange { number, range in
            guard range.count <= maximum else { return body(number, nil) }
            let text = ContiguousArray(bytes[range])
            if !text.allSatisfy(\.isBlank) { body(number, text) }
        }
    }

    /// The number of lines, with empty ones.
    var lineCount: Int {
        var count = isTooLong ? 1 : 0
        forEachRange { _, _ in count += 1 }
        return count
    }

    private func forEachRange(_ body: (Int, Range<Int>) -> Void) {
        var number = firstLine
        var start = 0
        while start < bytes.count {
            let end = bytes.firstNewline(from: start) ?? bytes.count
            body(number, start..<end)
            number += 1
            start = end + 1
        }
    }
}

extension UInt8 {
    /// Whether it is white space in JSON.
    package var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

internal import PushcryptCommandKit

/// Where the lines of a batch come from; used by one thread at a time.
protocol LineSource {
    /// Waits for the next lines, numbered on from 0; nil at the end.
    mutating func next() throws(CommandFailure) -> LineChunk?
    /// Whether everything was given.
    var isAtEnd: Bool { get }
}

/// Cuts what is read into chunks of whole lines.
///
/// One read makes a chunk, so that lines are answered as soon as they are there. Never more than the longest line and one
/// read is held.
struct LineReader<Input: LineInput & Sendable>: LineSource, Sendable {
    /// The most bytes of one read, unless the caller says otherwise: few, so that the threads share what there is.
    static var standardReadLength: Int { 16_384 }

    private let readLength: Int
    private let maximumLine: Int
    private var input: Input
    /// The beginning of a line whose end has not been read.
    private var rest: ContiguousArray<UInt8> = []
    /// The line that was too long is passed over up to its newline.
    private var isSkipping = false
    private var isAtStart = true
    private(set) var isAtEnd = false
    private var chunks = 0
    private var line = 1

    init(_ input: Input, maximumLine: Int, readLength: Int = standardReadLength) {
        self.readLength = readLength
        self.input = input
        self.maximumLine = maximumLine
    }

    mutating func next() throws(CommandFailure) -> LineChunk? {
        var bytes = rest
        rest = []
        while !isAtEnd {
            let old = bytes.count
            guard let isMore = try read(into: &bytes) else { return nil }
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
                return tooLong()
            }
        }
        return bytes.isEmpty ? nil : chunk(bytes)
    }

    /// Appends what one read gives; false at the end of the input, nil when no more of it is wanted.
    private mutating func read(into bytes: inout ContiguousArray<UInt8>) throws(CommandFailure) -> Bool? {
        let old = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: readLength))
        guard let count = try input.read(into: &bytes, from: old) else { return nil }
        bytes.removeSubrange((old + count)...)
        if isAtStart, count == 0 || !byteOrderMark.starts(with: bytes) || bytes == byteOrderMark {
            isAtStart = false
            if bytes.starts(with: byteOrderMark) { bytes.removeSubrange(..<byteOrderMark.count) }
        }
        return count > 0
    }

    private mutating func chunk(_ bytes: ContiguousArray<UInt8>) -> LineChunk {
        let chunk = LineChunk(number: chunks, firstLine: line, bytes: bytes)
        chunks += 1
        line += chunk.lineCount
        return chunk
    }

    private mutating func tooLong() -> LineChunk {
        defer { chunks += 1 }
        return LineChunk(number: chunks, firstLine: line, bytes: [], isTooLong: true)
    }
}

/// What Windows puts in front of UTF-8.
private let byteOrderMark: ContiguousArray<UInt8> = [0xEF, 0xBB, 0xBF]

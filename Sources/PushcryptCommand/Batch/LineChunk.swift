internal import PushcryptCommandKit

/// Some lines of an input that were read together.
struct LineChunk: Sendable {
    /// The chunk's place in the input, from 0.
    let number: Int
    /// The number of its first line in the input, from 1; empty lines count.
    let firstLine: Int
    /// Whole lines, each but the last of the input with its newline.
    let bytes: ContiguousArray<UInt8>
    /// The chunk stands for one line that is longer than lines may be; it was not kept.
    var isTooLong = false

    /// One line, without what ends it.
    enum Line {
        case text(ContiguousArray<UInt8>)
        case tooLong
    }

    /// Gives every line that is not empty to `body`, with its number in the input.
    func forEachLine(maximum: Int, _ body: (Int, Line) -> Void) {
        if isTooLong { return body(firstLine, .tooLong) }
        var number = firstLine
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: newline) ?? bytes.count
            defer {
                number += 1
                start = end + 1
            }
            guard end - start <= maximum else {
                body(number, .tooLong)
                continue
            }
            let text = ContiguousArray(bytes[start..<end])
            if !text.allSatisfy(\.isWhiteSpace) { body(number, .text(text)) }
        }
    }

    /// How many lines there are, empty ones too.
    var lineCount: Int {
        if isTooLong { return 1 }
        let ended = bytes.count { $0 == newline }
        return bytes.isEmpty || bytes.last == newline ? ended : ended + 1
    }
}

extension UInt8 {
    /// What JSON takes for white space; the carriage return before a newline is one.
    fileprivate var isWhiteSpace: Bool { self == 0x20 || self == 0x0D || self == 0x09 }
}

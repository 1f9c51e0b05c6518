import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// An input that gives what a test says, piece by piece.
struct ScriptedInput: LineInput, Sendable {
    /// The result of each read; nil to end.
    var pieces: [ContiguousArray<UInt8>?]

    init(_ pieces: String?...) { self.pieces = pieces.map { $0.map { ContiguousArray($0.utf8) } } }

    init(bytes pieces: [[UInt8]]) { self.pieces = pieces.map { ContiguousArray($0) } }

    mutating func read(into bytes: inout ContiguousArray<UInt8>, from start: Int) -> Int? {
        guard !pieces.isEmpty else { return 0 }
        guard let piece = pieces.removeFirst() else { return nil }
        bytes.replaceSubrange(start..<start + piece.count, with: piece)
        return piece.count
    }

    /// Returns the next byte of the pieces; nothing comes after another stop.
    mutating func readByte(before _: UInt64) -> StoppedRead {
        guard let piece = pieces.first else { return .end }
        guard let byte = piece?.first else { return .nothing }
        pieces[0] = piece.map { ContiguousArray($0.dropFirst()) }
        if pieces[0]?.isEmpty == true { pieces.removeFirst() }
        return .byte(byte)
    }

}

/// Input becomes chunks of whole lines.
@Suite struct LineReaderTests {
    /// The chunks of an input as text, each line as `number:text`, a line that is too long as `number:…`.
    private func chunks(_ input: ScriptedInput, maximumLine: Int = 20) throws -> [[String]] {
        var reader = LineReader(input, maximumLine: maximumLine)
        var chunks: [[String]] = []
        while let chunk = try reader.next() {
            #expect(chunk.number == chunks.count)
            var lines: [String] = []
            chunk.forEachLine(maximum: maximumLine) { number, line in
                lines.append("\(number):" + (line.map { String(decoding: $0, as: UTF8.self) } ?? "…"))
            }
            chunks.append(lines)
        }
        return chunks
    }

    @Test(
        "A read makes a chunk of the lines that have ended",
        arguments: [
            (["a\nb\n", "c\n"], [["1:a", "2:b"], ["3:c"]]),
            (["a\nb", "c\nd\n"], [["1:a"], ["2:bc", "3:d"]]),
            (["a", "b", "c\n"], [["1:abc"]]),
            (["a\n", "b"], [["1:a"], ["2:b"]]),
            (["a"], [["1:a"]]),
            ([], []),
        ] as [([String], [[String]])])
    func pieces(input: [String], expected: [[String]]) throws {
        #expect(try chunks(ScriptedInput(bytes: input.map { Array($0.utf8) })) == expected)
    }

    @Test("Empty lines, and those of nothing but white space, are ignored, but counted")
    func empty() throws {
        #expect(try chunks(ScriptedInput("\n\r\n \t\r\na\n", "\n", "b")) == [["4:a"], [], ["6:b"]])
    }

    @Test("A carriage return stays with its line, where JSON takes it for white space")
    func carriageReturn() throws {
        #expect(try chunks(ScriptedInput("a\r\nb\r\n")) == [["1:a\r", "2:b\r"]])
    }

    @Test(
        "A byte order mark is dropped at the start of the input, however it is cut, and nowhere else",
        arguments: [
            [[0xEF, 0xBB, 0xBF, 0x61, 0x0A]], [[0xEF], [0xBB], [0xBF], [0x61, 0x0A]], [[0xEF, 0xBB], [0xBF, 0x61]],
        ] as [[[UInt8]]])
    func byteOrderMark(pieces: [[UInt8]]) throws {
        #expect(try chunks(ScriptedInput(bytes: pieces)).flatMap { $0 } == ["1:a"])
    }

    @Test("A byte order mark inside the input, and half of one, belong to their line")
    func noByteOrderMark() throws {
        let inside = try chunks(ScriptedInput(bytes: [[0x0A], [0xEF, 0xBB, 0xBF, 0x61, 0x0A]]))
        #expect(inside == [[], ["2:\u{FEFF}a"]])
        #expect(try chunks(ScriptedInput(bytes: [[0xEF, 0xBB]])) == [["1:\u{FFFD}"]])
        #expect(try chunks(ScriptedInput(bytes: [[0xEF, 0xBB, 0xBF]])) == [])
    }

    @Test("A line of the greatest length is taken, one byte more is not, and neither is anything of it kept")
    func tooLong() throws {
        #expect(try chunks(ScriptedInput("12345\n", "123456\n7\n"), maximumLine: 5) == [["1:12345"], ["2:…", "3:7"]])
        // It shows before it has ended: nothing more of it is waited for.
        #expect(
            try chunks(ScriptedInput("a\n123", "456", "78", "9\nb\n", "c"), maximumLine: 5)
                == [["1:a"], ["2:…"], ["3:b"], ["4:c"]])
        #expect(try chunks(ScriptedInput("123456", "7\n", "b\n"), maximumLine: 5) == [["1:…"], ["2:b"]])
        #expect(try chunks(ScriptedInput("123456", "7"), maximumLine: 5) == [["1:…"]])
        #expect(try chunks(ScriptedInput("123456", "7\n8"), maximumLine: 5) == [["1:…"], ["2:8"]])
    }

    @Test("Who is stopped reads the line to its end, byte by byte, and says that there is more")
    func stopped() throws {
        var reader = LineReader(ScriptedInput("a\nb", nil, "c\nd\n"), maximumLine: 5)
        #expect(try reader.next()?.bytes == ContiguousArray("a\n".utf8))
        #expect(try reader.next()?.bytes == ContiguousArray("bc\n".utf8))
        #expect(!reader.isAtEnd)
    }

    @Test("A line that is or gets too long after a stop is read to its end", arguments: ["123", "123456"])
    func stoppedTooLong(start: String) throws {
        var reader = LineReader(ScriptedInput(start, nil, "4567\n8\n"), maximumLine: 5)
        var isTooLong = false
        try reader.next()?.forEachLine(maximum: 5) { _, line in if line == nil { isTooLong = true } }
        #expect(isTooLong)
        if start != "123" { #expect(try reader.next() == nil) }
        #expect(try reader.next()?.bytes == ContiguousArray("8\n".utf8))
    }

    @Test("A line that does not end after a stop is reported")
    func stoppedForever() throws {
        var reader = LineReader(ScriptedInput("a\nbcd", nil, nil), maximumLine: 5)
        _ = try reader.next()
        let failure = try #require(throws: Failure.self) { try reader.next() }
        #expect(failure.message.contains("line 2") && failure.message.contains("3 bytes"))
    }

    @Test("The end of the input is known when it is reached")
    func atEnd() throws {
        var reader = LineReader(ScriptedInput("a\nb"), maximumLine: 5)
        #expect(try reader.next() != nil && !reader.isAtEnd)
        #expect(try reader.next()?.bytes == ContiguousArray("b".utf8))
        #expect(try reader.next() == nil)
        #expect(reader.isAtEnd)
    }

    @Test("A text is read in as many pieces as there is room for")
    func text() throws {
        let text = (1...10_000).map { "line \($0)" }.joined(separator: "\n")
        var reader = LineReader(TextInput(ContiguousArray(text.utf8)), maximumLine: 20)
        var lines: [String] = []
        while let chunk = try reader.next() {
            #expect(chunk.bytes.count < 16_384 + 20)
            chunk.forEachLine(maximum: 20) { number, line in
                if let text = line { lines.append("\(number):\(String(decoding: text, as: UTF8.self))") }
            }
        }
        #expect(lines == (1...10_000).map { "\($0):line \($0)" })
    }
}

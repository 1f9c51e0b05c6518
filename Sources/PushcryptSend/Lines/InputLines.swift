internal import PushcryptCommand
internal import PushcryptCommandKit

/// Cuts an input into lines without waiting: it is read when there is something to read.
struct InputLines {
    private static let readLength = 65_536

    private let descriptor: Descriptor
    private let name: String
    private var bytes: ContiguousArray<UInt8> = []
    private var start = 0
    /// Up to here there is no newline.
    private var searched = 0
    private var isSkipping = false
    /// The number of the last line that was taken, from 1.
    private(set) var number = 0
    /// Whether the input has ended; lines may be left.
    private(set) var hasEnded = false

    init(_ descriptor: Descriptor, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Whether the last line of the input has no newline, and was not taken.
    private var hasRest: Bool { start < bytes.count }
    /// Whether there may be a line to take before more is read.
    var mayHaveLine: Bool { searched < bytes.count }
    /// Whether everything that was read was taken.
    var isEmpty: Bool { !hasRest }
    /// Whether every line was taken.
    var isAtEnd: Bool { hasEnded && isEmpty }

    /// Reads once; call it if the descriptor is readable.
    mutating func read() throws {
        if start > 0 {
            bytes.removeSubrange(..<start)
            searched -= start
            start = 0
        }
        let old = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Self.readLength))
        do throws(SystemError) {
            let descriptor = descriptor
            var span = bytes.mutableSpan
            let count = try descriptor.readSome(into: &span, from: old)
            bytes.removeLast(Self.readLength - count)
            if count == 0 { hasEnded = true }
        } catch {
            // A line without its end is not taken.
            let end = bytes[..<old].lastIndex(of: newline).map { $0 + 1 } ?? 0
            bytes.removeLast(bytes.count - end)
            searched = min(searched, end)
            hasEnded = true
            throw Failure.failed("cannot read \(name): \(error.text)")
        }
    }

    /// Takes the next non-empty line, nil for one that is too long; returns nil if no line is complete.
    mutating func next() -> ContiguousArray<UInt8>?? {
        while let line = nextOfAny() {
            if let line, line.allSatisfy(\.isBlank) { continue }
            return .some(line)
        }
        return nil
    }

    /// Drops the beginning of a line after the last whole one; returns whether it counts as a line.
    mutating func dropBeginning() -> Bool {
        defer { (start, searched) = (bytes.count, bytes.count) }
        guard !isSkipping, !bytes[start...].allSatisfy(\.isBlank) else { return false }
        number += 1
        return true
    }

    private mutating func nextOfAny() -> ContiguousArray<UInt8>?? {
        guard let end = bytes.firstNewline(from: searched) ?? (hasEnded && hasRest ? bytes.count : nil) else {
            searched = bytes.count
            guard bytes.count - start > Line.maximumLength else { return nil }
            // The rest of the line is dropped as it comes.
            start = bytes.count
            defer { isSkipping = true }
            if isSkipping { return nil }
            number += 1
            return .some(nil)
        }
        defer {
            start = min(end + 1, bytes.count)
            searched = start
        }
        if isSkipping {
            isSkipping = false
            return []
        }
        number += 1
        guard end - start <= Line.maximumLength else { return .some(nil) }
        return ContiguousArray(bytes[start..<end])
    }
}

internal import PushcryptCommandKit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The answers on their way to standard output: it is written without waiting for its reader.
struct SendOutput {
    /// When this much is not written, nothing is read.
    private static let limit = 1 << 20
    /// The bytes that a writable pipe is certain to take at once.
    private static let piece = Int(PIPE_BUF)

    private let console: Console
    private let isInOrder: Bool
    private let isFile: Bool
    private var bytes: ContiguousArray<UInt8> = []
    private var start = 0
    /// Answers that wait for those before them.
    private var waiting: [Int: ContiguousArray<UInt8>] = [:]
    private(set) var waitingBytes = 0
    private var next = 1

    init(_ console: Console, isInOrder: Bool) {
        self.console = console
        self.isInOrder = isInOrder
        isFile = console.output.regularFileSize != nil
    }

    var isEmpty: Bool { !hasBytes && waiting.isEmpty }
    /// Whether something can be written now.
    var hasBytes: Bool { start < bytes.count }
    var isFull: Bool { bytes.count - start >= Self.limit }
    /// The answers that wait for another.
    var waitingCount: Int { waiting.count }

    /// Adds the answer to a message.
    mutating func append(_ line: ContiguousArray<UInt8>, as number: Int) {
        guard isInOrder else { return bytes.append(contentsOf: line) }
        waiting[number] = line
        waitingBytes += line.count
        while let line = waiting.removeValue(forKey: next) {
            waitingBytes -= line.count
            bytes.append(contentsOf: line)
            next += 1
        }
    }

    /// Writes as much as the reader takes now.
    mutating func write() throws {
        while start < bytes.count {
            var request = pollfd(fd: console.output.number, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&request, 1, 0) > 0 else { break }
            let end = isFile ? bytes.count : min(bytes.count, start + Self.piece)
            let size = console.output.regularFileSize ?? 0
            do throws(Failure) {
                try console.write(bytes.span.extracting(start..<end))
            } catch {
                if isFile { cutLine(of: bytes[start..<end], after: size) }
                throw error
            }
            start = end
        }
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        } else if start > Self.limit {
            bytes.removeSubrange(..<start)
            start = 0
        }
    }

    /// Removes the beginning of a line that a full disk has left at the end of the file.
    private func cutLine(of written: ArraySlice<UInt8>, after size: Int) {
        guard let now = console.output.regularFileSize, (1...written.count).contains(now - size) else { return }
        let lines = written.prefix(now - size).lastIndex(of: newline).map { $0 + 1 - written.startIndex } ?? 0
        // If that fails, the disk has another fault.
        _ = ftruncate(console.output.number, off_t(size + lines))
    }
}

// The Darwin branches were typechecked on Linux and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file of any size, or standard input, read in pieces.
package struct InputFile: ~Copyable {
    /// The maximum length of a piece.
    package static let pieceLength = 65_536

    /// The name in messages.
    package let name: String
    /// Valid for as long as this value exists.
    package let descriptor: Descriptor
    private let file: OpenFile?
    /// The offset at which a regular file is read; nil for pipes, terminals and similar, which can be read once.
    private let start: off_t?

    /// Opens a path; `-` is standard input.
    package init(_ path: String, _ console: Console) throws(Failure) {
        if path == "-" {
            name = "standard input"
            file = nil
            descriptor = console.input
        } else {
            name = quoted(path)
            do throws(SystemError) {
                let file = try OpenFile(path, flags: O_RDONLY | O_NOCTTY)
                descriptor = file.descriptor
                self.file = consume file
            } catch {
                throw .failed("cannot read \(quoted(path)): \(error.text)")
            }
        }
        start = descriptor.regularFileSize == nil ? nil : lseek(descriptor.number, 0, SEEK_CUR)
    }

    /// The number of bytes to read; nil if the file can be read only once.
    package var size: Int? {
        guard let start, let size = descriptor.regularFileSize else { return nil }
        return max(0, size - Int(start))
    }

    /// Returns to the first offset; the file must have a size.
    package func rewind() throws(Failure) {
        guard let start, lseek(descriptor.number, start, SEEK_SET) == start else { throw failure(.last) }
    }

    /// Calls `body` with every piece, up to the end of the file.
    package func forEachPiece(_ body: (Span<UInt8>) throws -> Void) throws {
        var piece = ContiguousArray<UInt8>(repeating: 0, count: Self.pieceLength)
        while true {
            let count: Int
            do throws(SystemError) {
                count = try unsafe piece.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
                    var span = unsafe buffer.mutableSpan
                    return try descriptor.readSome(into: &span, from: 0)
                }
            } catch {
                throw failure(error)
            }
            if count == 0 { return }
            try body(piece.span.extracting(0..<count))
        }
    }

    private func failure(_ error: SystemError) -> Failure {
        .failed("cannot read \(name): \(error.text)")
    }
}

internal import Foundation
internal import Pushcrypt

/// One sealed file on its way into a plain one.
///
/// The plain file gets its name only when all of it was authenticated; until then, and whenever something fails, nobody is
/// given it. Two chunks are in memory. Not run on Apple systems.
final class AttachmentDownload: @unchecked Sendable {
    // The transport calls one at a time, and nobody else does.
    private let reference: AttachmentReference
    /// Holds the file and nothing else.
    private let directory: URL
    private var opener: AttachmentOpener?
    private var output: FileHandle?
    private var plain = ContiguousArray<UInt8>()
    private var failure: String?

    /// How much of a piece is opened at once: a transport's pieces may be of any size.
    static let pieceLength = 1 << 16

    init(_ reference: AttachmentReference, in directory: URL) {
        self.reference = reference
        self.directory = directory
        opener = AttachmentOpener(reference.file)
    }

    private var partial: URL { directory.appendingPathComponent(".partial", isDirectory: false) }

    /// Takes the next piece; false when no more is wanted.
    func receive(_ data: Data) -> Bool {
        guard failure == nil else { return false }
        do {
            try unsafe data.withUnsafeBytes { bytes in
                let bytes = unsafe bytes.bindMemory(to: UInt8.self)
                let sealed = unsafe bytes.span
                for start in stride(from: 0, to: sealed.count, by: Self.pieceLength) {
                    let piece = sealed.extracting(start..<min(start + Self.pieceLength, sealed.count))
                    try opener?.open(piece, into: &plain)
                    try write()
                }
            }
        } catch {
            fail(error)
        }
        return failure == nil
    }

    /// Ends the file; gives where it is, or says what was wrong with it and leaves nothing.
    func finish(_ transportFailure: TransportFailure?) -> Result<URL, AttachmentProblem> {
        do {
            if failure == nil, let transportFailure { failure = transportFailure.description }
            if failure == nil {
                try opener.take()?.finish(into: &plain)
                try write()
                try output?.close()
                output = nil
                let file = directory.appendingPathComponent(AttachmentName.file(for: reference), isDirectory: false)
                try FileManager.default.moveItem(at: partial, to: file)
                return .success(file)
            }
        } catch {
            fail(error)
        }
        try? output?.close()
        try? FileManager.default.removeItem(at: directory)
        return .failure(AttachmentProblem(failure ?? "unknown"))
    }

    private func write() throws {
        guard !plain.isEmpty || output == nil else { return }
        if output == nil {
            try FileManager.default.makePrivateDirectory(at: directory)
            output = try FileHandle(forWritingTo: FileManager.default.makePrivateFile(at: partial))
        }
        try output?.write(contentsOf: Data(plain))
        plain.removeAll(keepingCapacity: true)
    }

    private func fail(_ error: any Error) {
        if let error = error as? AttachmentError {
            failure = "\(error.code): \(error)"
        } else {
            let error = error as NSError
            failure = "its file cannot be written: \(error.domain) \(error.code)"
        }
    }
}

/// Why an attachment is not shown.
struct AttachmentProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

internal import Foundation
internal import Pushcrypt

/// Downloads one sealed file and opens it into a plain file.
///
/// The plain file gets its final name only after all of it is authenticated. Until then, and after any failure, no
/// other code can see it. Keeps two chunks in memory. Not run on Apple systems.
final class AttachmentDownload: @unchecked Sendable {
    // Only the transport calls the methods, one at a time.
    private let reference: AttachmentReference
    /// Contains only this file.
    private let directory: URL
    private var opener: AttachmentOpener?
    private var output: PlainFile?
    private var plain = ContiguousArray<UInt8>()
    private var failure: String?

    /// The most bytes to open at once, because a transport's pieces may be of any size.
    static let pieceLength = 1 << 16

    init(_ reference: AttachmentReference, in directory: URL) {
        self.reference = reference
        self.directory = directory
        opener = AttachmentOpener(reference.file)
    }

    private var partial: URL { directory.appendingPathComponent(".partial", isDirectory: false) }

    /// Opens the next piece. Returns false to end the download.
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

    /// Completes the file. On failure, removes it.
    func finish(_ transportFailure: TransportFailure?) -> Result<URL, AttachmentProblem> {
        do {
            if failure == nil, let transportFailure { failure = transportFailure.description }
            if failure == nil {
                try opener.take()?.finish(into: &plain)
                try write()
                output = nil
                let file = directory.appendingPathComponent(AttachmentName.file(for: reference), isDirectory: false)
                try FileManager.default.moveItem(at: partial, to: file)
                return .success(file)
            }
        } catch {
            fail(error)
        }
        output = nil
        try? FileManager.default.removeItem(at: directory)
        return .failure(AttachmentProblem(failure ?? "unknown"))
    }

    private func write() throws {
        guard !plain.isEmpty || output == nil else { return }
        if output == nil {
            try FileManager.default.makePrivateDirectory(at: directory)
            output = try PlainFile(FileManager.default.makePrivateFile(at: partial), O_WRONLY)
        }
        try output?.write(plain)
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

/// File names of attachments on the device.
///
/// The system determines a file's type from its extension, so the extension must match the type that the sender gives.
/// Not run on Apple systems.
enum AttachmentName {
    /// Returns one path component of at most 255 bytes that is not hidden.
    static func file(for reference: AttachmentReference) -> String {
        // A leading dot hides a file. Compare scalars: a dot with a combining mark is a different character, but still
        // hides the file.
        let name = String(String.UnicodeScalarView(reference.name.unicodeScalars.drop { $0 == "." }))
        let (stem, ending) = parts(of: name)
        guard let fitting = ShownFileType(type: reference.type)?.fileExtensions, let usual = fitting.first else {
            return joined(stem, safe(ending))
        }
        if fitting.contains(ending.lowercased()) { return joined(stem, ending) }
        return joined(name, usual)
    }

    private static func parts(of name: String) -> (stem: String, ending: String) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...].dropFirst()))
    }

    /// The extension, if it is an ordinary one.
    private static func safe(_ ending: String) -> String {
        let isOrdinary = ending.utf8.count <= 16 && ending.utf8.allSatisfy(\.isLetterOrDigit)
        return isOrdinary ? ending : ""
    }

    private static func joined(_ stem: String, _ ending: String) -> String {
        let end = ending.isEmpty ? "" : ".\(ending)"
        var stem = stem.isEmpty ? "attachment" : stem
        while stem.utf8.count + end.utf8.count > AttachmentReference.maximumNameLength { stem.removeLast() }
        // The loop may have removed the only character.
        return (stem.isEmpty ? "attachment" : stem) + end
    }
}

internal import Foundation

/// The folder of attachments between download and delivery, with a subfolder for each. Not run on Apple systems.
struct AttachmentFolder: Sendable {
    /// The age of a leftover, in seconds. A delivery takes half a minute, and with it the system moves the files away:
    /// an older file was left behind by a process that was ended.
    static let leftoverAge = 120.0

    private let root: URL
    private let now: @Sendable () -> Date

    init(_ root: URL = FileManager.default.temporaryDirectory, now: @escaping @Sendable () -> Date = { Date() }) {
        self.root = root.appendingPathComponent("pushcrypt-attachments", isDirectory: true)
        self.now = now
    }

    /// Returns a new folder for one file, without creating it.
    func place() -> URL { root.appendingPathComponent(UUID().uuidString, isDirectory: true) }

    /// Removes a file and its folder.
    static func remove(_ file: URL) {
        try? FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }

    func removeLeftovers() {
        let places = try? FileManager.default.contentsOfDirectory(
            at: root, includingPropertiesForKeys: [.contentModificationDateKey])
        for place in places ?? [] where place.age(at: now()) > Self.leftoverAge {
            try? FileManager.default.removeItem(at: place)
        }
    }
}

/// A file that is read and written with nothing for an autorelease pool: a `FileHandle` leaves an object there for each piece,
/// and a loop keeps them all to its end. Closed with the last reference. Not run on Apple systems.
final class PlainFile {
    private let descriptor: Int32

    init(_ url: URL, _ flags: Int32) throws {
        descriptor = unsafe open(url.path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure }
    }

    deinit { close(descriptor) }

    /// Reads the next piece, and returns its length; 0 at the end.
    func read(into piece: inout [UInt8]) throws -> Int {
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe Self.system(descriptor, $0) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw Self.failure }
        }
    }

    func write(_ bytes: ContiguousArray<UInt8>) throws {
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Self.system(descriptor, UnsafeRawBufferPointer(rebasing: bytes[start...]))
            }
            if count < 0, errno != EINTR { throw Self.failure }
            start += max(0, count)
        }
    }

    private static func system(_ descriptor: Int32, _ piece: UnsafeMutableRawBufferPointer) -> Int {
        unsafe Foundation.read(descriptor, piece.baseAddress, piece.count)
    }

    private static func system(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        unsafe Foundation.write(descriptor, bytes.baseAddress, bytes.count)
    }

    private static var failure: any Error { NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
}

extension URL {
    /// Seconds since the last modification; 0 if unknown.
    func age(at now: Date) -> Double {
        let changed = try? resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        return changed.map { now.timeIntervalSince($0) } ?? 0
    }
}

extension FileManager {
    /// Creates a directory that only its owner can access, readable after the first unlock. Keeps an existing one.
    func makePrivateDirectory(at url: URL) throws {
        try createDirectory(
            at: url, withIntermediateDirectories: true, attributes: Self.attributes(permissions: 0o700))
    }

    /// Creates an empty file that only its owner can access, readable after the first unlock.
    func makePrivateFile(at url: URL) throws -> URL {
        guard createFile(atPath: url.path, contents: nil, attributes: Self.attributes(permissions: 0o600)) else {
            throw CocoaError(.fileWriteUnknown)
        }
        return url
    }

    private static func attributes(permissions: Int) -> [FileAttributeKey: Any] {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: permissions]
        #if !os(Linux)
            attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
        #endif
        return attributes
    }
}

public import Foundation
internal import Pushcrypt
public import UserNotifications

/// Plain copies of attachments, handed on from the service extension to the content extension through the app group.
///
/// The system shows some types of files, and takes those; a content extension gets every type here. The files can be read
/// from the first unlock on, by the app and its extensions. The oldest go when there are too many, or when their time is
/// over. Not run on Apple systems.
public struct SharedAttachments: Sendable {
    /// The most bytes that are kept in all; 50 MB.
    public var maximumSize: UInt64 = 50_000_000
    /// How long they are kept, in seconds; a week.
    public var maximumAge: Double = 604_800

    private static let partialPrefix = "partial-"

    private let directory: URL

    /// Takes the directory that the service extension was given, which lies in the app group.
    public init(directory: URL) {
        self.directory = directory.appendingPathComponent("attachments", isDirectory: true)
    }

    /// Takes the app group that the service extension was given; throws `AppGroup.Missing`.
    public init(appGroup: String) throws {
        self.init(directory: try AppGroup(identifier: appGroup).directory())
    }

    /// The files of a notification, in the order of its attachments; none when they are gone, or were never there.
    public func files(of request: UNNotificationRequest) -> [URL] {
        let place = place(for: request.identifier)
        let numbered = contents(of: place).compactMap { folder in
            Int(folder.lastPathComponent).flatMap { number in contents(of: folder).first.map { (number, $0) } }
        }
        return numbered.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Removes every file, for a log-out.
    public func removeAll() { try? FileManager.default.removeItem(at: directory) }

    // MARK: The service extension's side

    /// Copies files for a notification, in place of those of an earlier one with this identifier.
    func share(_ files: [URL], for requestID: String) throws {
        let place = place(for: requestID)
        let partial = directory.appendingPathComponent(Self.partialPrefix + UUID().uuidString, isDirectory: true)
        do {
            for (number, file) in files.enumerated() {
                let folder = partial.appendingPathComponent("\(number)", isDirectory: true)
                try FileManager.default.makePrivateDirectory(at: folder)
                try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(file.lastPathComponent))
            }
            remove(requestID)
            try FileManager.default.moveItem(at: partial, to: place)
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw error
        }
        clean()
    }

    func remove(_ requestID: String) { try? FileManager.default.removeItem(at: place(for: requestID)) }

    /// Removes what is too old, and then the oldest until the rest is not too much.
    func clean() {
        var places = contents(of: directory).map { (url: $0, age: $0.age, size: size(of: $0)) }
        places.sort { $0.age < $1.age }
        var sum: UInt64 = 0
        for place in places {
            sum += place.size
            let isPartial = place.url.lastPathComponent.hasPrefix(Self.partialPrefix)
            if place.age > (isPartial ? AttachmentFolder.leftoverAge : maximumAge) || sum > maximumSize {
                try? FileManager.default.removeItem(at: place.url)
            }
        }
    }

    // MARK: Places

    /// The identifier is whatever the sender of the push chose, so its hash is the name.
    private func place(for requestID: String) -> URL {
        let name = SHA256.digest(ContiguousArray(requestID.utf8).span).hex
        return directory.appendingPathComponent(name, isDirectory: true)
    }

    private func contents(of directory: URL) -> [URL] {
        let keys: [URLResourceKey] = [.contentModificationDateKey]
        return (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: keys)) ?? []
    }

    private func size(of place: URL) -> UInt64 {
        let files = contents(of: place).flatMap(contents(of:))
        return files.reduce(0) { sum, file in
            let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize
            return sum + UInt64(size ?? 0)
        }
    }
}

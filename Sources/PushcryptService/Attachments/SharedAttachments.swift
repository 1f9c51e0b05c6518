public import Foundation
internal import Pushcrypt
public import UserNotifications

/// Plain copies of attachments, which the service extension leaves in the app group for the content extension.
///
/// The system accepts only some types of files; a content extension gets every type here. The app and its extensions
/// can read the files after the first unlock. Old files are removed, and the oldest when there are too many. Not run on
/// Apple systems.
public struct SharedAttachments: Sendable {
    /// The most bytes to keep in total.
    var maximumSize: UInt64 = 50_000_000
    private static let maximumAge = Interval.days(7)
    private static let partialPrefix = "partial-"

    private let directory: URL

    /// Opens the copies in the service extension's directory.
    ///
    /// - Parameter directory: The directory in the app group that the service extension is configured with.
    init(directory: URL) {
        self.directory = directory.appendingPathComponent("attachments", isDirectory: true)
    }

    /// Opens the copies in the service extension's app group.
    ///
    /// - Parameter group: The app group that the service extension is configured with.
    /// - Throws: `AppGroup.Missing`.
    public init(in group: AppGroup) throws { self.init(directory: try group.directory()) }

    /// Returns the files of a notification, in the order of its attachments; empty if there are none or they were
    /// removed.
    public func files(of request: UNNotificationRequest) -> [URL] {
        let place = place(for: request.identifier)
        let numbered = contents(of: place).compactMap { folder in
            Int(folder.lastPathComponent).flatMap { number in contents(of: folder).first.map { (number, $0) } }
        }
        return numbered.sorted { $0.0 < $1.0 }.map(\.1)
    }

    // MARK: Service extension

    /// Copies the files of a notification. They replace those of an earlier notification with this identifier.
    func share(
        _ files: [URL], for requestID: String, of opened: OpenedNotification? = nil, account: AccountTag? = nil
    ) throws {
        let place = place(for: requestID)
        let partial = directory.appendingPathComponent(Self.partialPrefix + UUID().uuidString, isDirectory: true)
        do {
            // First, so that a log-out at this moment finds it.
            if let account {
                try FileManager.default.makePrivateDirectory(at: partial)
                _ = try FileManager.default.makePrivateFile(at: mark(of: account, in: partial))
            }
            for (number, file) in files.enumerated() {
                let folder = partial.appendingPathComponent("\(number)", isDirectory: true)
                try FileManager.default.makePrivateDirectory(at: folder)
                try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(file.lastPathComponent))
            }
            if let opened { _ = try FileManager.default.makePrivateFile(at: mark(of: opened, in: partial)) }
            remove(requestID)
            try FileManager.default.moveItem(at: partial, to: place)
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw error
        }
        clean()
    }

    /// Hides the files of a notification until it is known which message replaces it.
    func hide(_ requestID: String) {
        try? FileManager.default.removeItem(at: hidden(requestID))
        try? FileManager.default.moveItem(at: place(for: requestID), to: hidden(requestID))
    }

    /// Shows hidden files again if they are those of this message; otherwise removes them.
    func restore(_ requestID: String, of opened: OpenedNotification?) {
        let hidden = hidden(requestID)
        if let opened, FileManager.default.fileExists(atPath: mark(of: opened, in: hidden).path) {
            try? FileManager.default.moveItem(at: hidden, to: place(for: requestID))
        }
        try? FileManager.default.removeItem(at: hidden)
    }

    /// Removes the files of an account.
    func remove(of account: AccountTag) {
        for place in contents(of: directory)
        where FileManager.default.fileExists(atPath: mark(of: account, in: place).path) {
            try? FileManager.default.removeItem(at: place)
        }
    }

    func remove(_ requestID: String) { try? FileManager.default.removeItem(at: place(for: requestID)) }

    /// Removes files that are too old, then the oldest until the rest is within the limit.
    func clean() {
        let now = Date()
        var places = contents(of: directory).map { (url: $0, age: $0.age(at: now), size: size(of: $0)) }
        places.sort { $0.age < $1.age }
        var sum: UInt64 = 0
        for place in places {
            sum += place.size
            let isPartial = place.url.lastPathComponent.hasPrefix(Self.partialPrefix)
            if place.age > (isPartial ? AttachmentFolder.leftoverAge : Double(Self.maximumAge.seconds))
                || sum > maximumSize
            {
                try? FileManager.default.removeItem(at: place.url)
            }
        }
    }

    // MARK: Folders

    /// Named by a hash, because the sender of the push chooses the identifier.
    private func place(for requestID: String) -> URL {
        let name = SHA256.digest(ContiguousArray(requestID.utf8).span).hex
        return directory.appendingPathComponent(name, isDirectory: true)
    }

    private func hidden(_ requestID: String) -> URL {
        directory.appendingPathComponent(
            Self.partialPrefix + place(for: requestID).lastPathComponent, isDirectory: true)
    }

    /// The empty file that names the message of a folder.
    private func mark(of opened: OpenedNotification, in place: URL) -> URL {
        let message = opened.provider.bytes + opened.messageID.bytes
        let name = SHA256.digest(message.span).hex
        return place.appendingPathComponent("message-\(name)", isDirectory: false)
    }

    /// The empty file that names the account of a folder.
    private func mark(of account: AccountTag, in place: URL) -> URL {
        place.appendingPathComponent("account-\(account.text)", isDirectory: false)
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

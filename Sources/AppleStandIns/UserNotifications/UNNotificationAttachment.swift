public import Foundation

/// The option for the file's uniform type identifier.
public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"

/// A media file shown with a notification.
///
/// The type hint, or else the file's extension, determines the type; the bytes are not checked. The file stays where it
/// is: on a device the system moves it away when the notification is delivered.
open class UNNotificationAttachment: NSObject, NSCopying, NSSecureCoding {
    /// The identifier within the notification.
    public let identifier: String
    /// The URL of the file.
    public let url: URL
    /// The file's uniform type identifier.
    public let type: String

    package init(identifier: String, url: URL, type: String) {
        self.identifier = identifier
        self.url = url
        self.type = type
        super.init()
    }

    /// Creates an attachment from a file.
    ///
    /// - Parameters:
    ///   - identifier: The identifier; empty for a new UUID.
    ///   - url: A file URL.
    ///   - options: The type hint determines the type; the other options have no effect.
    /// - Throws: `UNError`: `attachmentInvalidURL` if it is not a file that can be read, `attachmentUnrecognizedType`
    ///   if its type is not in Apple's table, `attachmentInvalidFileSize` if it is larger than the table allows.
    public convenience init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        let path = url.resolvingSymlinksInPath().path
        guard url.isFileURL, let file = try? FileManager.default.attributesOfItem(atPath: path),
            file[.type] as? FileAttributeType == .typeRegular, FileManager.default.isReadableFile(atPath: path)
        else { throw UNError(.attachmentInvalidURL) }
        let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] as? String
        guard let media = AttachmentMedia.find(typeHint: hint, pathExtension: url.pathExtension) else {
            throw UNError(.attachmentUnrecognizedType)
        }
        guard let size = file[.size] as? NSNumber, size.int64Value <= media.kind.maximumSize else {
            throw UNError(.attachmentInvalidFileSize)
        }
        self.init(identifier: identifier.isEmpty ? UUID().uuidString : identifier, url: url, type: media.type)
    }

    /// Returns itself: an attachment is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares identifier, file and type.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationAttachment else { return false }
        return other.identifier == identifier && other.url == url && other.type == type
    }

    /// Hashes identifier and file.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(identifier)
        hasher.combine(url)
        return hasher.finalize()
    }

    /// Whether archives support secure coding: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived attachment. Returns nil if the archive is invalid.
    public required init?(coder: NSCoder) {
        guard let identifier = coder.string("identifier"), let type = coder.string("type"),
            let url = coder.decodeObject(of: NSURL.self, forKey: "url")
        else { return nil }
        self.identifier = identifier
        self.type = type
        self.url = url as URL
        super.init()
    }

    /// Archives identifier, file and type.
    open func encode(with coder: NSCoder) {
        coder.encode(NSString(string: identifier), forKey: "identifier")
        coder.encode(NSString(string: type), forKey: "type")
        coder.encode(url as NSURL, forKey: "url")
    }
}

/// A row of Apple's table of attachments.
private struct AttachmentMedia {
    enum Kind {
        case audio, image, movie

        var maximumSize: Int64 {
            switch self {
            case .audio: 5_000_000
            case .image: 10_000_000
            case .movie: 50_000_000
            }
        }
    }

    let kind: Kind
    let type: String
    let pathExtensions: [String]

    private static let table: [Self] = [
        .init(kind: .audio, type: "public.aiff-audio", pathExtensions: ["aiff", "aif"]),
        .init(kind: .audio, type: "com.microsoft.waveform-audio", pathExtensions: ["wav", "wave"]),
        .init(kind: .audio, type: "public.mp3", pathExtensions: ["mp3"]),
        .init(kind: .audio, type: "public.mpeg-4-audio", pathExtensions: ["m4a"]),
        .init(kind: .image, type: "public.jpeg", pathExtensions: ["jpg", "jpeg"]),
        .init(kind: .image, type: "com.compuserve.gif", pathExtensions: ["gif"]),
        .init(kind: .image, type: "public.png", pathExtensions: ["png"]),
        .init(kind: .movie, type: "public.mpeg", pathExtensions: ["mpg", "mpeg"]),
        .init(kind: .movie, type: "public.mpeg-2-video", pathExtensions: ["m2v"]),
        .init(kind: .movie, type: "public.mpeg-4", pathExtensions: ["mp4"]),
        .init(kind: .movie, type: "public.avi", pathExtensions: ["avi"]),
    ]

    static func find(typeHint: String?, pathExtension: String) -> Self? {
        if let typeHint { return table.first { $0.type == typeHint } }
        return table.first { $0.pathExtensions.contains(pathExtension.lowercased()) }
    }
}

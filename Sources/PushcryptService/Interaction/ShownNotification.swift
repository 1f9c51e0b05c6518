public import Foundation
internal import PushcryptReceiver
internal import UserNotifications

/// A notification in the view of a content extension: what may be shown of it. Not run on Apple systems.
public struct ShownNotification: Hashable, Sendable {
    /// The notification's request.
    public let identifier: String
    /// When it came.
    public let date: Date
    /// Whether the service extension has opened it, or the app has made it. What anybody on the way may have written is
    /// replaced otherwise: there is the clear title with the text of the fallback, and nothing else.
    public let isAuthentic: Bool
    /// The first line.
    public let title: String
    /// The second line.
    public let subtitle: String
    /// The text.
    public let body: String
    /// The category; empty unless it is authentic.
    public let categoryIdentifier: String
    /// The custom keys of the sealed payload, as the text of one JSON object; none unless they are authentic.
    public let userInfo: ContiguousArray<UInt8>
    /// The files that came with it, on this device already: those in the app group, or else those that the system shows. To
    /// read the system's, the extension calls `startAccessingSecurityScopedResource`, which does no harm to others.
    public let attachments: [URL]

    /// The custom keys as the system has them.
    public var customKeys: [AnyHashable: Any] { CustomKeys.dictionary(userInfo) }

    /// Reads a notification and the files that belong to it.
    init(_ notification: UNNotification, shared: SharedAttachments?, texts: FallbackTexts) {
        let request = notification.request
        let content = request.content
        identifier = request.identifier
        date = notification.date
        title = content.title
        let userInfo = CustomKeys.json(content.userInfo)
        let source = NotificationResponseValue(
            requestIdentifier: identifier, action: .open, userInfo: userInfo
        ).source
        isAuthentic = source == .app
        if isAuthentic {
            subtitle = content.subtitle
            body = content.body
            categoryIdentifier = content.categoryIdentifier
            self.userInfo = userInfo
            let files = shared?.files(of: request) ?? []
            attachments = files.isEmpty ? content.attachments.map(\.url) : files
        } else {
            subtitle = source == .sealed ? texts.couldNotOpen.system : ""
            body = source == .clear ? texts.notEncrypted.system : ""
            categoryIdentifier = ""
            self.userInfo = NotificationContent.emptyUserInfo
            attachments = []
        }
    }
}

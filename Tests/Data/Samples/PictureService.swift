import UserNotifications

/// A service extension that attaches a picture; without one, the text is still shown.
class PictureService: UNNotificationServiceExtension {
    private(set) var problem: Error?

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else {
            return contentHandler(request.content)
        }
        if let path = content.userInfo["picture"] as? String {
            do {
                let picture = try UNNotificationAttachment(
                    identifier: "picture", url: URL(fileURLWithPath: path),
                    options: [UNNotificationAttachmentOptionsTypeHintKey: "public.png"])
                content.attachments = [picture]
            } catch UNError.attachmentInvalidURL {
                content.subtitle = "without its picture"
            } catch {
                problem = error
            }
        }
        content.title = NSString.localizedUserNotificationString(
            forKey: "PARCEL_TITLE", arguments: [content.userInfo["carrier"] as Any])
        content.threadIdentifier = "parcels"
        content.sound = .default
        content.badge = 1
        content.interruptionLevel = .timeSensitive
        contentHandler(content)
    }
}

/// An intent of Intents that can complete the content of a notification.
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
public protocol UNNotificationContentProviding: NSObjectProtocol {
    /// Completes a copy, in place of what the system does. Not Apple's.
    func provide(_ content: UNMutableNotificationContent) throws
}

extension UNNotificationContent {
    /// Returns the content as the system completes it with an intent. Error: `contentProvidingObjectNotAllowed`.
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    public func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent {
        let content = UNMutableNotificationContent(fields)
        try provider.provide(content)
        return content.frozen()
    }

    /// The name of a communication notification's sender.
    package var communicationSenderName: String? { fields.communicationSender }
    /// The bytes of the sender's picture.
    package var communicationImageData: Data? { fields.communicationImage }
}

extension UNMutableNotificationContent {
    package var communicationSender: String? {
        get { fields.communicationSender }
        set { fields.communicationSender = newValue }
    }
    package var communicationImage: Data? {
        get { fields.communicationImage }
        set { fields.communicationImage = newValue }
    }
}

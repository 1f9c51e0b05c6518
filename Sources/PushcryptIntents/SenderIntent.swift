internal import Dispatch
public import Foundation
internal import Intents
public import Pushcrypt
public import PushcryptService
public import UserNotifications

/// An app's additions to the sender of a message, from the phone or from the sealed custom keys.
public struct SenderDetails: Sendable {
    /// The name of the group; nil for the names of its members, if there is more than one recipient.
    public var groupName: String?
    /// The group's picture: the bytes of a JPEG or PNG file. Only a group has one.
    public var groupImage: Data?
    /// Whether the message mentions the user. A Focus and the summary may let it through for that.
    public var mentionsUser = false
    /// Whether the message answers one of the user's.
    public var isReplyToUser = false
    /// Whether the sender has asked to notify the user in spite of a Focus.
    public var notifiesAnyway = false
    /// The number of recipients, if the message does not name all.
    public var recipientCount: Int?

    /// Creates a value that adds nothing.
    public init() {}
}

extension SenderDisplay {
    /// Shows senders with name and face, as the system shows messages. The app needs the entitlement
    /// `com.apple.developer.usernotifications.communication`, and `INSendMessageIntent` in `NSUserActivityTypes` of its property
    /// list. The system keeps name, handle and picture of senders until the message is withdrawn or its account logs out.
    ///
    /// - Parameter details: What the app adds to this sender of this content, whose custom keys were sealed. It has, with the
    ///   system's work, a second.
    public static func intents(
        details: @escaping @Sendable (CommunicationSender, UNNotificationContent) -> SenderDetails = { _, _ in
            SenderDetails()
        }
    ) -> SenderDisplay {
        SenderDisplay(
            show: { content, message, donated in
                let intent = SenderIntent(message, details(message.sender, content))
                if let donated { intent.donate(donated) }
                return try intent.updating(content)
            },
            deleteMessages: { INInteraction.delete(with: $0, completion: nil) },
            deleteAccount: { INInteraction.delete(with: $0, completion: nil) })
    }
}

/// A message for the system. Not run on Apple systems.
private struct SenderIntent {
    private let intent: INSendMessageIntent
    private let message: SenderDisplay.Message

    /// In Apple's order, the message is donated before the content is updated; the rest of the second is for that.
    private static let patience = DispatchTimeInterval.milliseconds(500)

    init(_ message: SenderDisplay.Message, _ details: SenderDetails) {
        let sender = message.sender
        let recipients = sender.recipients.map { Self.person($0, handle: $0, nil) }
        // The system shows a group if there is more than one recipient.
        let names = recipients.count > 1 ? ([sender.name] + sender.recipients).joined(separator: ", ") : nil
        let group = details.groupName ?? names
        intent = INSendMessageIntent(
            recipients: recipients.isEmpty ? nil : recipients, outgoingMessageType: .outgoingMessageText,
            // The system keeps what is donated: no text of the message.
            content: nil, speakableGroupName: group.map(INSpeakableString.init(spokenPhrase:)),
            conversationIdentifier: sender.conversation ?? sender.handle, serviceName: nil,
            sender: Self.person(sender.name, handle: sender.handle, message.avatar.map(INImage.init(imageData:))),
            attachments: nil)
        if let image = intent.sender?.image { intent.setImage(image, forParameterNamed: \.sender) }
        if group != nil, let image = details.groupImage {
            intent.setImage(INImage(imageData: image), forParameterNamed: \.speakableGroupName)
        }
        let metadata = INSendMessageIntentDonationMetadata()
        metadata.mentionsCurrentUser = details.mentionsUser
        metadata.isReplyToCurrentUser = details.isReplyToUser
        metadata.notifyRecipientAnyway = details.notifiesAnyway
        if let count = details.recipientCount { metadata.recipientCount = count }
        intent.donationMetadata = metadata
        self.message = message
    }

    private static func person(_ name: String, handle: String, _ image: INImage?) -> INPerson {
        INPerson(
            personHandle: INPersonHandle(value: handle, type: .unknown), nameComponents: nil, displayName: name,
            image: image, contactIdentifier: nil, customIdentifier: handle)
    }

    /// - Throws: The system's error, if it refuses the intent. The content is then shown without a face.
    func updating(_ content: UNNotificationContent) throws -> UNNotificationContent {
        try content.updating(from: intent)
    }

    /// Tells the system of the message, and waits for the answer: it suggests the sender then, and lets it through a Focus.
    func donate(_ donated: @escaping @Sendable () -> Void) {
        let interaction = INInteraction(intent: intent, response: nil)
        interaction.direction = .incoming
        interaction.identifier = message.mark
        interaction.groupIdentifier = message.account
        let done = DispatchSemaphore(value: 0)
        interaction.donate { _ in
            donated()
            done.signal()
        }
        _ = done.wait(timeout: .now() + Self.patience)
    }
}

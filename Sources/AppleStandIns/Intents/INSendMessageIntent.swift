public import Foundation
public import UserNotifications

/// Something that a person wants to do.
open class INIntent: NSObject {}

/// The answer to an intent.
open class INIntentResponse: NSObject {}

/// The kind of an outgoing message.
@available(iOS 14, macOS 12, watchOS 7, *)
public enum INOutgoingMessageType: Int, Sendable {
    /// Any.
    case unknown
    /// Text.
    case outgoingMessageText
    /// Sound.
    case outgoingMessageAudio
}

/// An attachment of a message; never created here.
@available(iOS 14, macOS 12, watchOS 7, *)
open class INSendMessageAttachment: NSObject {}

/// A message from a person.
@available(macOS 12, *)
open class INSendMessageIntent: INIntent {
    /// The other recipients.
    open private(set) var recipients: [INPerson]?
    /// The text.
    open private(set) var content: String?
    /// The name of a group.
    open private(set) var speakableGroupName: INSpeakableString?
    /// What names the conversation.
    open private(set) var conversationIdentifier: String?
    /// The sender.
    open private(set) var sender: INPerson?

    /// Creates a message.
    @available(iOS 14, macOS 12, watchOS 7, *)
    public init(
        recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
        speakableGroupName: INSpeakableString?, conversationIdentifier: String?, serviceName: String?,
        sender: INPerson?, attachments: [INSendMessageAttachment]?
    ) {
        self.recipients = recipients
        self.content = content
        self.speakableGroupName = speakableGroupName
        self.conversationIdentifier = conversationIdentifier
        self.sender = sender
    }
}

@available(macOS 12, *)
extension INSendMessageIntent {
    /// Sets the picture of a parameter. Does nothing here.
    public func setImage<Member>(
        _ image: INImage?, forParameterNamed parameterName: KeyPath<INSendMessageIntent, Member>
    ) {}
}

@available(macOS 12, *)
extension INSendMessageIntent: UNNotificationContentProviding {
    /// Adds the sender: the system shows the name as the title. A blank name is refused.
    public func provide(_ content: UNMutableNotificationContent) throws {
        guard let sender, !sender.displayName.allSatisfy(\.isWhitespace) else {
            throw UNError(.contentProvidingObjectNotAllowed)
        }
        content.title = sender.displayName
        content.communicationSender = sender.displayName
        content.communicationImage = sender.image?.data
    }
}

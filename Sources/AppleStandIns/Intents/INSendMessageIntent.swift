public import Foundation
public import UserNotifications

/// Something that a person wants to do.
open class INIntent: NSObject {
    /// More facts for the system.
    @available(iOS 15, macOS 12, watchOS 8, *)
    open var donationMetadata: INIntentDonationMetadata? {
        get { metadata as? INIntentDonationMetadata }
        set { metadata = newValue }
    }

    private var metadata: NSObject?
}

/// The answer to an intent.
open class INIntentResponse: NSObject {}

/// More facts about an intent, for the system.
@available(iOS 15, macOS 12, watchOS 8, *)
open class INIntentDonationMetadata: NSObject {}

/// More facts about a message, for the system.
@available(iOS 15, macOS 12, watchOS 8, *)
open class INSendMessageIntentDonationMetadata: INIntentDonationMetadata {
    /// Whether it names the user.
    open var mentionsCurrentUser = false
    /// Whether it answers one of the user's.
    open var isReplyToCurrentUser = false
    /// Whether the sender has asked to notify the user in spite of a Focus.
    open var notifyRecipientAnyway = false
    /// The number of recipients.
    open var recipientCount = 0

    /// Creates a value that says nothing.
    public override init() {}
}

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
    /// The conversation's id.
    open private(set) var conversationIdentifier: String?
    /// The sender.
    open private(set) var sender: INPerson?
    fileprivate var images: [AnyKeyPath: INImage] = [:]

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
    /// Sets the picture of a parameter.
    public func setImage<Member>(
        _ image: INImage?, forParameterNamed parameterName: KeyPath<INSendMessageIntent, Member>
    ) { images[parameterName] = image }

    /// The picture of the group.
    package var groupImage: Data? { images[\INSendMessageIntent.speakableGroupName]?.data }
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

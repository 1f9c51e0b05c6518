internal import Dispatch
internal import Foundation
internal import Intents
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver
internal import UserNotifications

/// Shows a notification with its sender's name and face, as the system shows messages. Not run on Apple systems.
struct SenderIntent {
    private let intent: INSendMessageIntent
    private let mark: NotificationMark

    /// - Parameter avatar: The bytes of the sender's picture; nil if it has not come.
    init(_ sender: CommunicationSender, avatar: Data?, mark: NotificationMark) {
        let recipients = sender.recipients.map { Self.person($0, handle: $0, nil) }
        intent = INSendMessageIntent(
            recipients: recipients.isEmpty ? nil : recipients, outgoingMessageType: .outgoingMessageText,
            // The system keeps what is donated: no text of the message.
            content: nil, speakableGroupName: Self.groupName(sender).map(INSpeakableString.init(spokenPhrase:)),
            conversationIdentifier: sender.conversation ?? sender.handle, serviceName: nil,
            sender: Self.person(sender.name, handle: sender.handle, avatar.map(INImage.init(imageData:))),
            attachments: nil)
        if let image = intent.sender?.image { intent.setImage(image, forParameterNamed: \.sender) }
        self.mark = mark
    }

    private static func person(_ name: String, handle: String, _ image: INImage?) -> INPerson {
        INPerson(
            personHandle: INPersonHandle(value: handle, type: .unknown), nameComponents: nil, displayName: name,
            image: image, contactIdentifier: nil, customIdentifier: handle)
    }

    /// The system shows a group if there is more than one recipient.
    private static func groupName(_ sender: CommunicationSender) -> String? {
        sender.recipients.count > 1 ? ([sender.name] + sender.recipients).joined(separator: ", ") : nil
    }

    /// Returns the content with the sender, which nothing may change afterwards.
    ///
    /// - Throws: The system's error, if it refuses the intent. The content is then shown without a face.
    func updating(_ content: UNNotificationContent) throws -> UNNotificationContent {
        try content.updating(from: intent)
    }

    /// Tells the system of the message, and waits for the answer: it suggests the sender then, and lets it through a Focus.
    /// The system keeps name, handle and picture.
    func donate(within patience: DispatchTimeInterval) {
        let interaction = INInteraction(intent: intent, response: nil)
        interaction.direction = .incoming
        interaction.identifier = mark.message.text
        // What a log-out deletes.
        interaction.groupIdentifier = AccountTag(of: mark.account).text
        let done = DispatchSemaphore(value: 0)
        interaction.donate { _ in done.signal() }
        _ = done.wait(timeout: .now() + patience)
    }

    /// Deletes what the system keeps of messages.
    static func delete(_ messages: Set<MessageMark>) {
        guard !messages.isEmpty else { return }
        INInteraction.delete(with: messages.map(\.text), completion: nil)
    }

    /// Deletes what the system keeps of an account's messages.
    static func delete(of account: AccountTag) { INInteraction.delete(with: account.text, completion: nil) }
}

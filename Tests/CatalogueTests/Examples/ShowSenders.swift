import Foundation
import PushcryptIntents
import PushcryptService
import UserNotifications

func showSenders(in configuration: inout NotificationServiceHandler.Configuration, picturesIn folder: URL) {
    configuration.senders = .intents { sender, content in
        var details = SenderDetails()
        if let conversation = sender.conversation, conversation.allSatisfy(\.isLetter) {
            details.groupImage = try? Data(contentsOf: folder.appendingPathComponent(conversation))
        }
        details.mentionsUser = content.userInfo["mentioned"] as? Bool ?? false
        return details
    }
}

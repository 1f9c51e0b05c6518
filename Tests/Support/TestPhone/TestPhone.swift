package import Foundation
package import ModelKeychain
package import Pushcrypt
package import PushcryptKeyStore
package import PushcryptService
package import UserNotifications

/// A phone with an enrolled app, its provider, and a folder instead of the app group.
package final class TestPhone: Sendable {
    package static let payload =
        #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"sound":"default"},"chat":"c41"}"#

    package static let topic: Topic = {
        guard let topic = try? Topic("com.example.app") else { preconditionFailure("no topic") }
        return topic
    }()

    package let keychain = ModelKeychain()
    package let provider = ProviderKey()
    package let folder: URL

    package init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try keys.change { (state) throws(KeyStoreError) in
            try state.add(topic: Self.topic, at: now)
            try state.pin(ProviderPin(provider.publicKey))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The time, which stands still.
    package let now = Timestamp(milliseconds: 1_767_225_600_000)

    /// The Keychain as the app and its extension see it.
    package var keys: KeychainDeviceStore {
        KeychainDeviceStore(items: keychain.process("keys"), accessGroup: "keys", topic: Self.topic)
    }

    /// The device's keys, those of every account.
    package var deviceKeys: [DeviceState.Key] {
        get throws { try keys.state().accounts.flatMap(\.keys) }
    }

    /// The folder of the extension's files.
    package var directory: URL { folder.appendingPathComponent("extension", isDirectory: true) }

    /// A configuration whose time stands still: a test that needs a deadline gives it another clock.
    package var configuration: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(topic: Self.topic, directory: self.directory) {
            self.keys
        }
        configuration.clock = ManualClock()
        configuration.now = { self.now }
        return configuration
    }

    // MARK: Pushes

    /// The JSON that the provider sends to Apple.
    package func seal(
        _ payload: String = payload, attachments: [AttachmentReference] = [], fullBody: FullBody? = nil,
        from: CommunicationSender? = nil, like options: Sealer.Message = Sealer.Message([]),
        answers: AnswerSecret? = nil
    ) throws -> ContiguousArray<UInt8> {
        guard let device = try deviceKeys.last?.publicKey else { throw CocoaError(.fileNoSuchFile) }
        var message = options
        message.payload = ContiguousArray(payload.utf8)
        (message.attachments, message.fullBody, message.from) = (attachments, fullBody, from)
        return try Sealer(provider: provider, topic: Self.topic, answers: answers)
            .seal(message, to: device, at: now).json
    }

    /// The system's request for the JSON of a push, optionally with other top-level members.
    package static func request(
        _ json: ContiguousArray<UInt8>, identifier: String = UUID().uuidString, members: [String: Any] = [:]
    ) throws -> UNNotificationRequest {
        let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] ?? [:]
        let push = object.merging(members) { _, new in new }
        let aps = push["aps"] as? [String: Any] ?? [:]
        let alert = aps["alert"] as? [String: Any] ?? [:]
        let content = UNMutableNotificationContent()
        content.title = alert["title"] as? String ?? ""
        content.subtitle = alert["subtitle"] as? String ?? ""
        content.body = alert["body"] as? String ?? ""
        content.sound = (aps["sound"] as? String).map {
            $0 == "default" ? .default : UNNotificationSound(named: UNNotificationSoundName($0))
        }
        content.badge = aps["badge"] as? NSNumber
        content.categoryIdentifier = aps["category"] as? String ?? ""
        content.threadIdentifier = aps["thread-id"] as? String ?? ""
        content.targetContentIdentifier = aps["target-content-id"] as? String
        content.userInfo = push
        return UNNotificationRequest(
            identifier: identifier, content: content, trigger: nil)
    }
}

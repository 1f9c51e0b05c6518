import Foundation
import Pushcrypt

struct Notifier: Sendable {
    let sealer: Sealer

    init(secretKey: URL) throws {
        let secret = ContiguousArray(try Data(contentsOf: secretKey))
        sealer = Sealer(provider: try ProviderKey(text: secret.span), topic: try Topic("com.example.app"))
    }

    /// A retry has the same name, so it is shown once.
    func request(_ payload: Data, named name: String, to phone: Phone) throws -> PushRequest {
        var message = Sealer.Message(payload)
        message.name = name
        message.timeToLive = .hours(24)
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        let sealed = try sealer.seal(message, to: phone.key, at: now)
        return try sealer.request(for: sealed, device: phone.id)
    }
}

struct Phone: Sendable {
    let id: String
    let token: String
    let key: DevicePublicKey
}

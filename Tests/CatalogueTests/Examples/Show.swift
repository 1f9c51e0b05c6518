import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver

/// Returns the lines to show for one push, and the reason for them.
func show(
    _ push: ContiguousArray<UInt8>, with keys: any DeviceStore, in folder: String, at now: Timestamp
) -> [String] {
    let receiver = NotificationReceiver(
        store: keys, database: ExtensionDatabase(in: folder), topic: try? Topic("com.example.app"))
    let delivery = receiver.receive(push, requestID: nil, at: now).delivery
    let texts = [delivery.content.title, delivery.content.subtitle, delivery.content.body]
    let lines = texts.map { text in
        switch text {
        case .plain(let text): text
        case .localized(let key, _): key
        }
    }
    return lines.filter { !$0.isEmpty } + [delivery.code]
}

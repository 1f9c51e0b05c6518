internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension DeviceAnswer {
    /// One object for programs.
    var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(device, for: "device")
            if let user { json.string(user, for: "user") }
            json.string(answer.messageID.description, for: "message_id")
            json.integer(answer.sentAt.milliseconds, for: "sent_at")
            json.string(answer.action, for: "action")
            if let text = answer.text { json.string(text, for: "text") }
            json.integer(answer.answeredAt.milliseconds, for: "at")
            if firstOpenedAt != nil { json.bool(true, for: "repeated") }
        }
        return json.bytes
    }

    /// Rows for people.
    func rows(_ console: Console) -> String {
        let rows: [(String, String?)] = [
            ("device", device), ("user", user), ("action", answer.action), ("text", answer.text),
            ("answered", "\(answer.answeredAt), by the phone's clock"), ("message", answer.messageID.description),
            ("sealed", "\(answer.sentAt)"), ("repeated", firstOpenedAt.map { "opened first at \($0)" }),
        ]
        return listed(
            rows.compactMap { name, value in value.map { (name, sanitized(forTerminal: $0)) } }, indent: 0)
    }
}

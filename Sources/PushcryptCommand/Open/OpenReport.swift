internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// The JSON that `open` writes: what the user sees, and the facts of an opened message.
///
/// A text that the phone localises is written as its key and arguments. Fields that are not set are left out, except the
/// texts, `sound` and `passive`.
struct OpenReport {
    private let delivery: Delivery
    private let fingerprint: EnvelopeFingerprint?

    init(_ delivery: Delivery, _ fingerprint: EnvelopeFingerprint?) {
        self.delivery = delivery
        self.fingerprint = fingerprint
    }

    /// One line.
    func text(_ console: Console) -> String { console.shown(json: json) + "\n" }

    var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            if case .fallback(let reason) = delivery.outcome {
                json.string("fallback", for: "outcome")
                json.string(reason.code, for: "code")
            } else {
                json.string(delivery.code, for: "outcome")
            }
            writeTexts(to: &json)
            writeFields(to: &json)
            if let opened = delivery.opened { write(opened, to: &json) }
            if let fingerprint { json.string(fingerprint.description, for: "fingerprint") }
        }
        return json.bytes
    }

    // MARK: The notification

    private func writeTexts(to json: inout JSONWriter) {
        let texts = [
            ("title", delivery.content.title), ("subtitle", delivery.content.subtitle), ("body", delivery.content.body),
        ]
        for (name, text) in texts { json.string(text.description, for: name) }
        json.bool(delivery.content.sound != nil, for: "sound")
        json.bool(delivery.content.interruptionLevel == .passive, for: "passive")
        if let person = delivery.opened?.from { json.string(person.name, for: "from_name") }
        for (name, text) in texts {
            guard case .localized(let key, let arguments) = text else { continue }
            json.string(key, for: name + "_loc_key")
            json.array(for: name + "_loc_args") { json in for argument in arguments { json.string(argument) } }
        }
    }

    private func writeFields(to json: inout JSONWriter) {
        let content = delivery.content
        if let badge = content.badge { json.integer(badge, for: "badge") }
        switch content.sound {
        case .named(let name): json.string(name, for: "sound_name")
        case .critical(let name, let volume):
            if let name { json.string(name, for: "sound_name") }
            json.number(volume, for: "critical_volume")
        case .standard, nil: break
        }
        if content.interruptionLevel != .active {
            json.string(content.interruptionLevel.rawValue, for: "interruption_level")
        }
        if content.relevanceScore != 0 { json.number(content.relevanceScore, for: "relevance") }
        let words = [
            ("thread", content.threadIdentifier), ("category", content.categoryIdentifier),
            ("target", content.targetContentIdentifier ?? ""), ("filter", content.filterCriteria ?? ""),
            ("launch_image", content.launchImageName),
        ]
        for (name, word) in words where !word.isEmpty { json.string(word, for: name) }
        if content.userInfo != NotificationContent.emptyUserInfo { json.raw(content.userInfo, for: "user_info") }
    }

    // MARK: The message

    private func write(_ opened: OpenedNotification, to json: inout JSONWriter) {
        json.object(for: "payload") { json in
            for (name, value) in opened.visibleMembers { json.raw(value, for: name) }
        }
        if opened.isDuplicate { json.bool(true, for: "duplicate") } else { writeFiles(of: opened, to: &json) }
        json.string(opened.messageID.description, for: "message_id")
        json.string(opened.provider.description, for: "provider")
        json.integer(opened.epoch, for: "epoch")
        if let certificate = opened.certificate { json.string(certificate.description, for: "certificate") }
        json.integer(opened.sentAt.milliseconds, for: "sent_at")
        json.integer(opened.expiresAt.milliseconds, for: "expires_at")
    }

    private func writeFiles(of opened: OpenedNotification, to json: inout JSONWriter) {
        if !opened.attachments.isEmpty {
            json.array(for: "attachments") { json in
                for attachment in opened.attachments { attachment.write(to: &json, includingKey: false) }
            }
        }
        opened.fullBody?.write(to: &json, for: "full_body", includingKey: false)
        if !opened.droppedAttachments.isEmpty {
            json.array(for: "dropped_attachments") { json in
                for error in opened.droppedAttachments { json.string(error.code.description) }
            }
        }
    }
}

extension JSONWriter {
    /// Writes a number from 0 to 1.
    fileprivate mutating func number(_ number: Double, for name: String) {
        raw(ContiguousArray("\(number)".utf8), for: name)
    }
}

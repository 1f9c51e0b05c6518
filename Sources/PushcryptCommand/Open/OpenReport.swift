internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// The JSON that `open` writes: what the user sees, and the facts of an opened message.
///
/// A text that the phone localises is written as its key and arguments. Fields that are not set are left out, except the
/// texts, `sound` and `passive`.
struct OpenReport {
    let delivery: Delivery
    let fingerprint: EnvelopeFingerprint?

    var json: ContiguousArray<UInt8> {
        jsonObject { json in
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
            json.strings(arguments, for: name + "_loc_args")
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
            json.strings(opened.droppedAttachments.map(\.code.description), for: "dropped_attachments")
        }
    }
}

extension JSONWriter {
    /// Writes a number from 0 to 1.
    fileprivate mutating func number(_ number: Double, for name: String) {
        raw(ContiguousArray("\(number)".utf8), for: name)
    }
}

// MARK: Batches

/// Opens the lines of a batch; all threads share one receiver, as on a phone.
struct OpenWorker: LineWorker {
    let receiver: CommandReceiver
    let mayPassInTheClear: Bool
    let pushClass: PushClass
    let console: Console
    let form: LineForm

    func answer(_ chunk: LineChunk, _ answers: inout Answers) {
        for line in chunk.lines(form) {
            answers.tally.lines += 1
            var opened: (bucket: Int?, bytes: Int) = (nil, 0)
            let failure = answers.answer(line) { json in
                try line.check()
                let payload = try line.payload(hint: ": the push as a phone receives it").written
                let push = PushToOpen(
                    payload.count > ReceivedPush.maximumLength ? nil : payload, mayPassInTheClear: mayPassInTheClear)
                let (delivery, warnings) = receiver.receive(
                    push, as: pushClass, requestID: try line.name("request_id"), at: console.timestamp)
                for warning in warnings { console.warning(warning) }
                if case .fallback(let reason) = delivery.outcome {
                    throw Failure(.refused, code: reason.code, reason.description)
                }
                json.raw(OpenReport(delivery: delivery, fingerprint: push.fingerprint).json, for: "notification")
                opened = (push.bucket, payload.count)
            }
            guard failure == nil else { continue }
            answers.tally.done += 1
            if let bucket = opened.bucket { answers.tally.bytes[bucket, default: 0] += opened.bytes }
        }
    }
}

extension PushToOpen {
    /// The size of the sealed content, if there is an envelope.
    fileprivate var bucket: Int? {
        guard case .push(let push, _) = content else { return nil }
        return try? push.envelope().innerLength
    }
}

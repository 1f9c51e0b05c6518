internal import Pushcrypt
internal import PushcryptCommandKit

/// A message for one device, as it is written.
struct Sealed {
    let device: Device
    /// The payload sent to Apple.
    let json: ContiguousArray<UInt8>
    /// Nil if it is not sealed, for a device without a key.
    var payload: SealedPayload?
    /// The request that carries it; nil if the payload alone is written.
    var request: PushRequest?
    var relayMessage: RelayMessage?
    /// The file with the body, if that was too long.
    var file: OverflowFile?

    /// The text of a message that is written alone; a request is an object of more.
    func text(_ emission: Emission) -> ContiguousArray<UInt8> {
        emission == .apns ? request?.simulatorFile ?? json : json
    }

    /// Writes the answer: the recipient, the message, and the members for `send`.
    func write(_ form: SealForm, _ line: Line, to json: inout JSONWriter) {
        line.writeRecipient(device.id, to: &json)
        writeMessage(form, to: &json)
        if form.emission == .relay {
            line.writeGrant(device.address, to: &json)
        } else {
            line.writeAddress(form.emission == .request && payload != nil ? device.address : nil, to: &json)
        }
    }

    /// Writes everything but recipient and address.
    func writeMessage(_ form: SealForm, to json: inout JSONWriter) {
        if let relayMessage {
            relayMessage.write(to: &json)
        } else if form.emission == .request, let request {
            request.write(to: &json)
        } else {
            json.raw(text(form.emission), for: "payload")
        }
        guard let payload else { return json.bool(true, for: "unencrypted") }
        if form.hasFacts { payload.writeFacts(beside: form.emission, to: &json) }
        if !payload.shortened.isEmpty {
            json.object(for: "shortened") { json in
                for (text, count) in payload.shortenedTexts { json.integer(count, for: text.rawValue) }
            }
        }
        file?.write(to: &json)
    }

    func count(in tally: inout BatchTally) {
        guard let payload else { return tally.unencrypted += 1 }
        tally.done += 1
        tally.bytes[payload.envelope.innerLength, default: 0] += json.count
    }

    // MARK: Messages

    /// The fingerprint in the phone's journal; nil if the message is not sealed.
    var fingerprint: String? { payload?.envelope.fingerprint.description }

    var event: String { payload == nil ? "unencrypted" : "sealed" }

    /// The fields of the log line: nothing of the content, and the names that `--json` has here and in `inspect`. More may
    /// be added at the end; the others stay.
    var logFields: [MessageFormat.Field] {
        guard let payload else { return [("bytes", .number(json.count))] }
        return [
            ("fingerprint", .word(payload.envelope.fingerprint.description)),
            ("recipient_key_id", .word(payload.envelope.recipientKeyID.description)),
            ("message_id", .word(payload.messageID.description)), ("bytes", .number(json.count)),
            ("bucket", .number(payload.envelope.innerLength)),
        ]
    }

    /// Tells the user which texts were shortened, and where to store the file.
    func report(_ console: Console) {
        let texts = payload?.shortenedTexts.map { "\($0) by \($1)" } ?? []
        if !texts.isEmpty {
            console.warning("shortened to fit, in characters: " + texts.joined(separator: ", "))
        }
        if let file {
            console.hint("store \(quoted(file.path)) at \(file.fullBody.reference.url) before the push is sent")
        }
    }
}

extension SealedPayload {
    fileprivate var shortenedTexts: [(AlertText, Int)] {
        AlertText.allCases.compactMap { text in shortened[text].map { (text, $0) } }
    }

    /// Writes the facts that are known without the keys; a request has the push type already.
    fileprivate func writeFacts(beside emission: Emission, to json: inout JSONWriter) {
        json.string(envelope.fingerprint.description, for: "fingerprint")
        json.string(messageID.description, for: "message_id")
        if emission != .request { json.string(pushType.description, for: "push_type") }
        json.integer(self.json.count, for: "bytes")
        json.integer(maximumReencodedLength, for: "widest_bytes")
        json.integer(pushType.maximumPushLength, for: "limit")
        json.integer(envelope.innerLength, for: "bucket")
    }
}

// MARK: Lines

extension Line {
    /// Writes the recipient: the device, if there may be several, or the line's own members.
    fileprivate func writeRecipient(_ device: String?, to json: inout JSONWriter) {
        if let id = device ?? name { json.string(id, for: "to") } else { write(["to", "to_user"], to: &json) }
        write(["id"], to: &json)
    }

    /// Writes the line's members, without the payload, so that a refused line can be given again.
    func writeRefused(_ device: String?, to json: inout JSONWriter) {
        writeRecipient(device, to: &json)
        write(
            [
                "topic", "sign_with", "ttl", "placeholder", "push_type", "withdraw", "drop", "answerable", "from_name",
                "collapse_id", "priority",
            ] + Message.ownNames, to: &json)
    }

    /// Writes the token and its environment: from the line, or else from the store. An environment belongs to its token.
    fileprivate func writeAddress(_ stored: PushAddress?, to json: inout JSONWriter) {
        if let stored, value("token") == nil {
            let isOwn = value("environment") != nil
            PushAddress(token: stored.token, environment: isOwn ? nil : stored.environment).write(to: &json)
            if isOwn { write(["environment"], to: &json) }
        } else {
            write(["token", "environment"], to: &json)
        }
        write(["apns_id"], to: &json)
    }

    /// Writes the grant for a relay: from the line, or else from the store.
    fileprivate func writeGrant(_ stored: PushAddress, to json: inout JSONWriter) {
        if value("grant") != nil { write(["grant"], to: &json) } else { stored.writeGrant(to: &json) }
    }
}

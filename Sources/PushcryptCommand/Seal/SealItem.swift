internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// A line of a batch, with the parts that its answers repeat.
final class SealItem {
    enum Content {
        case request(SealRequest.Recipient, SealRequest)
        case refused(LineFailure)
    }

    /// The line's number in the input.
    let number: Int
    let content: Content
    /// The file that the item's messages share if their body is too long; nil without `--overflow`.
    let file: SealOverflow.SharedFile?
    /// Whether the device was listed by the store, and is skipped silently if it has been removed since.
    private(set) var skipsIfRemoved = false

    /// The line, if it is an object.
    private var line: BatchLine?
    /// The line, if it is the name of a recipient.
    private var name: String?

    /// Reads a line of a batch.
    init(_ number: Int, _ line: LineChunk.Line, of batch: SealBatch) {
        self.number = number
        file = batch.settings.overflow.map { _ in batch.file ?? SealOverflow.SharedFile() }
        guard case .text(let text) = line else {
            content = .refused(.lineTooLong)
            return
        }
        do throws(LineFailure) {
            switch batch.form {
            case .devices:
                // Always an id, even if it looks like a key: someone who can write the database must not name a key.
                let id = String(decoding: text, as: UTF8.self)
                name = id
                skipsIfRemoved = true
                content = .request(.device(id), batch.settings.request)
            case .recipients where text.first != UInt8(ascii: "{"):
                let name = String(
                    decoding: text.last == UInt8(ascii: "\r") ? text.dropLast() : text[...], as: UTF8.self)
                self.name = name
                do throws(KeyError) {
                    content = .request(try SealRequest.Recipient(named: name), batch.settings.request)
                } catch {
                    throw LineFailure(error)
                }
            case .messages, .recipients:
                let line = try BatchLine(text, names: batch.names, reserved: batch.reserved, batch.warning)
                self.line = line
                try line.refuseReserved()
                let recipient = try SealRequest.Recipient(line)
                var request = batch.settings.request
                try request.read(line, hasPayload: batch.form == .messages)
                content = .request(recipient, request)
            }
        } catch {
            content = .refused(error)
        }
    }

    /// The recipient; nil if the line is refused.
    var recipient: SealRequest.Recipient? {
        if case .request(let recipient, _) = content { recipient } else { nil }
    }

    /// The `id` of the line.
    var callerID: String? { line?["id"]?.asName }

    /// Writes the answer for a device: the recipient, the message, and what goes on to `send`.
    func write(
        _ message: SealedMessage, for device: SealingKeys.Device?, _ emission: Emission, withFacts: Bool,
        to json: inout JSONWriter
    ) {
        writeRecipient(device?.id, to: &json)
        message.write(emission, withFacts: withFacts, to: &json)
        if emission == .relay {
            writeGrant(device?.address, to: &json)
        } else {
            writeAddress(emission == .request ? device?.address : nil, to: &json)
        }
        writePassed(to: &json)
    }

    /// Writes where Apple delivers to: as the line says, or else the store.
    func writeAddress(_ address: PushAddress?, to json: inout JSONWriter) {
        guard let line, let address else {
            address?.write(to: &json)
            line?.write(SealRequest.addressNames, to: &json)
            return
        }
        if line.value("token") != nil {
            line.write(SealRequest.addressNames, to: &json)
        } else if line.value("environment") != nil {
            PushAddress(token: address.token).write(to: &json)
            line.write(["environment"], to: &json)
        } else {
            address.write(to: &json)
        }
    }

    /// Writes the grant for a relay: as the line says, or else the store.
    private func writeGrant(_ address: PushAddress?, to json: inout JSONWriter) {
        if let line, line.value(PushAddress.grantName) != nil {
            line.write([PushAddress.grantName], to: &json)
        } else {
            address?.writeGrant(to: &json)
        }
    }

    /// Writes the recipient: the device, if there may be several, or the line's own members.
    func writeRecipient(_ device: String?, to json: inout JSONWriter) {
        if let id = device ?? name {
            json.string(id, for: "to")
        } else {
            line?.write(["to", "to_user"], to: &json)
        }
        line?.write(["id"], to: &json)
    }

    /// Writes the line's other members, without the payload, so that a refused line can be given again.
    func writeOptions(to json: inout JSONWriter) {
        line?.write(
            [
                "topic", "sign_with", "ttl", "placeholder", "push_type", "withdraw", "drop", "from_name", "collapse_id",
                "priority",
            ] + SealRequest.ownNames, to: &json)
    }

    /// Writes the members that are passed through.
    func writePassed(to json: inout JSONWriter) { line?.writePassed(to: &json) }
}

internal import Pushcrypt

/// One line on its way: what it asks for, and what its answer repeats.
struct SealItem {
    /// The line's number in the input.
    let number: Int
    /// What the line asks for, or why it is refused.
    private(set) var request: Result<SealRequest, LineFailure>

    /// The file that all messages of the line share whose body is too long; nil without `--overflow`.
    let file: SealOverflow.SharedFile?

    /// The line, where it is an object.
    private var line: BatchLine?
    /// The line, where it is a name.
    private var name: String?

    /// Reads a line as the batch has it.
    init(_ number: Int, _ line: LineChunk.Line, of batch: SealBatch, names: Set<String>, reserved: Set<String>) {
        self.number = number
        file = batch.overflow.map { _ in batch.payload == nil ? SealOverflow.SharedFile() : batch.commonFile }
        guard case .text(let text) = line else {
            request = .failure(.lineTooLong)
            return
        }
        do throws(LineFailure) {
            switch batch.form {
            case .devices:
                // Whatever it looks like, it is an id: who can write the database cannot name a key.
                let id = String(decoding: text, as: UTF8.self)
                name = id
                request = .success(SealRequest(to: .device(id), defaults: batch.options, headers: batch.headers))
            case .recipients where text.first != UInt8(ascii: "{"):
                let name = String(
                    decoding: text.last == UInt8(ascii: "\r") ? text.dropLast() : text[...], as: UTF8.self)
                self.name = name
                request = .success(
                    SealRequest(
                        to: try SealRequest.Recipient(named: name), defaults: batch.options, headers: batch.headers))
            case .messages, .recipients:
                let line = try BatchLine(text, names: names, reserved: reserved)
                self.line = line
                try line.refuseReserved()
                request = .success(
                    try SealRequest(
                        line, hasPayload: batch.payload == nil, defaults: batch.options, headers: batch.headers))
            }
        } catch {
            request = .failure(error)
        }
    }

    /// Whom it is for; nil when it is refused.
    var recipient: SealRequest.Recipient? { try? request.get().recipient }

    var failure: LineFailure? { if case .failure(let failure) = request { failure } else { nil } }

    // MARK: The answer

    /// Writes whom it is for: a device of its own, or as the line says it.
    func writeRecipient(_ device: String?, to json: inout JSONWriter) {
        if let id = device ?? name {
            json.string(id, for: "to")
        } else {
            line?.write(["to", "to-user"], to: &json)
        }
        line?.write(["id"], to: &json)
    }

    /// Writes what the line says besides whom it is for and the payload, so that it can be given again.
    func writeWishes(to json: inout JSONWriter) {
        line?.write(["topic", "ttl", "placeholder", "push-type", "collapse-id", "priority"], to: &json)
    }

    /// Writes what is passed through, but for what has a name in `others`, which the answer has already.
    func writePassed(to json: inout JSONWriter, beside others: Set<String> = []) {
        line?.writePassed(to: &json, beside: others)
    }
}

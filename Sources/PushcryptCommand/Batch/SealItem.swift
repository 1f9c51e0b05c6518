internal import Pushcrypt

/// One line on its way: what it asks for, and what its answer repeats.
struct SealItem {
    /// The line's number in the input.
    let number: Int
    /// What the line asks for, or why it is refused.
    private(set) var request: Result<SealRequest, LineFailure>

    /// The line, where it is an object.
    private var line: BatchLine?
    /// The line, where it is a name.
    private var name: String?

    /// Reads a line as the batch has it.
    init(_ number: Int, _ line: LineChunk.Line, of batch: SealBatch, names: Set<String>, reserved: Set<String>) {
        self.number = number
        guard case .text(let text) = line else {
            request = .failure(.lineTooLong)
            return
        }
        if batch.form == .devices || batch.form == .recipients && text.first != UInt8(ascii: "{") {
            let name = String(decoding: text.last == UInt8(ascii: "\r") ? text.dropLast() : text[...], as: UTF8.self)
            self.name = name
            request = Result { () throws(LineFailure) in
                try SealRequest(to: name, defaults: batch.options, headers: batch.headers)
            }
            return
        }
        do throws(LineFailure) {
            let line = try BatchLine(text, names: names)
            self.line = line
            try line.refuse(reserved: reserved)
            request = .success(
                try SealRequest(
                    line, hasPayload: batch.payload == nil, defaults: batch.options, headers: batch.headers))
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

    /// Writes what is passed through.
    func writePassed(to json: inout JSONWriter) { line?.writePassed(to: &json) }
}

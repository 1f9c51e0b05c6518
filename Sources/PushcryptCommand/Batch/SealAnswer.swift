internal import Pushcrypt

/// The answers to the lines of a chunk, as they are written.
struct SealAnswer {
    private let batch: SealBatch
    /// All of it, when every line is answered.
    private(set) var answer = BatchAnswer()

    init(_ batch: SealBatch, lines: Int) {
        self.batch = batch
        answer.tally.lines = lines
    }

    /// Answers a line with what was sealed for a device.
    mutating func add(_ item: SealItem, _ device: SealingKeys.Device, _ topic: Topic, _ sealed: SealedPayload) {
        answer.append { json in
            if let id = device.id { json.string(id, for: "to") } else { item.writeRecipient(to: &json) }
            item.line?.write(["id"], to: &json)
            json.raw(
                batch.emission == .apns ? sealed.simulatorJSON(for: topic) : sealed.json, for: "payload")
            if batch.hasFacts { sealed.writeFacts(to: &json) }
            item.line?.writePassed(to: &json)
        }
        answer.tally.done += 1
        answer.tally.bytes[sealed.envelope.innerLength, default: 0] += sealed.json.count
        if let format = batch.log { answer.log.append(contentsOf: format.line("sealed", sealed.logFields)) }
    }

    /// Answers a line for a device without a key.
    mutating func pass(_ item: SealItem, _ request: SealRequest) {
        guard batch.passesUnencrypted else {
            return refuse(
                item,
                LineFailure(
                    .noKey,
                    "the device has no key to seal to: have it register, or let its pushes pass with --unencrypted pass"
                ))
        }
        answer.append { json in
            item.writeRecipient(to: &json)
            item.line?.write(["id"], to: &json)
            json.raw(request.payload ?? batch.payload ?? [], for: "payload")
            json.bool(true, for: "unencrypted")
            item.line?.writePassed(to: &json)
        }
        answer.tally.unencrypted += 1
    }

    /// Answers a line with the reason why nothing was sealed, or for one device of several.
    mutating func refuse(_ item: SealItem, for device: String? = nil, _ failure: LineFailure) {
        answer.append { json in
            failure.write(to: &json)
            json.integer(item.number, for: "line")
            if let device { json.string(device, for: "to") } else { item.writeRecipient(to: &json) }
            item.line?.write(["id"], to: &json)
            item.line?.writePassed(to: &json)
        }
        answer.tally.refused[failure.code, default: 0] += 1
        if let format = batch.log {
            let fields: [(String, LogFormat.Value)] = [("line", .number(item.number)), ("code", .word(failure.code))]
            answer.log.append(contentsOf: format.line("refused", fields))
        }
    }
}

extension SealItem {
    /// Whom the line is for, as it says so.
    fileprivate func writeRecipient(to json: inout JSONWriter) {
        if let name { json.string(name, for: "to") }
        line?.write(["to", "to-user"], to: &json)
    }
}

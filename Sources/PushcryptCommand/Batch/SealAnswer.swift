internal import Pushcrypt

/// The answers to the lines of a chunk, as they are written.
struct SealAnswer {
    /// All of it, when every line is answered.
    private(set) var answer = BatchAnswer()
    private let batch: SealBatch

    init(_ batch: SealBatch, lines: Int) {
        self.batch = batch
        answer.tally.lines = lines
    }

    /// Answers a line with what was sealed, for one device of several where that is given.
    mutating func add(_ item: SealItem, for device: String?, _ topic: Topic, _ sealed: SealedPayload) {
        answer.append { json in
            item.writeRecipient(device, to: &json)
            json.raw(batch.emission == .apns ? sealed.simulatorJSON(for: topic) : sealed.json, for: "payload")
            if batch.hasFacts { sealed.writeFacts(to: &json) }
            item.writePassed(to: &json)
        }
        answer.tally.done += 1
        answer.tally.bytes[sealed.envelope.innerLength, default: 0] += sealed.json.count
        log("sealed") { sealed.logFields }
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
        let payload: ContiguousArray<UInt8>
        do throws(SealError) {
            payload = try PayloadCheck.sendable(
                request.payload ?? batch.payload ?? [], for: request.options.pushType,
                isSentExactly: request.options.isSentExactly)
        } catch {
            return refuse(item, LineFailure(error))
        }
        answer.append { json in
            item.writeRecipient(nil, to: &json)
            json.raw(payload, for: "payload")
            json.bool(true, for: "unencrypted")
            item.writePassed(to: &json)
        }
        answer.tally.unencrypted += 1
        log("unencrypted") { [("line", .number(item.number)), ("bytes", .number(payload.count))] }
    }

    /// Answers a line with the reason why nothing was sealed, for one device of several where that is given.
    mutating func refuse(_ item: SealItem, for device: String? = nil, _ failure: LineFailure) {
        answer.append { json in
            failure.write(to: &json)
            json.integer(item.number, for: "line")
            item.writeRecipient(device, to: &json)
            item.writePassed(to: &json)
        }
        answer.tally.refused[failure.code, default: 0] += 1
        log("refused") { [("line", .number(item.number)), ("code", .word(failure.code))] }
    }

    private mutating func log(_ event: String, _ fields: () -> [(name: String, value: LogFormat.Value)]) {
        if let format = batch.log { answer.log.append(contentsOf: format.line(event, fields())) }
    }
}

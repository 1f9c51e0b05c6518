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

    /// Answers a line with what was sealed, for one device of several where that is given; `request` unless the payload
    /// alone is wanted.
    mutating func add(
        _ item: SealItem, for device: String?, _ request: PushRequest?, _ sealed: SealedPayload,
        _ overflow: SealOverflow.File?
    ) {
        answer.append { [batch] json in
            item.writeRecipient(device, to: &json)
            batch.emission.write(request, sealed.json, to: &json)
            if batch.hasFacts { sealed.writeFacts(to: &json, beside: batch.emission) }
            sealed.writeShortened(to: &json)
            overflow?.write(to: &json)
            item.writePassed(to: &json)
        }
        answer.tally.done += 1
        answer.tally.bytes[sealed.envelope.innerLength, default: 0] += sealed.json.count
        log("sealed") { sealed.logFields }
    }

    /// Answers a line for a device without a key, with the payload as it is.
    mutating func pass(_ item: SealItem, _ request: PushRequest?, _ payload: ContiguousArray<UInt8>) {
        answer.append { [batch] json in
            item.writeRecipient(nil, to: &json)
            batch.emission.write(request, payload, to: &json)
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

internal import Pushcrypt
internal import PushcryptCommandKit

/// The answers to the lines of a chunk, as they are written.
struct SealAnswer {
    /// How many bytes are gathered before they are written. A line for a user with many devices is repeated for each, with all
    /// that it passes through.
    private static let partLength = 2 << 20

    /// What was not written before.
    private(set) var rest = BatchAnswer()
    /// Whether anybody takes it.
    private(set) var isWanted = true

    private let batch: SealBatch
    private let write: SealWorker.Part

    init(_ batch: SealBatch, lines: Int, inParts write: @escaping SealWorker.Part) {
        self.batch = batch
        self.write = write
        rest.tally.lines = lines
    }

    private mutating func append(_ members: (inout JSONWriter) -> Void) {
        if rest.output.count >= Self.partLength {
            isWanted = isWanted && write(rest)
            rest = BatchAnswer()
        }
        rest.append(members)
    }

    /// Answers a line with what was sealed, for one device of several where that is given; `request` unless the payload
    /// alone is wanted.
    mutating func add(
        _ item: SealItem, for device: String?, _ request: PushRequest?, _ sealed: SealedPayload,
        _ overflow: SealOverflow.File?
    ) {
        append { [batch] json in
            item.writeRecipient(device, to: &json)
            batch.emission.write(request, sealed.json, to: &json)
            if batch.hasFacts { sealed.writeFacts(to: &json, beside: batch.emission) }
            sealed.writeShortened(to: &json)
            overflow?.write(to: &json)
            item.writePassed(to: &json)
        }
        rest.tally.done += 1
        rest.tally.bytes[sealed.envelope.innerLength, default: 0] += sealed.json.count
        log("sealed") { sealed.logFields }
    }

    /// Answers a line for a device without a key, with the payload as it is.
    mutating func pass(_ item: SealItem, _ request: PushRequest?, _ payload: ContiguousArray<UInt8>) {
        append { [batch] json in
            item.writeRecipient(nil, to: &json)
            batch.emission.write(request, payload, to: &json)
            json.bool(true, for: "unencrypted")
            item.writePassed(to: &json)
        }
        rest.tally.unencrypted += 1
        log("unencrypted") { [("line", .number(item.number)), ("bytes", .number(payload.count))] }
    }

    /// Answers a line with the reason why nothing was sealed, for one device of several where that is given.
    mutating func refuse(_ item: SealItem, for device: String? = nil, _ failure: LineFailure) {
        append { json in
            failure.write(line: item.number, to: &json)
            item.writeRecipient(device, to: &json)
            item.writeWishes(to: &json)
            item.writePassed(to: &json, beside: LineFailure.members)
        }
        rest.tally.refused[failure.code, default: 0] += 1
        log("refused") { [("line", .number(item.number)), ("code", .word(failure.code))] }
    }

    private mutating func log(_ event: String, _ fields: () -> [MessageFormat.Field]) {
        if let format = batch.log { rest.log.append(contentsOf: format.messages.line(event, fields())) }
    }
}

internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// Opens the lines of a batch; all threads share one receiver, as on a phone.
struct OpenWorker: LineWorker {
    let receiver: CommandReceiver
    let mayPassInTheClear: Bool
    let pushClass: PushClass
    let console: Console
    /// Tells of what looks like a mistake in a line; nil if nobody is told.
    let warning: OnceWarning?

    private static let names: Set = ["payload", "request_id"]
    private static let reserved: Set = ["notification"]

    func answer(_ chunk: LineChunk, inParts write: @escaping Part) -> BatchAnswer {
        var answer = BatchAnswer()
        chunk.forEachLine(maximum: BatchLine.maximumLength) { number, text in
            answer.tally.lines += 1
            var line: BatchLine?
            do throws(LineFailure) {
                guard case .text(let text) = text else { throw .lineTooLong }
                let read = try BatchLine(text, names: Self.names, reserved: Self.reserved, warning)
                line = read
                try read.refuseReserved()
                try open(read, into: &answer)
            } catch {
                answer.refuse(number, line, error)
            }
        }
        return answer
    }

    private func open(_ line: BatchLine, into answer: inout BatchAnswer) throws(LineFailure) {
        let payload = try line.payload()
        guard payload.kind == .object else {
            throw LineFailure(.malformedLine, "payload must be a JSON object: the push as a phone receives it")
        }
        let push = PushToOpen(
            payload.written.count > ReceivedPush.maximumLength ? nil : payload.written,
            mayPassInTheClear: mayPassInTheClear)
        let (delivery, warnings) = receiver.receive(
            push, as: pushClass, requestID: try line.name("request_id"), at: console.timestamp)
        for warning in warnings { console.warning(warning) }
        if case .fallback(let reason) = delivery.outcome { throw LineFailure(reason) }
        answer.append { json in
            json.raw(OpenReport(delivery, push.fingerprint).json, for: "notification")
            line.writePassed(to: &json)
        }
        answer.tally.done += 1
        if let bucket = push.bucket { answer.tally.bytes[bucket, default: 0] += payload.written.count }
    }
}

extension BatchAnswer {
    fileprivate mutating func refuse(_ number: Int, _ line: BatchLine?, _ failure: LineFailure) {
        append { json in
            failure.write(line: number, to: &json)
            line?.writePassed(to: &json)
        }
        tally.refused[failure.code, default: 0] += 1
    }
}

extension LineFailure {
    fileprivate init(_ reason: Delivery.Reason) { self.init(code: reason.code, message: reason.description) }
}

extension PushToOpen {
    /// The size of the sealed content, if there is an envelope.
    fileprivate var bucket: Int? {
        guard case .push(let push, _) = content else { return nil }
        return try? push.envelope().innerLength
    }
}

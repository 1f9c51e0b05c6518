internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

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
                json.raw(OpenReport(delivery, push.fingerprint).json, for: "notification")
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

import Pushcrypt

/// The next step for a message from a queue.
enum NextStep {
    /// Send it to APNs.
    case send(PushRequest)
    /// Drop it, and report the error to its author.
    case drop(SealError)
}

/// A registered device.
struct Device: Sendable {
    let id: String
    let key: DevicePublicKey
}

struct Worker: Sendable {
    let sealer: Sealer

    /// Seals a message; `row` is its id in the queue, which stays the same when the queue delivers it again.
    func step(
        for payload: some Sequence<UInt8>, row: String, to device: Device, at now: Timestamp
    ) -> NextStep {
        var message = Sealer.Message(payload)
        message.name = row
        message.timeToLive = .hours(1)
        message.fitting = [.body]
        do throws(SealError) {
            let sealed = try sealer.seal(message, to: device.key, at: now)
            return .send(try sealer.request(for: sealed, device: device.id))
        } catch {
            return .drop(error)
        }
    }
}

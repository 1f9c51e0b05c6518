import Foundation
import Pushcrypt

struct Delivery: Sendable {
    let receipt: Int
    let phone: Phone
    let payload: Data
}

func work(
    _ queue: AsyncStream<Delivery>, _ sealer: Sealer, send: (PushRequest, Phone) async throws -> Void,
    failed: (Delivery, SealError) async -> Void, acknowledge: (Int) async -> Void
) async throws {
    let batch = BatchSealer(sealer, queue) { delivery in
        var options = Sealer.Options()
        options.messageName = "\(delivery.receipt)"
        return Sealer.Message(
            delivery.payload, to: delivery.phone.key,
            at: Timestamp(secondsSince1970: Date().timeIntervalSince1970), options: options)
    }
    for try await sealed in batch {
        let delivery = sealed.request
        switch sealed.result {
        case .success(let payload):
            try await send(sealer.request(for: payload, device: delivery.phone.id), delivery.phone)
        case .failure(let error): await failed(delivery, error)
        }
        await acknowledge(delivery.receipt)
    }
}

import Foundation
import Pushcrypt

struct Delivery: Sendable {
    let receipt: Int
    let phone: Phone
    let payload: Data
}

/// Works on up to `width` deliveries at the same time, and acknowledges each when it is done.
func work(
    _ queue: AsyncStream<Delivery>, _ sealer: Sealer, width: Int = 32,
    send: @escaping @Sendable (PushRequest, Phone) async throws -> Void,
    failed: @escaping @Sendable (Delivery, SealError) async -> Void,
    acknowledge: @escaping @Sendable (Int) async -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        var running = 0
        for await delivery in queue {
            if running == width { try await group.next() } else { running += 1 }
            group.addTask {
                let request: PushRequest
                do throws(SealError) {
                    request = try sealer.request(for: delivery)
                } catch {
                    await failed(delivery, error)
                    return await acknowledge(delivery.receipt)
                }
                try await send(request, delivery.phone)
                await acknowledge(delivery.receipt)
            }
        }
        try await group.waitForAll()
    }
}

extension Sealer {
    fileprivate func request(for delivery: Delivery) throws(SealError) -> PushRequest {
        var message = Message(delivery.payload)
        message.name = "\(delivery.receipt)"
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        let sealed = try seal(message, to: delivery.phone.key, at: now)
        return try request(for: sealed, device: delivery.phone.id)
    }
}

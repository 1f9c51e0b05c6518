import Pushcrypt

/// A message from a queue.
struct Order: Sendable {
    let receipt: Int
    let token: String
    let device: DevicePublicKey
    let payload: ContiguousArray<UInt8>
}

/// Seals the orders, sends them, and returns the receipts of refused ones.
func work(
    through orders: AsyncStream<Order>, by sealer: Sealer, at now: Timestamp,
    send: (PushRequest, String) async throws -> Void
) async throws -> [Int: SealError.Code] {
    var refused: [Int: SealError.Code] = [:]
    let batch = BatchSealer(sealer, orders, concurrency: 2) { order in
        var options = Sealer.Options()
        options.messageName = "\(order.receipt)"
        return Sealer.Message(order.payload, to: order.device, at: now, options: options)
    }
    for try await sealed in batch {
        switch sealed.result {
        case .success(let payload): try await send(sealer.request(for: payload), sealed.request.token)
        case .failure(let error): refused[sealed.request.receipt] = error.code
        }
    }
    return refused
}

import Foundation
import Pushcrypt

extension Notifier {
    /// `store` puts a file where the phones find it, at `url`.
    func request(
        long payload: Data, to phone: Phone, url: String, store: (ContiguousArray<UInt8>) throws -> Void
    ) throws -> PushRequest {
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        do throws(SealError) {
            let sealed = try sealer.seal(Sealer.Message(payload), to: phone.key, at: now)
            return try sealer.request(for: sealed, device: phone.id)
        } catch {
            guard [.payloadTooLarge, .pushTooLarge].contains(error.code) else { throw error }
        }
        let body = try FullBody(of: payload, url: url, by: sealer)
        if let body { try store(body.sealedFile) }
        var message = Sealer.Message(payload)
        message.fullBody = body
        message.fitting = [.body]
        let sealed = try sealer.seal(message, to: phone.key, at: now)
        return try sealer.request(for: sealed, device: phone.id)
    }
}

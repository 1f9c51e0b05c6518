internal import Pushcrypt
internal import PushcryptKeyStore

/// Why a push ends in the fallback.
struct Failure: Error {
    let reason: Delivery.Reason

    init(_ reason: Delivery.Reason) { self.reason = reason }

    init(_ error: OpenError) { reason = Delivery.Reason(error) }

    init(_ error: KeyStoreError) { reason = Delivery.Reason(error) }

    static func translate<R>(_ body: () throws(OpenError) -> R) throws(Failure) -> R {
        do throws(OpenError) {
            return try body()
        } catch {
            throw Failure(error)
        }
    }
}

import Foundation
import Pushcrypt
import PushcryptKeyStore

struct Registrar: Sendable {
    let store: SQLiteKeyStore

    /// Returns the answer to what a phone posts, with status 200; nil is status 404. `user` is the session's; nil without one.
    func accept(_ body: Data, from user: String?, at now: Timestamp) throws -> Data? {
        guard let answer = try store.accept(ContiguousArray(body), session: user.map(DeviceOwner.user), at: now) else {
            return nil
        }
        if case .refused(let reason, _) = answer.event { print("a phone is refused: \(reason)") }
        if !answer.foreign.isEmpty { print("a phone trusts a key that is not ours") }
        return Data(answer.body)
    }
}

import Foundation
import Pushcrypt
import PushcryptKeyStore

struct Registrar: Sendable {
    struct NoDevice: Error {}

    let store: SQLiteKeyStore

    /// Returns the reply to a record. `user` is the session's.
    func register(_ body: Data, from user: String, at now: Timestamp) throws -> Data {
        let record = try DeviceRegistration(json: ContiguousArray(body))
        guard let device = record.deviceID else { throw NoDevice() }
        var verdict = RegistrationReply.Verdict.acknowledged(record.publicKey)
        do throws(KeyStoreError) {
            try store.addDevice(record, id: device, owner: .user(user), at: now)
        } catch {
            guard let refusal = error.refusal else { throw error }
            verdict = .refused(refusal)
        }
        let foreign = try store.foreignMemberTest()(record.pinnedProvider)
        if !foreign.isEmpty { print("\(device) trusts a key that is not ours") }
        let provider = try store.providerKey()
        let reply = RegistrationReply(
            verdict, provider: provider.publicKey, certificate: provider.certificate, foreign: foreign)
        return Data(reply.json)
    }

    /// Forgets a device of the user; another user's stays.
    func forget(_ device: String, of user: String, at now: Timestamp) throws {
        for case .success(let found) in try store.devices(ofUser: user) where found.id == device {
            try store.removeDevice(id: device, reason: "withdrawn", at: now)
        }
    }
}

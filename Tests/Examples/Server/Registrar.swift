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
        let reply: RegistrationReply
        do throws(KeyStoreError) {
            try store.addDevice(record, id: device, owner: .user(user), at: now)
            let foreign = try store.foreignMemberTest()(record.pinnedProvider, record.recoveryKeys)
            if !foreign.isEmpty { print("\(device) trusts a key that is not ours: \(foreign)") }
            reply = RegistrationReply(
                .acknowledged(record.publicKey), sender: try store.providerKey(named: nil).record.publicKey,
                recoveryKeys: try store.announcedRecoveryKeys(), foreign: foreign)
        } catch {
            guard let refusal = error.refusal else { throw error }
            reply = RegistrationReply(.refused(refusal))
        }
        return Data(reply.json)
    }

    /// Forgets a device of the user; another user's stays.
    func forget(_ device: String, of user: String, at now: Timestamp) throws {
        for case .success(let found) in try store.devices(ofUser: user) where found.id == device {
            try store.removeDevice(id: device, reason: "withdrawn", at: now)
        }
    }
}

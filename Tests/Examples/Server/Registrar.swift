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

    /// Ends a phone's device. No session is needed, and the answer is the same if the device is not there.
    func withdraw(_ body: Data, at now: Timestamp) throws {
        try store.withdrawDevice(DeviceWithdrawal(json: ContiguousArray(body)), at: now)
    }
}

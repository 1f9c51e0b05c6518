import Foundation
import Testing

@testable import Pushcrypt
@testable import PushcryptKeyStore

/// The rotation of a device's key, through every order in which its steps can happen.
@Suite struct DeviceRotationTests {
    /// 12 in full: `PUSHCRYPT_WALK=full`.
    private static let isFull = ProcessInfo.processInfo.environment["PUSHCRYPT_WALK"] == "full"
    private static let depth = isFull ? 12 : 10

    /// Before every step the phone's process is killed. At every point: what the provider seals to opens, and so does all
    /// that was ever sealed and has not expired; records of earlier keys are refused, and repeated ones and repeated
    /// replies change nothing; after the grace nothing is left of a key.
    @Test func nothingIsLostWhateverHappensInWhateverOrder() throws {
        var count = (runs: 0, steps: 0)
        try walk(from: DeviceRotationPoint(), steps: Self.depth, &count)
        // Counted by another program: a model that forgot steps would have fewer.
        #expect(count.runs == (Self.isFull ? 1234 : 304))
        print("runs: device key rotation: \(count.runs) runs of up to \(Self.depth) steps, \(count.steps) steps")
    }

    private func walk(from point: DeviceRotationPoint, steps: Int, _ count: inout (runs: Int, steps: Int)) throws {
        let next = steps > 0 ? point.model.steps : []
        if next.isEmpty { count.runs += 1 }
        for step in next {
            count.steps += 1
            try walk(from: point.after(step), steps: steps - 1, &count)
        }
    }

    // MARK: Purge

    /// Another process that reads, or a death in the middle, leaves the deleted secret in the log; the next purge removes
    /// it, although no key is left to delete.
    @Test func aPurgeThatWasInterruptedIsFinishedByTheNext() throws {
        let now = Timestamp.start.plus(days: 40)
        let phone = try Phone(options: .impatient)
        let sealed = try sealedSecrets(in: phone)
        let old = try phone.newestKey()
        _ = try phone.store.rotateDeviceKey(at: .start)
        _ = try phone.store.confirmDeviceKey(at: .start)

        let reader = try SQLiteConnection(
            path: phone.folder.path(of: "keystore.db"), busyTimeout: 1000)
        try reader.execute("BEGIN")
        _ = try reader.rows("SELECT count(*) FROM device_keys")
        #expect(throws: KeyStoreError(.storeBusy, "")) { try phone.store.purgeRetiredDeviceKeys(at: now) }
        #expect(try !phone.store.deviceKeys().contains { $0.publicKey == old.publicKey })
        let crashed = try phone.folder.copy()
        let left = try StoreFiles(in: crashed)
        #expect(sealed.allSatisfy(left.contain))

        let again = try Phone(reopening: crashed, at: now)
        #expect(try again.store.purgeRetiredDeviceKeys(at: now) == [])
        let files = try StoreFiles(in: crashed)
        #expect(!sealed.contains(where: files.contain))
        try reader.execute("COMMIT")
        #expect(try phone.store.purgeRetiredDeviceKeys(at: now) == [])
    }

    /// At log-out nothing waits for a grace.
    @Test func aLogOutLeavesNothingOfAnyKey() throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        let messages = [try provider.push(at: .start)]
        var sealed = try sealedSecrets(in: phone)
        _ = try phone.store.rotateDeviceKey(at: .start)
        sealed.formUnion(try sealedSecrets(in: phone))
        _ = try phone.store.confirmDeviceKey(at: .start)
        sealed.formUnion(try sealedSecrets(in: phone))
        _ = try phone.store.rotateDeviceKey(at: .start)
        sealed.formUnion(try sealedSecrets(in: phone))
        #expect(sealed.count == 5)

        #expect(try phone.store.purgeDeviceKeys(named: nil).count == 3)
        let files = try StoreFiles(in: phone.folder)
        #expect(!sealed.contains(where: files.contain))
        for message in messages {
            #expect(phone.receive(message, at: .start).code == "unknown-recipient-key")
        }
    }

    private func sealedSecrets(in phone: Phone) throws -> Set<Bytes> {
        let rows = try phone.store.withConnection { (connection) throws(KeyStoreError) in
            try connection.rows("SELECT sealed FROM device_keys")
        }
        return Set(
            rows.compactMap { row in
                guard case .blob(let bytes)? = row.first else { return nil }
                return bytes
            })
    }
}

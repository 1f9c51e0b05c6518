import Foundation
import Testing

@testable import Pushcrypt
@testable import PushcryptKeyStore
@testable import Simulated

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
        let sealed = try phone.store.sealedStates()
        let old = try phone.newestKey()
        try phone.store.edit { state in
            try state.rotate(at: .start)
            try state.confirm(at: .start)
        }
        let reader = try SQLiteConnection(
            path: phone.folder.path(of: "keystore.db"), busyTimeout: 1000)
        try reader.execute("BEGIN")
        _ = try reader.rows("SELECT count(*) FROM states")
        try phone.store.edit { $0.purge(endedBefore: now) }
        #expect(try !phone.store.keys().contains(old))
        let crashed = try phone.folder.copy()
        let left = try StoreFiles(in: crashed)
        #expect(sealed.allSatisfy(left.contain))

        let again = try Phone(reopening: crashed, at: now)
        try again.store.eraseDeleted()
        let files = try StoreFiles(in: crashed)
        #expect(!sealed.contains(where: files.contain))
        try reader.execute("COMMIT")
        try phone.store.eraseDeleted()
    }

    /// At log-out nothing waits for a grace.
    @Test func aLogOutLeavesNothingOfAnyKey() throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        let messages = [try provider.push(at: .start)]
        var sealed = try phone.store.sealedStates()
        for change in ["rotate", "confirm", "rotate"] {
            try phone.store.edit { state in
                _ = try change == "rotate" ? state.rotate(at: .start) : state.confirm(at: .start)
            }
            sealed.formUnion(try phone.store.sealedStates())
        }
        #expect(sealed.count == 4)

        #expect(try phone.store.edit { $0.removeAccount(Phone.account) }.count == 3)
        let files = try StoreFiles(in: phone.folder)
        #expect(!sealed.contains(where: files.contain))
        for message in messages {
            #expect(phone.receive(message, at: .start).code == "unknown-recipient-key")
        }
    }
}

extension SQLiteKeyStore {
    /// The form in which the device's state lies in the file, with all of its secrets.
    func sealedStates() throws -> Set<Bytes> {
        let rows = try withConnection { (connection) throws(KeyStoreError) in
            try connection.rows("SELECT sealed FROM states WHERE name = 'device'")
        }
        return Set(
            rows.compactMap { row in
                guard case .blob(let bytes)? = row.first else { return nil }
                return bytes
            })
    }
}

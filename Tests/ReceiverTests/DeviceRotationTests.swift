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

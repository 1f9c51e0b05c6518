import Foundation
import Pushcrypt
import Testing

@testable import PushcryptReceiver

/// `Tests/Data/Vectors/signed.json`: the sequence of a phone's next record, and after a stale one. (`Docs/FormatRecords.md`, D-45, D-46)
@Suite struct EnrolmentSequenceTests {
    private static func vectors(_ section: String) throws -> [[String: UInt64]] {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Data/Vectors/signed.json")
        let root = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let vectors = try #require(root?[section] as? [[String: Any]])
        return vectors.map { $0.compactMapValues { ($0 as? NSNumber)?.uint64Value } }
    }

    /// A state whose account has sent a record of this sequence.
    private func state(after last: UInt64) throws -> EnrolmentState {
        var state = EnrolmentState()
        _ = state.deviceAccount(named: "alice")
        while let sequence = state.account("alice")?.sequence, sequence < last {
            state.raiseSequence(to: last, of: "alice")
        }
        return state
    }

    @Test func theNextSequenceIsAboveTheLastOne() throws {
        let vectors = try Self.vectors("sequences")
        for vector in vectors {
            var state = try state(after: try #require(vector["last"]))
            let clock = Timestamp(milliseconds: try #require(vector["clock"]))
            #expect(state.nextSequence(of: "alice", at: clock) == vector["next"], "\(vector)")
            #expect(state.account("alice")?.sequence == vector["next"], "\(vector)")
        }
        print("vectors: sequences: \(vectors.count)")
    }

    @Test func aProviderCannotUseUpTheSequences() throws {
        let vectors = try Self.vectors("stale")
        for vector in vectors {
            var state = try state(after: try #require(vector["last"]))
            state.raiseSequence(to: try #require(vector["told"]), of: "alice")
            #expect(state.account("alice")?.sequence == vector["after"], "\(vector)")
        }
        print("vectors: stale sequences: \(vectors.count)")
    }
}

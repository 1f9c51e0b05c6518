import Foundation
import Pushcrypt
import Testing

@testable import PushcryptReceiver

/// `Tests/Data/Vectors/signed.json`: a phone's next sequence, and what it takes over after `stale-record`. [D-50] [D-51]
@Suite struct SequenceVectorTests {
    private struct File: Decodable {
        let sequences: [Next]
        let stale: [Told]
    }

    private struct Next: Decodable {
        let name: String
        let last, clock, next: UInt64
    }

    private struct Told: Decodable {
        let name: String
        let last, told, after: UInt64
    }

    private let file: File

    init() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: tests.appendingPathComponent("Data/Vectors/signed.json"))
        file = try JSONDecoder().decode(File.self, from: data)
        try #require(!file.sequences.isEmpty && !file.stale.isEmpty)
    }

    private func state(_ last: UInt64) -> EnrolmentState {
        var state = EnrolmentState()
        state.accounts = [EnrolmentState.Account(name: "a", device: "d", sequence: last)]
        return state
    }

    @Test func theNextSequence() {
        for vector in file.sequences {
            var state = state(vector.last)
            let next = state.nextSequence(of: "a", at: Timestamp(milliseconds: vector.clock))
            #expect(next == vector.next && state.account("a")?.sequence == vector.next, "\(vector.name)")
        }
    }

    @Test func theSequenceThatWasTold() {
        for vector in file.stale {
            var state = state(vector.last)
            state.raiseSequence(to: vector.told, of: "a")
            #expect(state.account("a")?.sequence == vector.after, "\(vector.name)")
        }
    }
}

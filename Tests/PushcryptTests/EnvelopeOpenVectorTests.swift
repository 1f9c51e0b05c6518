import Testing

@testable import Pushcrypt

/// Opening, as `Tests/Vectors/envelopes.json` has it: whether it opens, to which bytes, and what trust becomes.
@Suite struct EnvelopeOpenVectorTests {
    typealias Vectors = EnvelopeVectors

    @Test(.vectors("envelopes.json, open"), arguments: try Vectors.file().open)
    func anEnvelopeOpensOrNot(_ vector: Vectors.Open) throws {
        try check(vector.expected, vector.receiver, at: vector.now) { opener, now in
            try opener.open(Envelope(text: vector.envelope), at: now)
        }
    }

    @Test(.vectors("envelopes.json, open what was sealed"), arguments: try Vectors.file().seal)
    func whatWasSealedOpens(_ vector: Vectors.Seal) throws {
        try anEnvelopeOpensOrNot(vector.open)
    }

    @Test(.vectors("envelopes.json, received"), arguments: try Vectors.file().received)
    func aPushOpensOrNot(_ vector: Vectors.Received) throws {
        try check(vector.expected, vector.receiver, at: vector.now) { opener, now in
            try opener.open(vector.received.utf8, at: now)
        }
    }

    private func check(
        _ expected: Vectors.Expected, _ receiver: Vectors.Receiver, at milliseconds: UInt64,
        open: (Opener, Timestamp) throws -> OpenedNotification
    ) throws {
        let now = Timestamp(milliseconds: milliseconds)
        let opener = try receiver.opener
        do {
            let opened = try open(opener, now)
            #expect(expected.result == .opened)
            #expect(String(decoding: opened.payload, as: UTF8.self) == expected.payload)

            // What the receiver trusts once it has folded in the statements that the message brought.
            var trust = try receiver.trust.trust
            for statement in opened.statements {
                let change = try trust.accept(statement, at: now)
                #expect(change != .unchanged, "a statement without effect was handed out")
            }
            try #require(expected.trustAfter).expect(trust)
        } catch let error as OpenError {
            #expect(error.code.description == expected.result.rawValue, "\(error)")
            #expect(expected.payload == nil && expected.trustAfter == nil)
        }
    }
}

import Testing

@testable import Pushcrypt

/// A provider changes its signing key while phones are off; what they open, and whom they believe afterwards.
/// (`Docs/Format.md`, O-5.2, O-5.3, O-9.1)
@Suite struct OpenerRotationTests {
    private let now = FormatFixture.now
    /// The provider's keys, one after the other.
    private let keys: [ProviderKey]
    /// The statements between them: `chain[i]` replaces key i by key i + 1.
    private let chain: [RotationStatement]

    init() throws {
        let keys = try (101...105).map { try FormatFixture.sender($0) }
        chain = try zip(keys, keys.dropFirst()).map { old, new in
            try RotationStatement(from: old, to: new, at: FormatFixture.now)
        }
        self.keys = keys
    }

    private func push(
        from sender: ProviderKey, announcing statements: [RotationStatement] = [], at time: Timestamp? = nil,
        timeToLive: UInt64 = 2_592_000
    ) throws -> Bytes {
        var options = Sealer.Options()
        options.announcing = statements
        options.timeToLive = .seconds(timeToLive)
        let sealer = Sealer(sender: sender, topic: try Topic("com.example.app"))
        let device = try FormatFixture.device(1).publicKey
        return try sealer.seal(alertPayload().utf8, to: device, at: time ?? now, options: options).json
    }

    private func trusting(_ key: ProviderKey) -> ProviderTrust { ProviderTrust(pinned: [key.publicKey]) }

    private func open(_ push: Bytes, trust: ProviderTrust, at time: Timestamp? = nil) throws -> OpenedNotification {
        try FormatFixture().opener(trust: trust).open(push, at: time ?? now)
    }

    private func code(_ push: Bytes, trust: ProviderTrust, at time: Timestamp? = nil) -> OpenError.Code? {
        do {
            _ = try open(push, trust: trust, at: time)
            return nil
        } catch {
            return (error as? OpenError)?.code
        }
    }

    private func fold(_ statements: [RotationStatement], into trust: ProviderTrust) throws -> ProviderTrust {
        var trust = trust
        for statement in statements { _ = try trust.accept(statement, for: FormatFixture.app, at: now) }
        return trust
    }

    @Test(arguments: 1...4) func aPhoneThatWasOffForWholeRotationsOpensItsNextPush(_ rotations: Int) throws {
        let statements = Array(chain.prefix(rotations))
        let newest = keys[rotations]
        let before = trusting(keys[0])
        #expect(code(try push(from: newest), trust: before) == .authenticationFailed)

        let opened = try open(push(from: newest, announcing: statements), trust: before)
        #expect(jsonText(opened.payload) == alertPayload())
        #expect(opened.sender == newest.publicKey)
        #expect(opened.statements == statements)
        #expect(!opened.hasRotationConflict)

        let after = try fold(opened.statements, into: before)
        #expect(after.pinned == [newest.publicKey])
        #expect(after.superseded.map(\.key) == keys.prefix(rotations).map(\.publicKey))
        let next = try open(push(from: newest, announcing: statements), trust: after)
        #expect(next.statements.isEmpty)
        #expect(code(try push(from: newest), trust: after) == nil)
    }

    @Test func aPhoneThatKnowsPartOfAChainTakesTheRest() throws {
        let opened = try open(push(from: keys[4], announcing: chain), trust: trusting(keys[2]))
        #expect(opened.statements == [chain[2], chain[3]])
        // It was enrolled when the third key was in use; of the first two it has never heard.
        let enrolledLast = try open(push(from: keys[4], announcing: chain), trust: trusting(keys[4]))
        #expect(enrolledLast.statements.isEmpty)
    }

    @Test func aGapInAChainBreaksIt() throws {
        let gap = [chain[0], chain[2], chain[3]]
        #expect(code(try push(from: keys[4], announcing: gap), trust: trusting(keys[0])) == .authenticationFailed)
        let reversed: [RotationStatement] = chain.prefix(2).reversed()
        #expect(code(try push(from: keys[2], announcing: reversed), trust: trusting(keys[0])) == .authenticationFailed)
    }

    /// A message in flight when the key changes still opens, for as long as Apple keeps a push.
    @Test func aSupersededSenderVerifiesUntilTheOverlapEnds() throws {
        let trust = try fold([chain[0]], into: trusting(keys[0]))
        let end = now.adding(milliseconds: 31 * FormatFixture.day)
        let late = Timestamp(milliseconds: end.milliseconds - FormatFixture.day)
        #expect(code(try push(from: keys[0]), trust: trust) == nil)
        #expect(code(try push(from: keys[0], at: late), trust: trust, at: end) == nil)
        let after = end.adding(milliseconds: 1)
        #expect(code(try push(from: keys[0], at: late), trust: trust, at: after) == .authenticationFailed)
        #expect(code(try push(from: keys[1], at: late), trust: trust, at: after) == nil)
    }

    @Test func theOldKeyMayAnnounceItsSuccessor() throws {
        let opened = try open(push(from: keys[0], announcing: [chain[0]]), trust: trusting(keys[0]))
        #expect(opened.statements == [chain[0]])
        #expect(opened.sender == keys[0].publicKey)
    }

    /// A key that is pinned signs, whatever the message itself says of it: even that it ended with the statement.
    @Test func theOldKeyMayAnnounceItsOwnEnd() throws {
        let end = try RotationStatement(from: keys[0], to: keys[1], at: now, overlap: .seconds(0))
        let later = now.adding(milliseconds: 5)
        let opened = try open(push(from: keys[0], announcing: [end], at: later), trust: trusting(keys[0]), at: later)
        #expect(opened.statements == [end])
        let after = try fold(opened.statements, into: trusting(keys[0]))
        #expect(code(try push(from: keys[0], at: later), trust: after, at: later) == .authenticationFailed)
    }

    @Test func aSupersededSenderVerifiesNoStatement() throws {
        let trust = try fold([chain[0]], into: trusting(keys[0]))
        let theft = try RotationStatement(from: keys[0], to: keys[3], at: now)
        #expect(code(try push(from: keys[3], announcing: [theft]), trust: trust) == .rotationConflict)
        // A known sender's message is shown; the app learns of the conflict, and nothing is taken.
        let opened = try open(push(from: keys[1], announcing: [theft]), trust: trust)
        #expect(opened.hasRotationConflict && opened.statements.isEmpty)
        let announced = try open(push(from: keys[1], announcing: [theft, chain[1]]), trust: trust)
        #expect(announced.hasRotationConflict && announced.statements == [chain[1]])
    }

    /// A new key needs its own signature to be accepted, and an untrusted key decides nothing.
    @Test func aStatementNeedsAMessageOfItsNewKeyOrOfAKnownOne() throws {
        let stranger = try FormatFixture.sender(110)
        #expect(
            code(try push(from: stranger, announcing: [chain[0]]), trust: trusting(keys[0])) == .authenticationFailed)
        let own = try RotationStatement(from: stranger, to: keys[1], at: now)
        #expect(code(try push(from: keys[1], announcing: [own]), trust: trusting(keys[0])) == .authenticationFailed)
    }

    @Test func nothingIsTakenFromAMessageThatDoesNotOpen() throws {
        let trust = trusting(keys[0])
        let expired = try push(from: keys[1], announcing: [chain[0]], timeToLive: 1)
        let later = now.adding(.minutes(11))
        #expect(code(expired, trust: trust, at: later) == .expired)
        // The statement was good, and still the new key is unknown.
        #expect(code(try push(from: keys[1]), trust: trust, at: later) == .authenticationFailed)

        let early = Timestamp(milliseconds: now.milliseconds - FormatFixture.day - 1)
        #expect(code(try push(from: keys[0], announcing: [chain[0]]), trust: trust, at: early) == .notYetValid)
    }

    /// 400 days after it was issued a statement is not accepted any more.
    @Test func aPhoneThatWasOffForTooLongNeedsTheNewKeyFromItsApp() throws {
        let last = now.adding(milliseconds: 400 * FormatFixture.day)
        let trust = trusting(keys[0])
        let push = try push(from: keys[1], announcing: [chain[0]], at: last)
        #expect(code(push, trust: trust, at: last) == nil)
        #expect(code(push, trust: trust, at: last.adding(milliseconds: 1)) == .authenticationFailed)
    }
}

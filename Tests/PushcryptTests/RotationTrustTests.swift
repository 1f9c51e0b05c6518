import Testing

@testable import Pushcrypt

/// Trust beyond the vectors: the reason of a refusal, and which of two comes first.
/// (`Docs/FormatRotation.md`, R-2 to R-11)
@Suite struct RotationTrustTests {
    private let keys: [ProviderKey]
    private let now = FormatFixture.now

    init() throws {
        keys = try (101...104).map { try FormatFixture.sender($0) }
    }

    /// A statement whose fields and signatures a test chooses, also those that no key of ours would sign.
    static func statement(
        from old: ProviderKey, to new: ProviderKey, oldKeyID: KeyID? = nil, newKey: Bytes? = nil,
        issuedAt: Timestamp = FormatFixture.now, acceptFor: UInt32 = 34_560_000, overlap: UInt32 = 2_678_400
    ) throws -> RotationStatement {
        var bytes: Bytes = [0x01]
        bytes.append(bigEndian: (oldKeyID ?? old.id).value)
        bytes += newKey ?? new.publicKey.bytes
        bytes.append(bigEndian: issuedAt.milliseconds)
        bytes.append(bigEndian: acceptFor)
        bytes.append(bigEndian: overlap)
        let unsigned = bytes
        for (role, key) in [(0x01, old), (0x02, new)] as [(UInt8, ProviderKey)] {
            let message = Bytes("pushcrypt/1 rotation\0".utf8) + [role] + old.publicKey.bytes + unsigned
            bytes += key.signature(of: message.span)
        }
        return try RotationStatement(bytes: bytes.span)
    }

    private func refusal(of statement: RotationStatement, by trust: ProviderTrust) -> RotationError? {
        var trust = trust
        let before = trust
        guard let app = try? FormatFixture.app else { return nil }
        do throws(RotationError) {
            _ = try trust.accept(statement, for: app, at: now)
            return nil
        } catch {
            #expect(trust == before, "a refused statement changed the trust")
            return error
        }
    }

    @Test func theHandBuiltStatementIsTheOneThatTheLibraryIssues() throws {
        #expect(
            try Self.statement(from: keys[0], to: keys[1])
                == RotationStatement(from: keys[0], to: keys[1], at: now))
    }

    /// The holder of the new key can sign again with another nonce; that is no second statement of the old key.
    @Test func aStatementWithOtherSignaturesIsTheSame() throws {
        let statement = try Self.statement(from: keys[0], to: keys[1])
        var trust = ProviderTrust(pinned: [keys[0].publicKey])
        _ = try trust.accept(statement, for: FormatFixture.app, at: now)
        let before = trust
        for index in [53, 180] {
            var bytes = statement.bytes
            bytes[index] ^= 1
            #expect(
                try trust.accept(RotationStatement(bytes: bytes.span), for: FormatFixture.app, at: now) == .unchanged)
        }
        #expect(trust == before)
        let other = try Self.statement(from: keys[0], to: keys[1], overlap: 1)
        #expect(refusal(of: other, by: trust)?.code == .conflict)
    }

    @Test func eachReasonHasItsCode() throws {
        let trust = ProviderTrust(pinned: [keys[0].publicKey])
        let identity = Bytes([1] + [UInt8](repeating: 0, count: 31))
        let unsigned = try RotationStatement(
            bytes: Bytes(Self.statement(from: keys[0], to: keys[1]).bytes.dropLast() + [0xff]).span)
        let early = now.adding(milliseconds: FormatFixture.day + 1)
        let cases: [(RotationStatement, RotationError.Code)] = [
            (try Self.statement(from: keys[2], to: keys[1]), .untrustedKey),
            (unsigned, .badSignature),
            (try Self.statement(from: keys[0], to: keys[1], newKey: identity), .weakKey),
            (try Self.statement(from: keys[0], to: keys[0]), .supersededKey),
            (try Self.statement(from: keys[0], to: keys[1], overlap: 5_184_001), .overlapTooLong),
            (try Self.statement(from: keys[0], to: keys[1], issuedAt: early), .notYetValid),
            (try Self.statement(from: keys[0], to: keys[1], issuedAt: Timestamp(milliseconds: 0)), .expired),
        ]
        for (statement, code) in cases {
            let error = try #require(refusal(of: statement, by: trust))
            #expect(error.code == code)
            #expect(!error.description.isEmpty)
        }
        #expect(refusal(of: try Self.statement(from: keys[0], to: keys[1]), by: trust) == nil)
    }

    @Test func theCodesAreTheNamesThatProgramsKnow() {
        let codes: [RotationError.Code] = [
            .malformedStatement, .untrustedKey, .badSignature, .weakKey, .supersededKey, .overlapTooLong, .notYetValid,
            .expired, .conflict,
        ]
        #expect(
            codes.map(\.description) == [
                "malformed-statement", "untrusted-old-key", "bad-statement-signature", "weak-key", "superseded-new-key",
                "overlap-too-long", "statement-not-yet-valid", "statement-expired", "rotation-conflict",
            ])
        #expect(RotationError(0, .expired, "one") == RotationError(0, .expired, "another"))
        #expect(RotationError(0, .expired, "one") != RotationError(0, .conflict, "one"))
    }

    /// A statement by a superseded key is evidence of theft, whatever else is wrong with it.
    @Test func aConflictIsReportedBeforeAnyOtherFault() throws {
        var trust = ProviderTrust(pinned: [keys[0].publicKey])
        _ = try trust.accept(Self.statement(from: keys[0], to: keys[1]), for: FormatFixture.app, at: now)
        let late = try Self.statement(from: keys[0], to: keys[2], issuedAt: Timestamp(milliseconds: 0))
        let long = try Self.statement(from: keys[0], to: keys[2], overlap: .max)
        let early = try Self.statement(from: keys[0], to: keys[2], issuedAt: Timestamp(milliseconds: .max))
        let back = try Self.statement(from: keys[0], to: keys[0])
        for statement in [late, long, early, back] {
            #expect(refusal(of: statement, by: trust)?.code == .conflict)
        }
    }

    /// After a theft the app itself replaces the key; then nothing that the old one signs is believed, and nothing that
    /// it says of its place is news.
    @Test func aKeyThatTheAppReplacedVerifiesNothing() throws {
        let replaced = ProviderTrust.Superseded(key: keys[0].publicKey, verifiesUntil: nil, statement: nil)
        let trust = ProviderTrust(pinned: [keys[1].publicKey], superseded: [replaced])
        #expect(trust.candidates(for: keys[0].id, at: Timestamp(milliseconds: 0)).isEmpty)
        #expect(refusal(of: try Self.statement(from: keys[0], to: keys[2]), by: trust)?.code == .untrustedKey)
        #expect(refusal(of: try Self.statement(from: keys[1], to: keys[0]), by: trust)?.code == .supersededKey)
    }

    /// A caller without statements, such as the C library's, cannot know whether it has seen this one.
    @Test func aKeyWhoseStatementIsNotKeptContradictsNothing() throws {
        let old = ProviderTrust.Superseded(key: keys[0].publicKey, verifiesUntil: now, statement: nil)
        let trust = ProviderTrust(pinned: [keys[1].publicKey], superseded: [old])
        #expect(trust.candidates(for: keys[0].id, at: now) == [keys[0].publicKey])
        for new in [keys[1], keys[2]] {
            #expect(refusal(of: try Self.statement(from: keys[0], to: new), by: trust)?.code == .untrustedKey)
        }
    }

    @Test func theIssuerCannotSignWhatNoReceiverAccepts() throws {
        let long = #expect(throws: RotationError.self) {
            try RotationStatement(from: keys[0], to: keys[1], at: now, overlap: .seconds(5_184_001))
        }
        #expect(long?.code == .overlapTooLong)
        let same = #expect(throws: RotationError.self) {
            try RotationStatement(from: keys[0], to: keys[0], at: now)
        }
        #expect(same?.code == .supersededKey)
        let longest = try RotationStatement(from: keys[0], to: keys[1], at: now, overlap: .seconds(5_184_000))
        #expect(longest.overlap == .seconds(5_184_000))
    }

    @Test func anUnnamedAcceptanceIsFor400DaysAndAnOverlapFor31() throws {
        let statement = try RotationStatement(from: keys[0], to: keys[1], at: now)
        #expect(statement.acceptFor == .seconds(400 * 86_400))
        #expect(statement.overlap == .seconds(31 * 86_400))
        #expect(statement.overlapEnd == now.adding(milliseconds: 31 * FormatFixture.day))
    }

    @Test func aStatementNamesTheKeyThatSignsIt() throws {
        let trust = ProviderTrust(pinned: [keys[0].publicKey, keys[1].publicKey])
        let statement = try Self.statement(from: keys[0], to: keys[2], oldKeyID: keys[1].id)
        #expect(refusal(of: statement, by: trust)?.code == .badSignature)
    }

    /// The seeds were searched for: their keys have one id.
    @Test func everyKeyOfAnIDIsTried() throws {
        let seeds: [Hex] = [
            "035a7974509772aad478477bb7742c1be051a082f343bd973b4641223cb5813c",
            "8ce9d50584c0d11068ca83ace2c55a697470944b4e25b916612d84d99c2fc1c4",
        ]
        let twins = try seeds.map { seed in try ProviderKey(seed: seed.bytes.span) }
        let (one, other) = (twins[0], twins[1])
        try #require(one.id == other.id && one.publicKey != other.publicKey)
        let both = ProviderTrust(pinned: [one.publicKey, other.publicKey])
        #expect(both.candidates(for: one.id, at: now) == [one.publicKey, other.publicKey])
        #expect(both.candidates(for: keys[1].id, at: now).isEmpty)
        // For one sender: the pinned key and a superseded one.
        let superseded = ProviderTrust.Superseded(
            key: one.publicKey, verifiesUntil: now, statement: try Self.statement(from: one, to: other))
        let trust = ProviderTrust([ProviderTrust.Sender(pinned: other.publicKey, superseded: [superseded])])
        #expect(refusal(of: try Self.statement(from: other, to: keys[1]), by: trust) == nil)
        #expect(refusal(of: try Self.statement(from: one, to: keys[1]), by: trust)?.code == .conflict)
    }
}

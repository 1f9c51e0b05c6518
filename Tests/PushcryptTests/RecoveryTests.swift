import Foundation
import Testing

@testable import Pushcrypt

/// A recovery from the provider to the phone: the request, its signature, and what a phone makes of it.
/// (`Docs/FormatRotation.md`, Recovery statement)
@Suite struct RecoveryTests {
    private let recovery: RecoveryKey
    private let keys: [ProviderKey]
    private let topic: Topic
    private let now = FormatFixture.now

    init() throws {
        let seed = Bytes(repeating: 7, count: 32)
        recovery = try RecoveryKey(seed: seed.span)
        keys = try (101...104).map { try FormatFixture.sender($0) }
        topic = try FormatFixture.app
    }

    private func signed(_ new: ProviderKey, serial: UInt32, topic: Topic? = nil) throws -> SignedRecovery {
        try RecoveryRequest(by: recovery.publicKey, for: topic ?? self.topic, to: new, serial: serial, at: now)
            .signed(by: recovery)
    }

    private func trust(pinned: ProviderPublicKey?) -> ProviderTrust {
        ProviderTrust([ProviderTrust.Sender(name: "provider", pinned: pinned, recoveryKeys: [recovery.publicKey])])
    }

    private func code(_ statement: RotationStatement, _ trust: ProviderTrust) -> RotationError.Code? {
        var trust = trust
        do throws(RotationError) {
            _ = try trust.accept(statement, for: topic, at: now)
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Request and signature

    @Test func aStatementHasTheFieldsOfItsRequest() throws {
        let signed = try signed(keys[1], serial: 1_700_000_000)
        let statement = signed.statement
        #expect(statement.bytes.count == 181 && statement.bytes[0] == 0x02 && statement.isRecovery)
        #expect(statement.keyID == recovery.publicKey.id && statement.newKeyBytes == keys[1].publicKey.bytes)
        #expect(statement.serial == 1_700_000_000 && statement.issuedAt == now)
        #expect(Array(statement.bytes[45..<49]) == [0xff, 0xff, 0xff, 0xff])
        #expect(signed.request.serial == 1_700_000_000 && signed.request.newKey == keys[1].publicKey)
    }

    @Test func requestAndStatementTravelAsFiles() throws {
        let request = try RecoveryRequest(by: recovery.publicKey, for: topic, to: keys[1], serial: 5, at: now)
        #expect(try RecoveryRequest(json: request.json) == request)
        let signed = try request.signed(by: recovery)
        #expect(try SignedRecovery(json: signed.json) == signed)
        #expect(code { try SignedRecovery(json: request.json) } == .malformedStatement)
        // A signed recovery holds its request, so that it can be signed again after a doubt.
        #expect(try RecoveryRequest(json: signed.json) == request)
    }

    @Test func aChangedFileIsRefused() throws {
        let request = try RecoveryRequest(by: recovery.publicKey, for: topic, to: keys[1], serial: 5, at: now)
        let signed = try request.signed(by: recovery)
        let text = String(decoding: signed.json, as: UTF8.self)
        let other = RecoveryKey().publicKey
        let changes: [(String, String, RotationError.Code)] = [
            (topic.bundleID, "com.example.other", .badSignature),
            (recovery.publicKey.description, other.description, .malformedStatement),
            ("\"version\":1", "\"version\":2", .malformedStatement),
            ("\"request\":\"", "\"request\":\"AA", .malformedStatement),
            ("\"statement\":\"", "\"statement\":\"AA", .badSignature),
        ]
        for (old, new, expected) in changes {
            let changed = text.split(separator: old, maxSplits: 1).joined(separator: new)
            #expect(changed != text && code { try SignedRecovery(json: Bytes(changed.utf8)) } == expected, "\(new)")
        }
        let two = try self.signed(keys[2], serial: 6)
        let mixed = String(decoding: two.json, as: UTF8.self)
        let statement = try #require(text.range(of: "\"statement\""))
        let start = try #require(mixed.range(of: "\"statement\""))
        let joined = String(text[..<statement.lowerBound]) + String(mixed[start.lowerBound...])
        #expect(code { try SignedRecovery(json: Bytes(joined.utf8)) } == .badSignature)
    }

    @Test func onlyTheNamedRecoveryKeySigns() throws {
        let request = try RecoveryRequest(by: recovery.publicKey, for: topic, to: keys[1], serial: 5, at: now)
        #expect(code { try request.signed(by: RecoveryKey()) } == .unknownRecoveryKey)
        let withoutSerial = code {
            try RecoveryRequest(by: recovery.publicKey, for: topic, to: keys[1], serial: 0, at: now)
        }
        #expect(withoutSerial == .malformedStatement)
        let seed = Bytes(repeating: 7, count: 32)
        let both = try ProviderKey(seed: seed.span)
        let withOneKey = code {
            try RecoveryRequest(by: recovery.publicKey, for: topic, to: both, serial: 5, at: now)
        }
        #expect(withOneKey == .supersededKey)
    }

    private func code<R>(_ body: () throws -> R) -> RotationError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? RotationError)?.code
        }
    }

    // MARK: Trust

    @Test func aRecoveryReplacesWhateverIsPinned() throws {
        let (first, thief, good) = (keys[0], keys[1], keys[2])
        var trust = trust(pinned: first.publicKey)
        let theft = try RotationStatement(from: first, to: thief, at: now)
        _ = try trust.accept(theft, for: topic, at: now)
        #expect(trust.pinned == [thief.publicKey])
        let statement = try signed(good, serial: 10).statement
        #expect(try trust.accept(statement, for: topic, at: now) == .recovered(to: good.publicKey))
        #expect(trust.pinned == [good.publicKey])
        for key in [first, thief] {
            #expect(trust.isRevoked(key.publicKey) && trust.candidates(for: key.id, at: now).isEmpty)
        }
        #expect(trust.senders[0].lastRecovery?.serial == 10)
        // What the thief says now is nothing new, and no evidence of anything.
        let later = try RotationStatement(from: thief, to: keys[3], at: now)
        #expect(code(later, trust) == .untrustedKey && code(theft, trust) == .untrustedKey)
        // It is announced permanently.
        let before = trust
        #expect(try trust.accept(statement, for: topic, at: now) == .unchanged)
        #expect(trust == before)
        // The provider rotates on.
        let next = try RotationStatement(from: good, to: keys[3], at: now)
        _ = try trust.accept(next, for: topic, at: now)
        #expect(trust.pinned == [keys[3].publicKey])
        #expect(try trust.accept(statement, for: topic, at: now) == .unchanged)
    }

    @Test func serialsOnlyRise() throws {
        var trust = trust(pinned: keys[0].publicKey)
        _ = try trust.accept(signed(keys[1], serial: 10).statement, for: topic, at: now)
        #expect(try trust.accept(signed(keys[2], serial: 9).statement, for: topic, at: now) == .unchanged)
        #expect(trust.pinned == [keys[1].publicKey])
        #expect(code(try signed(keys[2], serial: 10).statement, trust) == .recoveryConflict)
        _ = try trust.accept(signed(keys[2], serial: 11).statement, for: topic, at: now)
        #expect(trust.pinned == [keys[2].publicKey])
        #expect(code(try signed(keys[1], serial: 12).statement, trust) == .supersededKey)
    }

    @Test func aRecoveryIsForOneAppAndOneKey() throws {
        let trust = trust(pinned: keys[0].publicKey)
        let other = try Topic("com.example.other")
        #expect(code(try signed(keys[1], serial: 1, topic: other).statement, trust) == .badSignature)
        #expect(
            code(try signed(keys[1], serial: 1).statement, ProviderTrust(pinned: [keys[0].publicKey]))
                == .unknownRecoveryKey)
        #expect(code(try signed(keys[1], serial: 1).statement, self.trust(pinned: nil)) == .unknownRecoveryKey)
    }

    @Test func aKeyThatIsRevokedForOneSenderIsRevokedForAll() throws {
        let stolen = keys[0].publicKey
        var trust = ProviderTrust(
            [
                ProviderTrust.Sender(name: "a", pinned: stolen, recoveryKeys: [recovery.publicKey]),
                ProviderTrust.Sender(name: "b", pinned: stolen),
            ])
        _ = try trust.accept(signed(keys[1], serial: 1).statement, for: topic, at: now)
        #expect(trust.senders.map(\.pinned) == [keys[1].publicKey, stolen])
        #expect(trust.pinned == [keys[1].publicKey] && trust.candidates(for: stolen.id, at: now).isEmpty)
        #expect(code(try RotationStatement(from: keys[0], to: keys[2], at: now), trust) == .untrustedKey)
        // For a sender of another app too.
        let elsewhere = ProviderTrust([ProviderTrust.Sender(pinned: stolen)], others: trust.senders)
        #expect(elsewhere.candidates(for: stolen.id, at: now).isEmpty)
    }

    /// No key is both, whichever app has the sender. (K-10)
    @Test func aRecoveryKeyOfAnotherAppBecomesNoSenderKey() throws {
        let seed = Bytes(repeating: 9, count: 32)
        let (new, other) = (try ProviderKey(seed: seed.span), try RecoveryKey(seed: seed.span))
        let trust = ProviderTrust(
            trust(pinned: keys[0].publicKey).senders,
            others: [ProviderTrust.Sender(pinned: keys[2].publicKey, recoveryKeys: [other.publicKey])])
        #expect(code(try signed(new, serial: 1).statement, trust) == .supersededKey)
        #expect(code(try RotationStatement(from: keys[0], to: new, at: now), trust) == .supersededKey)
    }

    // MARK: In a message

    private func opened(
        by sender: ProviderKey, announcing statements: [RotationStatement], trust: ProviderTrust
    ) throws -> OpenedNotification {
        let fixture = try FormatFixture()
        var options = Sealer.Options()
        options.announcing = statements
        let sealed = try Sealer(sender: sender, topic: fixture.topic)
            .seal(alertPayload().utf8, to: fixture.device.publicKey, at: now, options: options)
        return try fixture.opener(trust: trust).open(sealed.json, at: now)
    }

    @Test func theMessageThatCarriesARecoveryIsSignedByTheNewKey() throws {
        let trust = trust(pinned: keys[0].publicKey)
        let statement = try signed(keys[1], serial: 1).statement
        let opened = try opened(by: keys[1], announcing: [statement], trust: trust)
        #expect(opened.statements == [statement] && opened.sender == keys[1].publicKey)
        // A thief could leave the recovery out; in a message of it, it changes nothing.
        let stolen = try self.opened(by: keys[0], announcing: [statement], trust: trust)
        #expect(stolen.statements.isEmpty && stolen.sender == keys[0].publicKey)
    }

    @Test func aPhoneEnrolledAfterTheRecoveryOpensWhatCarriesIt() throws {
        let recovery = try signed(keys[0], serial: 1).statement
        let rotations = try [(0, 1), (1, 2)].map { try RotationStatement(from: keys[$0], to: keys[$1], at: now) }
        let opened = try opened(
            by: keys[2], announcing: [recovery] + rotations, trust: trust(pinned: keys[1].publicKey))
        #expect(opened.statements == [rotations[1]] && opened.sender == keys[2].publicKey)
        // A rotation that is announced no longer is missing.
        let later = try self.opened(
            by: keys[2], announcing: [recovery, rotations[1]], trust: trust(pinned: keys[1].publicKey))
        #expect(later.statements == [rotations[1]])
        // The recovery takes effect where the chain does not lead on from what is pinned.
        let behind = try self.opened(
            by: keys[2], announcing: [recovery] + rotations, trust: trust(pinned: ProviderKey().publicKey))
        #expect(behind.statements == [recovery] + rotations)
    }

    @Test func theAppIsToldOfAContradictingRecovery() throws {
        var trust = trust(pinned: keys[0].publicKey)
        _ = try trust.accept(signed(keys[1], serial: 1).statement, for: topic, at: now)
        let contradiction = try signed(keys[2], serial: 1).statement
        let opened = try opened(by: keys[1], announcing: [contradiction], trust: trust)
        #expect(opened.hasRecoveryConflict && !opened.hasRotationConflict && opened.statements.isEmpty)
        let error = #expect(throws: OpenError.self) {
            try self.opened(by: keys[2], announcing: [contradiction], trust: trust)
        }
        #expect(error?.code == .recoveryConflict)
    }
}

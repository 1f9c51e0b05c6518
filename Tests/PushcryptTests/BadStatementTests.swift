import Testing

@testable import Pushcrypt

/// Statements that were cut, changed, exchanged or made up: each has the outcome of `Docs/FormatRotation.md`, and none changes the
/// trust.
@Suite struct BadStatementTests {
    private typealias Code = RotationError.Code

    private let now = FormatFixture.now
    private let keys: [ProviderKey]
    private let recovery: RecoveryKey
    private let rotation: RotationStatement
    private let recovered: RotationStatement

    init() throws {
        keys = try (101...104).map { try FormatFixture.sender($0) }
        recovery = try RecoveryKey(seed: Bytes(repeating: 7, count: 32).span)
        rotation = try RotationStatement(from: keys[0], to: keys[1], at: FormatFixture.now)
        recovered = try Self.recovery(by: recovery, to: keys[1], serial: 7)
    }

    private static func recovery(
        by key: RecoveryKey, to new: ProviderKey, serial: UInt32, at time: Timestamp = FormatFixture.now
    ) throws -> RotationStatement {
        try RecoveryRequest(by: key.publicKey, for: FormatFixture.app, to: new, serial: serial, at: time)
            .signed(by: key).statement
    }

    private func trust(_ pinned: ProviderKey, _ recoveryKeys: [RecoveryKey]? = nil) -> ProviderTrust {
        ProviderTrust(
            [ProviderTrust.Sender(pinned: pinned.publicKey, recoveryKeys: (recoveryKeys ?? [recovery]).map(\.publicKey))])
    }

    /// Evaluates a statement; nil for no change, and an accepted one is an issue.
    private func refusal(
        of bytes: Bytes, by trust: ProviderTrust, at time: Timestamp = FormatFixture.now
    ) -> Code? {
        var after = trust
        do throws(RotationError) {
            let statement = try RotationStatement(bytes: bytes.span)
            guard let app = try? FormatFixture.app else { return nil }
            #expect(try after.accept(statement, for: app, at: time) == .unchanged)
            #expect(after == trust)
            return nil
        } catch {
            #expect(after == trust, "a refused statement changed the trust")
            return error.code
        }
    }

    private func accepting(_ statement: RotationStatement, _ trust: ProviderTrust) throws -> ProviderTrust {
        var trust = trust
        _ = try trust.accept(statement, for: FormatFixture.app, at: now)
        return trust
    }

    /// The statement with one bit changed, for every bit.
    private static func flips(_ bytes: Bytes) -> [(place: Int, bytes: Bytes)] {
        bytes.indices.flatMap { place in
            (0..<8).map { bit in
                var changed = bytes
                changed[place] ^= 1 << bit
                return (place, changed)
            }
        }
    }

    // MARK: One fault anywhere

    @Test func aStatementOfAnotherLengthIsMalformed() {
        let before = trust(keys[0])
        for statement in [rotation, recovered] {
            for length in 0..<RotationStatement.length {
                #expect(refusal(of: Bytes(statement.bytes.prefix(length)), by: before) == .malformedStatement)
            }
            #expect(refusal(of: statement.bytes + [0], by: before) == .malformedStatement)
            #expect(refusal(of: statement.bytes + statement.bytes, by: before) == .malformedStatement)
        }
    }

    /// Each changed bit is refused: before the signature, by its place, or by the signature.
    private func expectSigned(_ bytes: Bytes, unknownKey: Code, by trust: ProviderTrust, unsigned: Range<Int>? = nil) {
        for (place, bytes) in Self.flips(bytes) {
            let expected: Code? =
                switch place {
                case 0: .malformedStatement
                case 1..<5: unknownKey
                default: unsigned?.contains(place) == true ? nil : .badSignature
                }
            #expect(refusal(of: bytes, by: trust) == expected, "byte \(place)")
        }
    }

    @Test func everyBitOfARotationIsSigned() {
        expectSigned(rotation.bytes, unknownKey: .untrustedKey, by: trust(keys[0]))
    }

    @Test func everyBitOfARecoveryIsSigned() {
        expectSigned(recovered.bytes, unknownKey: .unknownRecoveryKey, by: trust(keys[0]))
    }

    /// A rotation is recognised by its first 53 bytes, which its old key has signed; a recovery is verified first.
    @Test func everyBitOfAStatementThatWasAcceptedBefore() throws {
        let before = trust(keys[0])
        expectSigned(
            rotation.bytes, unknownKey: .untrustedKey, by: try accepting(rotation, before),
            unsigned: 53..<RotationStatement.length)
        expectSigned(recovered.bytes, unknownKey: .unknownRecoveryKey, by: try accepting(recovered, before))
    }

    /// In a message of the pinned key nothing happens; in one of the new key nobody is a candidate.
    @Test func everyByteOfAStatementInAMessage() throws {
        let fixture = try FormatFixture()
        let opener = fixture.opener(trust: trust(keys[0]))
        for statement in [rotation, recovered] {
            for place in 1..<RotationStatement.length {
                var bytes = statement.bytes
                bytes[place] ^= 1 << (place % 8)
                var options = Sealer.Options()
                options.announcing = [try RotationStatement(bytes: bytes.span)]
                func push(by sender: ProviderKey) throws -> Bytes {
                    try Sealer(sender: sender, topic: fixture.topic)
                        .seal(alertPayload().utf8, to: fixture.device.publicKey, at: now, options: options).json
                }
                let opened = try opener.open(push(by: keys[0]), at: now)
                #expect(opened.statements.isEmpty && !opened.hasRotationConflict && !opened.hasRecoveryConflict)
                let error = #expect(throws: OpenError.self) { try opener.open(push(by: keys[1]), at: now) }
                #expect(error?.code == .authenticationFailed, "byte \(place)")
            }
        }
    }

    // MARK: Kinds exchanged

    @Test func aStatementOfOneKindIsNoneOfTheOther() {
        let before = trust(keys[0])
        for (statement, version, code) in [
            (rotation, 2, Code.unknownRecoveryKey), (recovered, 1, .untrustedKey),
        ] as [(RotationStatement, UInt8, Code)] {
            var bytes = statement.bytes
            bytes[0] = version
            #expect(refusal(of: bytes, by: before) == code)
        }
        // With the id of a key that the other kind knows, the signatures decide.
        var asRecovery = rotation.bytes
        asRecovery[0] = 2
        asRecovery.replaceSubrange(1..<5, with: recovered.bytes[1..<5])
        #expect(refusal(of: asRecovery, by: before) == .badSignature)
        var asRotation = recovered.bytes
        asRotation[0] = 1
        asRotation.replaceSubrange(1..<5, with: rotation.bytes[1..<5])
        #expect(refusal(of: asRotation, by: before) == .badSignature)
        for version in UInt8.min...UInt8.max where version != 1 && version != 2 {
            var bytes = rotation.bytes
            bytes[0] = version
            #expect(refusal(of: bytes, by: before) == .malformedStatement)
        }
    }

    /// The bytes of the key are the same; only its use differs.
    @Test func aRecoveryKeyRotatesNothingAndASenderKeyRecoversNothing() throws {
        let seed = Bytes(repeating: 9, count: 32)
        let (sender, twin) = (try ProviderKey(seed: seed.span), try RecoveryKey(seed: seed.span))
        #expect(
            refusal(of: try RotationStatement(from: sender, to: keys[1], at: now).bytes, by: trust(keys[0], [twin]))
                == .untrustedKey)
        #expect(
            refusal(of: try Self.recovery(by: twin, to: keys[1], serial: 1).bytes, by: trust(sender))
                == .unknownRecoveryKey)
        #expect(
            refusal(
                of: try Self.recovery(by: recovery, to: sender, serial: 1).bytes, by: trust(keys[0], [recovery, twin]))
                == .supersededKey)
    }

    // MARK: Serials

    @Test func aSerialNeverFalls() throws {
        let second = RecoveryKey()
        let last = try Self.recovery(by: recovery, to: keys[1], serial: .max - 1)
        let before = try accepting(last, trust(keys[0], [recovery, second]))
        for serial: UInt32 in [1, 7, .max / 2, .max - 2] {
            #expect(refusal(of: try Self.recovery(by: recovery, to: keys[2], serial: serial).bytes, by: before) == nil)
        }
        #expect(refusal(of: last.bytes, by: before) == nil)
        let others = [
            try Self.recovery(by: recovery, to: keys[2], serial: .max - 1),
            try Self.recovery(by: recovery, to: keys[1], serial: .max - 1, at: now.adding(milliseconds: 1)),
            // The serial is the sender's, whichever of its recovery keys has signed.
            try Self.recovery(by: second, to: keys[1], serial: .max - 1),
        ]
        for other in others { #expect(refusal(of: other.bytes, by: before) == .recoveryConflict) }
        #expect(refusal(of: last.bytes.replacingSerial(0), by: before) == .malformedStatement)

        let full = try accepting(Self.recovery(by: second, to: keys[2], serial: .max), before)
        #expect(full.pinned == [keys[2].publicKey])
        for key in [recovery, second] {
            #expect(
                refusal(of: try Self.recovery(by: key, to: keys[3], serial: .max).bytes, by: full) == .recoveryConflict)
        }
        // One past the last serial is none.
        #expect(refusal(of: last.bytes.replacingSerial(.max &+ 1), by: full) == .malformedStatement)
    }

    // MARK: Clocks

    private static let ends = [Timestamp(milliseconds: 0), Timestamp(milliseconds: .max)]

    @Test(arguments: ends, ends)
    func clocksAtBothEnds(_ issued: Timestamp, _ time: Timestamp) throws {
        let statement = try RotationStatement(from: keys[0], to: keys[1], at: issued, overlap: .seconds(5_184_000))
        let expected: Code? =
            issued == time ? nil : issued > time ? .notYetValid : .expired
        if let expected {
            #expect(refusal(of: statement.bytes, by: trust(keys[0]), at: time) == expected)
        } else {
            var after = trust(keys[0])
            _ = try after.accept(statement, for: FormatFixture.app, at: time)
            #expect(after.candidates(for: keys[0].id, at: time) == [keys[0].publicKey])
        }
        // No clock decides of a recovery.
        var after = trust(keys[0])
        _ = try after.accept(
            Self.recovery(by: recovery, to: keys[1], serial: 1, at: issued), for: FormatFixture.app, at: time)
        #expect(after.pinned == [keys[1].publicKey])
    }

    // MARK: As files

    @Test func everyCutAndEveryBitOfTheFilesIsNoticed() throws {
        let request = try RecoveryRequest(
            by: recovery.publicKey, for: FormatFixture.app, to: keys[1], serial: 7, at: now)
        let signed = try request.signed(by: recovery)
        for length in 0..<request.json.count {
            #expect(throws: RotationError.self) { try RecoveryRequest(json: Bytes(request.json.prefix(length))) }
        }
        for length in 0..<signed.json.count {
            #expect(throws: RotationError.self) { try SignedRecovery(json: Bytes(signed.json.prefix(length))) }
        }
        for (place, bytes) in Self.flips(request.json) {
            #expect(throws: RotationError.self, "byte \(place)") { try RecoveryRequest(json: bytes) }
        }
        for (place, bytes) in Self.flips(signed.json) {
            #expect(throws: RotationError.self, "byte \(place)") { try SignedRecovery(json: bytes) }
        }
    }
}

extension Bytes {
    /// A recovery statement with another serial, which nobody has signed.
    fileprivate func replacingSerial(_ serial: UInt32) -> Bytes {
        var number = Bytes()
        number.append(bigEndian: serial)
        var bytes = self
        bytes.replaceSubrange(49..<53, with: number)
        return bytes
    }
}

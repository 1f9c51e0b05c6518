import Testing

@testable import Pushcrypt

/// What a provider without a store announces.
@Suite struct AnnouncedStatementsTests {
    private let keys: [ProviderKey]
    private let now = FormatFixture.now

    init() throws {
        keys = try (101...104).map { try FormatFixture.sender($0) }
    }

    /// A line for the rotation between two of the keys.
    private func line(_ old: Int, _ new: Int, at time: Timestamp = FormatFixture.now) throws -> String {
        let statement = try RotationStatement(from: keys[old], to: keys[new], at: time)
        return AnnouncedStatements.line(statement, beginningWith: keys[old].publicKey)
    }

    private func read(_ lines: String..., endingAt key: Int) throws -> AnnouncedStatements {
        try AnnouncedStatements(text: lines.joined(), endingAt: keys[key].publicKey)
    }

    private func code(_ lines: String..., endingAt key: Int) -> RotationError.Code? {
        do throws(RotationError) {
            _ = try AnnouncedStatements(text: lines.joined(), endingAt: keys[key].publicKey)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A chain is read as it was written, oldest first, and a device that knows its first key follows it")
    func chain() throws {
        let statements = try read(line(0, 1), line(1, 2), line(2, 3), endingAt: 3).accepted(at: now)
        var trust = ProviderTrust(pinned: [keys[0].publicKey])
        for statement in statements { _ = try trust.accept(statement, for: FormatFixture.app, at: now) }
        #expect(trust.senders[0].pinned == keys[3].publicKey)
    }

    @Test("Each statement leads on from the one before, and the last to the key that signs")
    func order() throws {
        #expect(try code(line(0, 1), endingAt: 2) == .untrustedKey)
        #expect(try code(line(1, 2), line(0, 1), endingAt: 1) == .untrustedKey)
        #expect(try code(line(0, 1), line(2, 3), endingAt: 3) == .untrustedKey)
    }

    @Test("A line that was cut or changed is refused")
    func damaged() throws {
        let line = try line(0, 1)
        for count in [0, 1, 62, 63, 100, line.utf8.count - 2] {
            #expect(code(String(line.prefix(count)), endingAt: 1) == .malformedStatement)
        }
        let other = AnnouncedStatements.line(
            try RotationStatement(from: keys[0], to: keys[1], at: now), beginningWith: keys[2].publicKey)
        #expect(code(other, endingAt: 1) == .untrustedKey)
        for place in [61, 125] {
            var bytes = try RotationStatement(from: keys[0], to: keys[1], at: now).bytes
            bytes[place] ^= 1
            let forged = AnnouncedStatements.line(
                try RotationStatement(bytes: bytes.span), beginningWith: keys[0].publicKey)
            #expect(code(forged, endingAt: 1) == .badSignature)
        }
        #expect(code(line, line, line, line, line, endingAt: 1) != nil)
    }

    @Test("A rotation that phones accept no longer is left out, with those before it")
    func expired() throws {
        let later = now.adding(.days(300))
        let statements = try read(line(0, 1), line(1, 2, at: later), endingAt: 2)
        #expect(statements.accepted(at: now.adding(.days(400))).count == 2)
        #expect(statements.accepted(at: now.adding(.days(401))).map(\.newKeyBytes) == [keys[2].publicKey.bytes])
        #expect(statements.accepted(at: later.adding(.days(401))).isEmpty)
    }

    private func recovery(_ new: Int, beginning key: Int) throws -> String {
        let recovery = RecoveryKey()
        let request = try RecoveryRequest(
            by: recovery.publicKey, for: FormatFixture.app, to: keys[new], serial: 1, at: now)
        return AnnouncedStatements.line(try request.signed(by: recovery).statement, beginningWith: keys[key].publicKey)
    }

    @Test("A recovery leads to the key of its line, which the next line replaces or which signs")
    func recovered() throws {
        #expect(try code(recovery(1, beginning: 1), endingAt: 1) == nil)
        #expect(try code(recovery(1, beginning: 1), endingAt: 2) == .untrustedKey)
        // The rotations between are no longer announced.
        #expect(try code(recovery(0, beginning: 2), endingAt: 2) == nil)
        #expect(try code(recovery(0, beginning: 1), line(1, 2), endingAt: 2) == nil)
        #expect(try code(recovery(0, beginning: 0), line(1, 2), endingAt: 2) == .untrustedKey)
        #expect(try code(line(1, 2), recovery(2, beginning: 2), endingAt: 2) == .malformedStatement)
        let text = try recovery(0, beginning: 0)
        #expect(code("recovery " + text.split(separator: " ")[1], endingAt: 0) == .untrustedKey)
    }

    @Test("When rotations end, the recovery before them leads to the first that is left")
    func added() throws {
        let later = now.adding(.days(50))
        let next = try RotationStatement(from: keys[2], to: keys[3], at: later)
        // The rotation from the recovered key to the first is no longer announced.
        let statements = try read(recovery(3, beginning: 0), line(0, 1), line(1, 2, at: later), endingAt: 2)
        for (days, count) in [(60, 4), (61, 3), (111, 2)] {
            let added = statements.text(
                adding: next, replacing: keys[2].publicKey, announcedFor: .days(60), at: now.adding(.days(UInt64(days)))
            )
            #expect(added.split(separator: "\n").count == count)
            #expect(try read(added, endingAt: 3).accepted(at: later).count == count)
        }
    }

    @Test("What leads on from a recovery stays while phones accept it and there is room")
    func addedToAWhole() throws {
        func count(_ lines: [String], at time: Timestamp) throws -> Int {
            let old = keys[lines.count - 1]
            let next = try RotationStatement(from: old, to: keys[3], at: time)
            let added = try AnnouncedStatements(text: lines.joined(), endingAt: old.publicKey).text(
                adding: next, replacing: old.publicKey, announcedFor: .days(60), at: time)
            #expect(try read(added, endingAt: 3).accepted(at: time).count == added.split(separator: "\n").count)
            return added.split(separator: "\n").count
        }
        let recovery = try recovery(0, beginning: 0)
        let rotations = try [line(0, 1), line(1, 2)]
        #expect(try count([recovery] + rotations, at: now.adding(.days(399))) == 4)
        #expect(try count([recovery] + rotations.prefix(1), at: now.adding(.days(399))) == 3)
        #expect(try count([recovery] + rotations.prefix(1), at: now.adding(.days(401))) == 2)
        #expect(try count([""] + rotations.prefix(1), at: now.adding(.days(61))) == 1)
    }

    @Test("A phone gets what it has not reported")
    func reported() throws {
        let recovery = try recovery(0, beginning: 0)
        let statements = try read(recovery, line(0, 1), line(1, 2), endingAt: 2)
        let all = statements.accepted(at: now)
        #expect(all.count == 3)
        for (place, count) in [2, 1, 0, 3].enumerated() {
            #expect(statements.accepted(at: now, pinned: keys[place].publicKey) == all.suffix(count))
        }
        #expect(try read(recovery, endingAt: 0).accepted(at: now, pinned: keys[0].publicKey).isEmpty)
        #expect(try read(recovery, endingAt: 0).accepted(at: now, pinned: keys[1].publicKey).count == 1)
        #expect(statements.accepted(at: now.adding(.days(401)), pinned: keys[1].publicKey).isEmpty)
    }
}

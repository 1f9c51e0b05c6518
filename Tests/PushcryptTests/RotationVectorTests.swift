import Testing

@testable import Pushcrypt

/// `Tests/Data/Vectors/rotation.json`: statements byte by byte.
@Suite struct RotationVectorTests {
    struct File: Codable {
        let statements: [Statement]
        let recoveries: [Recovery]
    }

    struct Statement: FormatVector {
        let name: String
        let oldSeed: Hex
        let oldPublic: Hex
        let oldKeyID: Hex
        let newSeed: Hex
        let newPublic: Hex
        let issuedAt: UInt64
        let acceptFor: UInt32
        let overlap: UInt32
        let signedByOld: Hex
        let signedByNew: Hex
        let statement: Hex
    }

    struct Recovery: FormatVector {
        let name: String
        let topic: String
        let recoverySeed: Hex
        let recoveryPublic: Hex
        let recoveryKeyID: Hex
        let newSeed: Hex
        let newPublic: Hex
        let issuedAt: UInt64
        let serial: UInt32
        let signedByRecovery: Hex
        let signedByNew: Hex
        let statement: Hex
    }

    static func file() throws -> File { try FormatVectors.read("rotation.json") }

    @Test(.vectors("rotation.json, statements"), arguments: try file().statements)
    func aStatementHasTheseBytes(_ vector: Statement) throws {
        let old = try ProviderKey(seed: vector.oldSeed.bytes.span)
        let new = try ProviderKey(seed: vector.newSeed.bytes.span)
        #expect(old.publicKey.bytes == vector.oldPublic.bytes)
        #expect(new.publicKey.bytes == vector.newPublic.bytes)
        let issuedAt = Timestamp(milliseconds: vector.issuedAt)
        let issued = try RotationStatement(
            from: old, to: new, at: issuedAt, acceptFor: .seconds(UInt64(vector.acceptFor)),
            overlap: .seconds(UInt64(vector.overlap)))
        #expect(issued.bytes == vector.statement.bytes)

        let parsed = try RotationStatement(bytes: vector.statement.bytes.span)
        #expect(parsed == issued)
        #expect(parsed.keyID.description == vector.oldKeyID.bytes.hex)
        #expect(parsed.issuedAt == issuedAt)
        #expect(parsed.acceptFor == .seconds(UInt64(vector.acceptFor)))
        #expect(parsed.overlap == .seconds(UInt64(vector.overlap)))
        #expect(parsed.overlapEnd.milliseconds == vector.issuedAt + UInt64(vector.overlap) * 1000)
    }

    @Test(.vectors("rotation.json, recoveries"), arguments: try file().recoveries)
    func aRecoveryHasTheseBytes(_ vector: Recovery) throws {
        let recovery = try RecoveryKey(seed: vector.recoverySeed.bytes.span)
        let new = try ProviderKey(seed: vector.newSeed.bytes.span)
        #expect(recovery.publicKey.bytes == vector.recoveryPublic.bytes)
        #expect(new.publicKey.bytes == vector.newPublic.bytes)
        let issuedAt = Timestamp(milliseconds: vector.issuedAt)
        let issued = try RecoveryRequest(
            by: recovery.publicKey, for: Topic(vector.topic), to: new, serial: vector.serial, at: issuedAt
        ).signed(by: recovery).statement
        #expect(issued.bytes == vector.statement.bytes)

        let parsed = try RotationStatement(bytes: vector.statement.bytes.span)
        #expect(parsed == issued && parsed.isRecovery)
        #expect(parsed.keyID.description == vector.recoveryKeyID.bytes.hex)
        #expect(parsed.issuedAt == issuedAt)
        #expect(parsed.serial == vector.serial)
    }

    /// The signed bytes differ only in the role, and each signature is over its own.
    @Test(arguments: try file().statements)
    func eachKeySignsItsOwnRole(_ vector: Statement) {
        check(
            vector.statement, (vector.signedByOld, vector.oldPublic), (vector.signedByNew, vector.newPublic))
    }

    @Test(arguments: try file().recoveries)
    func eachKeyOfARecoverySignsItsOwnRole(_ vector: Recovery) {
        check(
            vector.statement, (vector.signedByRecovery, vector.recoveryPublic), (vector.signedByNew, vector.newPublic))
    }

    /// Each pair is what a key signs, and the key.
    private func check(_ statement: Hex, _ first: (Hex, Hex), _ second: (Hex, Hex)) {
        for (range, (message, key)) in [(53..<117, first), (117..<181, second)] {
            let signature = Bytes(statement.bytes[range])
            let isValid = Ed25519.isValid(signature.span, for: message.bytes.span, publicKey: key.bytes.span)
            #expect(isValid)
        }
        let (one, other) = (first.0.bytes, second.0.bytes)
        #expect(one.count == other.count && one.indices.filter { one[$0] != other[$0] } == [21])
    }
}

import Testing

@testable import Pushcrypt

/// `Tests/Data/Vectors/rotation.json`: statements byte by byte.
@Suite struct RotationVectorTests {
    struct File: Codable {
        let statements: [Statement]
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

    static func file() throws -> File { try FormatVectors.read("rotation.json") }

    @Test(.vectors("rotation.json, statements"), arguments: try file().statements)
    func aStatementHasTheseBytes(_ vector: Statement) throws {
        let old = try SenderKey(seed: vector.oldSeed.bytes.span)
        let new = try SenderKey(seed: vector.newSeed.bytes.span)
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

    /// The signed bytes differ only in the role, and each signature is over its own.
    @Test(arguments: try file().statements)
    func eachKeySignsItsOwnRole(_ vector: Statement) throws {
        let (byOld, byNew) = (vector.statement.bytes[53..<117], vector.statement.bytes[117..<181])
        let signatures = [
            (Bytes(byOld), vector.signedByOld, vector.oldPublic), (Bytes(byNew), vector.signedByNew, vector.newPublic),
        ]
        for (signature, message, key) in signatures {
            let isValid = Ed25519.isValid(signature.span, for: message.bytes.span, publicKey: key.bytes.span)
            #expect(isValid)
        }
        let differing = vector.signedByOld.bytes.indices.filter {
            vector.signedByOld.bytes[$0] != vector.signedByNew.bytes[$0]
        }
        #expect(differing == [21])
    }
}

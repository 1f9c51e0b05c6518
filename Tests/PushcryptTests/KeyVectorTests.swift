import Testing

@testable import Pushcrypt

/// `Tests/Vectors/keys.json`: the text forms of keys, key ids, and what must not be imported.
/// (`Docs/Format.md`, K-4 to K-8)
@Suite struct KeyVectorTests {
    struct File: Codable {
        let valid: [Valid]
        let invalid: [Invalid]
    }

    enum Kind: String, Codable {
        case devicePublic = "device-public"
        case senderPublic = "sender-public"
        case deviceSecret = "device-secret"
        case senderSecret = "sender-secret"
    }

    struct Valid: FormatVector {
        let name: String
        let kind: Kind
        let bytes: Hex
        let text: String
        let keyID: Hex?
        let `public`: Hex?
    }

    struct Invalid: FormatVector {
        enum Fault: String, Codable {
            case text, kind, key
        }

        let name: String
        let kind: Kind
        let fault: Fault
        let text: String
        let bytes: Hex?
    }

    static func file() throws -> File { try FormatVectors.read("keys.json") }

    /// What a text was read as.
    struct Imported: Equatable {
        var bytes: Bytes
        /// The text that the library writes.
        var text: String
        var keyID: Bytes?
        var publicKey: Bytes?
    }

    static func read(_ text: String, as kind: Kind) throws(KeyError) -> Imported {
        let ascii = Bytes(text.utf8)
        func string(_ text: Span<UInt8>) -> String { String(decoding: Bytes(copying: text), as: UTF8.self) }
        switch kind {
        case .devicePublic:
            let key = try DevicePublicKey(text: text)
            return Imported(bytes: key.bytes, text: key.description, keyID: bytes(of: key.id))
        case .senderPublic:
            let key = try SenderPublicKey(text: text)
            return Imported(bytes: key.bytes, text: key.description, keyID: bytes(of: key.id))
        case .deviceSecret:
            let key = try DeviceKey(text: ascii.span)
            return Imported(
                bytes: key.withScalar { Bytes(copying: $0) }, text: key.withText(string), publicKey: key.publicKey.bytes
            )
        case .senderSecret:
            let key = try SenderKey(text: ascii.span)
            return Imported(
                bytes: key.withSeed { Bytes(copying: $0) }, text: key.withText(string), publicKey: key.publicKey.bytes)
        }
    }

    private static func bytes(of id: KeyID) -> Bytes? { Hex(id.description)?.bytes }

    @Test(.vectors("keys.json, valid"), arguments: try file().valid)
    func aKeyIsReadAndWritten(_ vector: Valid) throws {
        let text = vector.text.hasSuffix("\n") ? String(vector.text.dropLast()) : vector.text
        let expected = Imported(
            bytes: vector.bytes.bytes, text: text, keyID: vector.keyID?.bytes, publicKey: vector.public?.bytes)
        #expect(try Self.read(vector.text, as: vector.kind) == expected)
        switch vector.kind {
        case .devicePublic:
            #expect(try DevicePublicKey(bytes: vector.bytes.bytes.span).description == text)
            #expect(DevicePublicKey(vector.text)?.bytes == vector.bytes.bytes)
        case .senderPublic:
            #expect(try SenderPublicKey(bytes: vector.bytes.bytes.span).description == text)
            #expect(SenderPublicKey(vector.text)?.bytes == vector.bytes.bytes)
        case .deviceSecret:
            #expect(try DeviceKey(scalar: vector.bytes.bytes.span).publicKey.bytes == vector.public?.bytes)
        case .senderSecret:
            #expect(try SenderKey(seed: vector.bytes.bytes.span).publicKey.bytes == vector.public?.bytes)
        }
    }

    /// The texts whose only fault is the checksum.
    private static let checksumFaults: Set<Substring> = [
        "a wrong checksum", "one data character changed", "two neighbouring characters exchanged",
        "the checksum of Bech32m",
    ]

    /// The prefixes that this version knows; the vectors have others too, such as a later suite's.
    private static let prefixes = ["pcr1", "pcs1", "PCR-SECRET-1", "PCS-SECRET-1"]

    private static func code(for vector: Invalid) -> KeyError.Code {
        switch vector.fault {
        case .text:
            // The name begins with the kind.
            checksumFaults.contains(vector.name.drop { $0 != " " }.dropFirst()) ? .wrongChecksum : .malformedKey
        case .kind: prefixes.contains(where: vector.text.hasPrefix) ? .wrongKind : .malformedKey
        case .key: .weakKey
        }
    }

    @Test(.vectors("keys.json, invalid"), arguments: try file().invalid)
    func aKeyIsRefused(_ vector: Invalid) throws {
        let error = #expect(throws: KeyError.self) { try Self.read(vector.text, as: vector.kind) }
        #expect(error?.code == Self.code(for: vector))
        guard vector.fault == .key else { return }
        // The same key without its text form.
        let bytes = try #require(vector.bytes).bytes
        let weak = #expect(throws: KeyError.self) {
            switch vector.kind {
            case .devicePublic: _ = try DevicePublicKey(bytes: bytes.span)
            default: _ = try SenderPublicKey(bytes: bytes.span)
            }
        }
        #expect(weak?.code == .weakKey)
    }
}

import PostQuantum
import Testing

@testable import Pushcrypt

/// Keys of suite 2: what every build reads, and what needs X-Wing. (`Docs/Format.md`, Keys as text; K-6, K-8)
@Suite struct PostQuantumKeyTests {
    /// A public key that no seed gives, but that passes every check: coefficients of zero, and the base point.
    static let plain = Bytes(repeating: 0, count: 1184) + [9] + Bytes(repeating: 0, count: 31)

    private static func code(_ body: () throws(KeyError) -> some Any) -> KeyError.Code? {
        do throws(KeyError) {
            _ = try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func aPublicKeyIsReadAndWrittenInAnyBuild() throws {
        let plain = Self.plain
        let key = try DevicePublicKey(bytes: plain.span)
        #expect(key.suite == .xwing)
        #expect(key.description.utf8.count == 1957 && key.description.hasPrefix("pcrx1qqqq"))
        #expect(try DevicePublicKey(text: key.description) == key)
        #expect(try DevicePublicKey(text: key.description + "\n") == key)
        #expect(DevicePublicKey(key.description)?.bytes == Self.plain)
        // SHA-256("pushcrypt/1 key id" || 00 || 03 || key), computed apart.
        #expect(key.id.description == "80dd2d9e")
        #expect(DeviceKey().publicKey.suite == .x25519)
    }

    /// Each place of a coefficient within its three bytes, first and last. [K-8]
    @Test(arguments: [0, 1, 766, 767], [3328, 3329, 4095] as [UInt16])
    func aCoefficientIsBelow3329(_ index: Int, _ value: UInt16) {
        var key = Self.plain
        let start = index / 2 * 3
        if index % 2 == 0 {
            key[start] = UInt8(value & 0xff)
            key[start + 1] = UInt8(value >> 8)
        } else {
            key[start + 1] = UInt8(value & 0x0f) << 4
            key[start + 2] = UInt8(value >> 4)
        }
        let expected: KeyError.Code? = value < 3329 ? nil : .weakKey
        #expect(Self.code { () throws(KeyError) in try DevicePublicKey(bytes: key.span) } == expected)
    }

    @Test(arguments: smallOrderX25519Points) func theX25519HalfIsNotOfSmallOrder(_ point: Hex) {
        let key = Bytes(Self.plain.prefix(1184)) + point.bytes
        #expect(Self.code { () throws(KeyError) in try DevicePublicKey(bytes: key.span) } == .weakKey)
    }

    @Test(arguments: [0, 31, 33, 1215, 1217]) func anotherLengthIsMalformed(_ count: Int) {
        let key = Bytes(repeating: 1, count: count)
        #expect(Self.code { () throws(KeyError) in try DevicePublicKey(bytes: key.span) } == .malformedKey)
    }

    @Test func eachKindIsToldFromTheOthers() throws {
        let plain = Self.plain
        let text = try DevicePublicKey(bytes: plain.span).description
        let characters = Bytes(text.utf8)
        #expect(Self.code { () throws(KeyError) in try ProviderPublicKey(text: text) } == .wrongKind)
        #expect(Self.code { () throws(KeyError) in try DeviceKey(text: characters.span) } == .wrongKind)
        #expect(Self.code { () throws(KeyError) in try DevicePublicKey(text: "PCRX-SECRET-1QQ") } == .wrongKind)
        for wrong in ["PCRX1" + text.dropFirst(5), String(text.dropLast())] {
            #expect(Self.code { () throws(KeyError) in try DevicePublicKey(text: wrong) } == .malformedKey)
        }
        let other = text.dropLast() + (text.last == "q" ? "p" : "q")
        #expect(Self.code { () throws(KeyError) in try DevicePublicKey(text: String(other)) } == .wrongChecksum)
        // The text of an X25519 key under the other prefix.
        let short = "pcrx1" + DeviceKey().publicKey.description.dropFirst(4)
        #expect(Self.code { () throws(KeyError) in try DevicePublicKey(text: short) } == .malformedKey)
    }

    // MARK: Records

    private static func record(_ members: String) -> Bytes { Bytes("{\(members)}".utf8) }

    @Test func aReplyPermitsSuites() throws {
        let plain = Self.plain
        let key = try DevicePublicKey(bytes: plain.span)
        let reply = RegistrationReply(.acknowledged(key), suites: [1, 2])
        #expect(String(decoding: reply.json, as: UTF8.self).contains(#""suites":[1,2]"#))
        #expect(try RegistrationReply(json: reply.json) == reply)
        let silent = RegistrationReply(.acknowledged(key))
        #expect(!String(decoding: silent.json, as: UTF8.self).contains("suites"))
        #expect(try RegistrationReply(json: silent.json).suites == [1])
        for suites in ["[2,1]", "[]", "[0]", "[256]", "1", #"["1"]"#] {
            let json = Self.record(#""version":1,"acknowledged":"\#(key)","suites":\#(suites)"#)
            let code = Self.code { () throws(KeyError) in try RegistrationReply(json: json) }
            #expect(code == .malformedRecord, "\(suites)")
        }
    }

    // MARK: Without X-Wing

    @Test(.enabled(if: !CipherSuite.xwing.isSupported)) func aBuildWithoutXWingSaysSo() throws {
        #expect(CipherSuite.supported == [.x25519])
        #expect(Self.code { () throws(KeyError) in try DeviceKey(.xwing) } == .unsupportedSuite)
        let plain = Self.plain
        let key = try DevicePublicKey(bytes: plain.span)
        #expect(throws: SealError(.unsupportedSuite, "")) {
            try Sealer(provider: ProviderKey(), topic: FormatFixture.app).seal(
                Sealer.Message(alertPayload().utf8), to: key, at: FormatFixture.now)
        }
        let envelope = Bytes([2]) + Bytes(repeating: 0, count: 1396)
        let text = Base64URL.string(envelope.span)
        let characters = Bytes(text.utf8)
        #expect(throws: OpenError(.unsupportedSuite, "")) { try Envelope(text: text) }
        #expect(try Envelope(inspecting: characters.span).suite == .xwing)
    }
}

/// Secret keys of suite 2.
@Suite(.postQuantum) struct PostQuantumSecretKeyTests {
    @Test func aSecretKeyIsWrittenAndRead() throws {
        let key = try DeviceKey(scalar: Bytes(repeating: 1, count: 32).span, .xwing)
        key.withText { text in
            #expect(text.count == 71)
            #expect((try? DeviceKey(text: text))?.publicKey == key.publicKey)
        }
        #expect("\(key)" == "DeviceKey(\(key.publicKey))")
        #expect(try DeviceKey(.xwing).publicKey != DeviceKey(.xwing).publicKey)
        let bytes = key.publicKey.bytes
        _ = try DevicePublicKey(bytes: bytes.span)
    }

    @Test func theSameBytesAreAnotherKeyInEachSuite() throws {
        let bytes = Bytes(repeating: 1, count: 32)
        let (one, two) = (try DeviceKey(scalar: bytes.span), try DeviceKey(scalar: bytes.span, .xwing))
        #expect(one.publicKey != two.publicKey && one.publicKey.id != two.publicKey.id)
    }
}

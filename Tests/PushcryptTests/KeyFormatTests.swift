import Testing

@testable import Pushcrypt

/// Keys in the forms of other programs: the known values of the RFCs, both ways, and what is refused.
@Suite struct KeyFormatTests {
    // RFC 8037, appendices A.1 and A.2: the key of RFC 8032, test 1.
    private static let signing = Bytes(hex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    private static let verifying = Bytes(hex: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    private static let ed25519D = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
    private static let ed25519X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    // RFC 7748, section 6.1, Bob; the public half is in RFC 8037, appendix A.6.
    private static let scalar = Bytes(hex: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    private static let point = Bytes(hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    private static let x25519D = "XasIfmJKikt54X-Lg4AO5m87sSkmGLb9HC-LJ_-I4Os"
    private static let x25519X = "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"

    private static func jwk(_ curve: String, _ x: String, _ d: String? = nil) -> String {
        #"{"kty":"OKP","crv":"\#(curve)","x":"\#(x)"\#(d.map { #","d":"\#($0)""# } ?? "")}"#
    }

    private static func pem(_ label: String, _ body: String...) -> String {
        "-----BEGIN \(label)-----\n\(body.joined(separator: "\n"))\n-----END \(label)-----"
    }

    private static let ed25519PEM = pem(
        "PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g")
    private static let x25519PEM = pem(
        "PRIVATE KEY", "MC4CAQAwBQYDK2VuBCIEIF2rCH5iSopLeeF/i4OADuZvO7EpJhi2/Rwviyf/iODr")
    private static let ed25519PublicPEM = pem(
        "PUBLIC KEY", "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
    private static let x25519PublicPEM = pem(
        "PUBLIC KEY", "MCowBQYDK2VuAyEA3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=")

    private static func string(_ text: Span<UInt8>) -> String { String(decoding: Bytes(copying: text), as: UTF8.self) }

    // MARK: Known values

    @Test(arguments: [
        (KeyFormat.jwk, jwk("Ed25519", ed25519X, ed25519D)), (.pem, ed25519PEM), (.raw, ed25519D),
        // Members in another order, with others among them; a seed with padding, in the other alphabet, before its public key.
        (.jwk, " {\"d\":\"\(ed25519D)\",\"kid\":\"1\", \"x\":\"\(ed25519X)\",\"crv\":\"Ed25519\",\"kty\":\"OKP\"}\n"),
        (.pem, ed25519PEM.replacing("\n", with: "\r\n") + "\n"), (.raw, ed25519D + "="),
        (.raw, "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="),
        (.raw, "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL_tPJZAc6DuFy89qmIyWvAhpo9wdRGg"),
        (.raw, "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGg=="),
    ])
    func aProvidersKeyIsRead(_ format: KeyFormat, _ text: String) throws {
        let text = Bytes(text.utf8)
        for named in format == .raw ? [format] : [format, nil] {
            let key = try ProviderKey(text: text.span, format: named)
            #expect(key.withSeed { Bytes(copying: $0) } == Self.signing)
            #expect(key.publicKey.bytes == Self.verifying)
        }
    }

    @Test(arguments: [
        (KeyFormat.jwk, jwk("X25519", x25519X, x25519D)), (.pem, x25519PEM), (.raw, x25519D),
        (.raw, "XasIfmJKikt54X+Lg4AO5m87sSkmGLb9HC+LJ/+I4Os="),
    ])
    func aDevicesKeyIsRead(_ format: KeyFormat, _ text: String) throws {
        let text = Bytes(text.utf8)
        for named in format == .raw ? [format] : [format, nil] {
            let key = try DeviceKey(text: text.span, format: named)
            #expect(key.withScalar { Bytes(copying: $0) } == Self.scalar)
            #expect(key.publicKey.bytes == Self.point)
        }
    }

    @Test(arguments: [
        (jwk("Ed25519", ed25519X), KeyCurve.ed25519), (ed25519PublicPEM, .ed25519),
        (jwk("X25519", x25519X), .x25519), (x25519PublicPEM, .x25519),
    ])
    func aPublicKeySaysWhoseItIs(_ text: String, _ curve: KeyCurve) throws {
        let text = Bytes(text.utf8)
        for named in [curve, nil] {
            switch try ForeignPublicKey(text: text.span, format: nil, of: named) {
            case .device(let key): #expect(curve == .x25519 && key.bytes == Self.point)
            case .provider(let key): #expect(curve == .ed25519 && key.bytes == Self.verifying)
            }
        }
    }

    @Test func aBarePublicKeyIsWhoseItIsSaidToBe() throws {
        let (x, y) = (Bytes(Self.x25519X.utf8), Bytes(Self.ed25519X.utf8))
        guard case .device(let device) = try ForeignPublicKey(text: x.span, format: .raw, of: .x25519),
            case .provider(let provider) = try ForeignPublicKey(text: y.span, format: .raw, of: .ed25519)
        else {
            Issue.record("the kind was changed")
            return
        }
        #expect(device.bytes == Self.point && provider.bytes == Self.verifying)
    }

    /// RFC 8410, section 10.3: version 2, with an attribute and the public key, which is that of section 10.1.
    @Test func theExamplesOfRFC8410AreRead() throws {
        let short = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"
        let long = Self.pem(
            "PRIVATE KEY", "MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC",
            "oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB", "Z9w7lshQhqowtrbLDFw4rXAxZuE=")
        let known = Bytes(hex: "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1")
        for text in [Bytes(Self.pem("PRIVATE KEY", short).utf8), Bytes(long.utf8)] {
            #expect(try ProviderKey(text: text.span, format: .pem).publicKey.bytes == known)
        }
        let half = Bytes(
            Self.pem("PUBLIC KEY", "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=").utf8)
        guard case .provider(let key) = try ForeignPublicKey(text: half.span, format: nil, of: nil) else {
            Issue.record("the curve was changed")
            return
        }
        #expect(key.bytes == known)
    }

    @Test func whatIsWrittenIsWhatTheRFCsSay() throws {
        let provider = try ProviderKey(seed: Self.signing.span)
        let device = try DeviceKey(scalar: Self.scalar.span)
        #expect(
            KeyFormat.allCases.map { provider.withText(in: $0, Self.string) } == [
                Self.jwk("Ed25519", Self.ed25519X, Self.ed25519D), Self.ed25519PEM, Self.ed25519D,
            ])
        #expect(
            KeyFormat.allCases.map { device.withText(in: $0, Self.string) } == [
                Self.jwk("X25519", Self.x25519X, Self.x25519D), Self.x25519PEM, Self.x25519D,
            ])
        #expect(
            KeyFormat.allCases.map(provider.publicKey.text(in:)) == [
                Self.jwk("Ed25519", Self.ed25519X), Self.ed25519PublicPEM, Self.ed25519X,
            ])
        #expect(
            KeyFormat.allCases.map(device.publicKey.text(in:)) == [
                Self.jwk("X25519", Self.x25519X), Self.x25519PublicPEM, Self.x25519X,
            ])
    }

    // MARK: Refusals

    /// The error of a text that is read as one of the three that there are.
    private static func refusal(of text: String, as reading: Reading) -> KeyError? {
        let bytes = Bytes(text.utf8)
        let format = KeyFormat(of: bytes.span) ?? .raw
        do throws(KeyError) {
            switch reading {
            case .device: _ = try DeviceKey(text: bytes.span, format: format)
            case .provider: _ = try ProviderKey(text: bytes.span, format: format)
            case .half(let curve): _ = try ForeignPublicKey(text: bytes.span, format: format, of: curve)
            }
            return nil
        } catch {
            return error
        }
    }

    enum Reading: Sendable {
        case device, provider, half(KeyCurve?)
    }

    @Test(arguments: [
        // The halves do not belong together: of a JWK, of libsodium's 64 bytes, of PKCS #8 version 2.
        (Reading.provider, KeyError.Code.unequalHalves, jwk("Ed25519", x25519X, ed25519D)),
        (.device, .unequalHalves, jwk("X25519", ed25519X, x25519D)),
        (.device, .unequalHalves, jwk("X25519", x25519X.replacing("IK08", with: "IK88"), x25519D)),
        (
            .provider, .unequalHalves,
            "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2CdYbGd7_1aYLqESvSS7CzERInFaXsyaRlwO6wDHK5_YA"
        ),
        (
            .provider, .unequalHalves,
            pem(
                "PRIVATE KEY", "MFECAQEwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
                "gSEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=")
        ),
        // A public key of small order, and one that is not canonical.
        (.half(nil), .weakKey, jwk("X25519", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
        (.half(nil), .weakKey, jwk("X25519", "7f_______________________________________38")),
        (.half(.x25519), .weakKey, "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        (.half(nil), .weakKey, jwk("Ed25519", "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
        (.half(.ed25519), .weakKey, "7v_______________________________________38"),
        (.half(nil), .weakKey, pem("PUBLIC KEY", "MCowBQYDK2VuAyEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")),
        // The other curve, the other half, a text of our own.
        (.device, .wrongKind, ed25519PEM), (.provider, .wrongKind, x25519PEM),
        (.device, .wrongKind, jwk("Ed25519", ed25519X, ed25519D)), (.half(.x25519), .wrongKind, ed25519PublicPEM),
        (.half(.ed25519), .wrongKind, jwk("X25519", x25519X)), (.half(nil), .wrongKind, x25519X),
        (.half(nil), .wrongKind, ed25519PEM), (.half(nil), .wrongKind, jwk("X25519", x25519X, x25519D)),
        (.provider, .wrongKind, ed25519PublicPEM), (.device, .wrongKind, jwk("X25519", x25519X)),
        (.half(nil), .wrongKind, "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"),
        (.device, .wrongKind, "PCR-SECRET-145HAW2SRDFRXKJRZVU33YCGGHHFLEELAGG52A3VC6HWZJ2L5HJ0SADFV30"),
        // Other algorithms.
        (.device, .unsupportedKey, #"{"kty":"EC","crv":"P-256","x":"","y":"","d":""}"#),
        (.device, .unsupportedKey, jwk("X448", x25519X, x25519D)),
        (.device, .unsupportedKey, #"{"kty":"oct","k":"AA"}"#),
        (.half(nil), .unsupportedKey, #"{"kty":"RSA","n":"AQ"}"#),
        (.device, .unsupportedKey, pem("ENCRYPTED PRIVATE KEY", "AAAA")),
        (.provider, .unsupportedKey, pem("RSA PRIVATE KEY", "")),
        (.provider, .unsupportedKey, pem("OPENSSH PRIVATE KEY", "AAAA")),
        (.half(nil), .unsupportedKey, pem("CERTIFICATE", "AA")),
        (.provider, .unsupportedKey, pem("EC PARAMETERS", "BggqhkjOPQMBBw==") + "\n" + ed25519PEM),
        // SubjectPublicKeyInfo and PKCS #8 that begin as those of RSA, P-256, X448 and Ed448 do.
        (.half(nil), .unsupportedKey, pem("PUBLIC KEY", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A")),
        (.half(nil), .unsupportedKey, pem("PUBLIC KEY", "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE")),
        (
            .provider, .unsupportedKey,
            pem("PRIVATE KEY", "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDAAAAAAAAAAAAA")
        ),
        (.provider, .unsupportedKey, pem("PRIVATE KEY", "MEcCAQAwBQYDK2VxBDsEOQ==")),
        (.device, .unsupportedKey, pem("PRIVATE KEY", "MEYCAQAwBQYDK2VvBDoEOA==")),
    ])
    func whatIsNoSuchKeyIsRefused(_ reading: Reading, _ code: KeyError.Code, _ text: String) {
        #expect(Self.refusal(of: text, as: reading)?.code == code)
    }

    @Test(arguments: [
        #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"D","d":"D"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"D"} {}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"D""#, #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"X","d":"D"}]}"#,
        #"{"crv":"Ed25519","x":"X","d":"D"}"#, #"{"kty":7,"crv":"Ed25519","x":"X","d":"D"}"#,
        #"{"kty":"OKP","x":"X","d":"D"}"#, #"{"kty":"OKP","crv":"Ed25519","d":"D"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"D="}"#, #"{"kty":"OKP","crv":"Ed25519","x":"X=","d":"D"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"X","d":" D"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"DAA"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"X","d":null}"#, #"{"kty":"OKP","crv":"Ed25519","x":"X","d":""}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":[],"d":"D"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"é"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"\u006eWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}"#,
        // The last character has bits that are not used, and set.
        #"{"kty":"OKP","crv":"Ed25519","x":"X","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2B"}"#,
    ])
    func aJWKThatIsNotAsItMustBeIsRefused(_ text: String) {
        let text = text.replacing(#""X"#, with: "\"\(Self.ed25519X)").replacing(#":"D"#, with: ":\"\(Self.ed25519D)")
            .replacing(#":" D"#, with: ":\" \(Self.ed25519D)")
        #expect(Self.refusal(of: text, as: .provider)?.code == .malformedKey)
    }

    /// Of the two halves of `MC4C…`, and what follows them.
    @Test(arguments: [
        // No version 2, but its public half; version 2 without; another version; a wrong length; something behind.
        "MFECAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9ggSEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
        "MC4CAQEwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
        "MC4CAQIwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
        "MC8CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
        "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9gAAAA",
        "MDECAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9gAAAA",
        // Attributes that go on behind the end, or have a long length.
        "MDACAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9goAE=",
        "MDACAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9goIE=",
        // Cut, and no base64.
        "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn8=",
        "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9", "MA==", "", "MC4C AQAw",
        "Proc-Type: 4,ENCRYPTED",
    ])
    func aPEMThatIsNotAsItMustBeIsRefused(_ body: String) {
        #expect(Self.refusal(of: Self.pem("PRIVATE KEY", body), as: .provider)?.code == .malformedKey)
    }

    @Test(arguments: [
        ed25519PEM + "\n" + ed25519PEM, String(ed25519PEM.dropLast(4)), "-----BEGIN PRIVATE KEY-----",
        ed25519PEM.replacing("END PRIVATE", with: "END PUBLIC"), ed25519PEM.replacing("\n-----E", with: "-----E"),
        pem("NOTHING", "AAAA"), " " + ed25519PEM, "nWGx", "", "A", ed25519D + ed25519D + ed25519D, "\u{1}\u{2}\u{80}",
        "PRIVATE KEY",
    ])
    func whatIsNoOneKeyIsRefused(_ text: String) {
        #expect(Self.refusal(of: text, as: .provider)?.code == .malformedKey)
    }

    @Test func libsodiumsPairIsNoKeyOfADeviceAndNoPublicKey() {
        let pair = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL_tPJZAc6DuFy89qmIyWvAhpo9wdRGg"
        for reading in [Reading.device, .half(.x25519), .half(.ed25519)] {
            #expect(Self.refusal(of: pair, as: reading)?.code == .malformedKey)
        }
    }

    /// The bytes of a public key would make a secret key that everybody knows.
    @Test(arguments: [ed25519X, ed25519D, ed25519D + "=", "A", ""])
    func bareBytesAreNotRecognised(_ text: String) {
        let text = Bytes(text.utf8)
        let errors = [
            #expect(throws: KeyError.self) { try ProviderKey(text: text.span, format: nil) },
            #expect(throws: KeyError.self) { try DeviceKey(text: text.span, format: nil) },
            #expect(throws: KeyError.self) { try ForeignPublicKey(text: text.span, format: nil, of: .ed25519) },
        ]
        for error in errors { #expect(error?.code == .malformedKey) }
    }

    /// A named form is not exchanged for the one that the text is in.
    @Test(arguments: [
        (KeyFormat.jwk, ed25519PEM), (.jwk, ed25519D), (.pem, jwk("Ed25519", ed25519X, ed25519D)), (.pem, ed25519D),
        (.raw, ed25519PEM), (.raw, jwk("Ed25519", ed25519X, ed25519D)),
    ])
    func aNamedFormIsTheOnlyOne(_ format: KeyFormat, _ text: String) {
        let text = Bytes(text.utf8)
        let error = #expect(throws: KeyError.self) { try ProviderKey(text: text.span, format: format) }
        #expect(error?.code == .malformedKey)
    }

    /// Where a text has both halves, a character that was changed on the way is noticed or makes no difference.
    @Test(arguments: [
        jwk("Ed25519", ed25519X, ed25519D),
        pem(
            "PRIVATE KEY", "MFECAQEwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
            "gSEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="),
        "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL_tPJZAc6DuFy89qmIyWvAhpo9wdRGg",
    ])
    func aChangedCharacterNeverGivesAnotherKey(_ text: String) throws {
        let original = Bytes(text.utf8)
        let format = KeyFormat(of: original.span) ?? .raw
        #expect(try ProviderKey(text: original.span, format: format).publicKey.bytes == Self.verifying)
        var others = 0
        for index in original.indices {
            for byte in Bytes("Aaz019+/-_= \n\"\\{},:\0\u{7f}".utf8) + [original[index] ^ 1, original[index] ^ 0x80] {
                var changed = original
                changed[index] = byte
                guard let key = try? ProviderKey(text: changed.span, format: format) else { continue }
                if key.publicKey.bytes != Self.verifying { others += 1 }
            }
        }
        #expect(others == 0)
    }

    /// Eight characters in a row, of a text with one that is wrong.
    @Test(arguments: [jwk("Ed25519", ed25519X, ed25519D), ed25519PEM, ed25519D])
    func errorsDoNotQuoteTheKey(_ text: String) {
        let secret = Array(
            text == Self.ed25519PEM ? "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g" : Self.ed25519D
        )
        let parts = (0...secret.count - 8).map { String(secret[$0..<$0 + 8]) }
        var characters = Array(text)
        for index in characters.indices {
            let original = characters[index]
            characters[index] = "?"
            let said = Self.refusal(of: String(characters), as: .provider)?.description
            #expect(said.map { said in !parts.contains { said.contains($0) } } ?? false, "character \(index)")
            characters[index] = original
        }
    }
}

/// The base64 of secrets, against that of RFC 4648 in the library's other reader and by hand.
@Suite struct SecretBase64Tests {
    @Test(arguments: [
        (SecretBase64.padded, "+/8="), (.unpadded, "+/8"), (.paddedURL, "-_8="), (.unpaddedURL, "-_8"),
    ])
    func eachVariantIsReadAndWritten(_ variant: SecretBase64, _ text: String) {
        let bytes: Bytes = [0xfb, 0xff]
        let written = variant.encode(bytes.span).withSpan { Bytes(copying: $0) }
        #expect(written == Bytes(text.utf8))
        for other in SecretBase64.allCases {
            let read = other.decode(Bytes(text.utf8).span)?.withSpan { Bytes(copying: $0) }
            #expect(read == (other == variant ? bytes : nil))
        }
    }

    @Test(arguments: ["", "A", "AAAAA", "AB", "AA==", "AA\n", " AA", "A A", "AAB", "é", "éé", "\u{ff}A"])
    func whatIsNotBase64IsRefused(_ text: String) {
        let read = SecretBase64.unpaddedURL.decode(Bytes(text.utf8).span)?.withSpan { Bytes(copying: $0) }
        #expect(read == nil)
    }
}

@testable import Pushcrypt

/// Keys in the forms of other programs: what is accepted is the key that stands in the text, and one half alone.
///
/// Input: how the text is made, then the text, changes of a JWK or of DER, or the bytes that stand in PEM or base64. The harness
/// writes the base64 around what it changes, which mutation would break.
struct KeyFormatTarget: FuzzTarget {
    static let name = "formats"

    private static let keyLength = 32

    /// A text, and the bytes of which the harness made its base64.
    private struct Sample {
        var text: Bytes
        var bytes: Bytes?
    }

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let form = choices.byte()
        let sample = Self.sample(form, &choices)
        for format in KeyFormat.allCases { check(sample, in: format) }
    }

    private static func sample(_ form: UInt8, _ choices: inout Choices) -> Sample {
        let isProvider = form & 8 == 0
        func known(_ format: KeyFormat) -> Bytes {
            isProvider
                ? KnownKeys.provider(1).withText(in: format) { Bytes(copying: $0) }
                : KnownKeys.device.withText(in: format) { Bytes(copying: $0) }
        }
        switch form & 7 {
        case 0: return Sample(text: choices.rest())
        case 1, 2:
            var text = known(form & 7 == 1 ? .jwk : .pem)
            text.edit(&choices)
            return Sample(text: text)
        case 3, 4:
            // PKCS #8 or SubjectPublicKeyInfo, changed before it becomes base64.
            let isSecret = form & 7 == 3
            var der = isSecret ? RFC8410.secretPrefix(isProvider ? .ed25519 : .x25519) : RFC8410.publicPrefix(.ed25519)
            der += Bytes(repeating: 0x21, count: keyLength)
            if form & 16 != 0 { der += [0x81, 0x21, 0x00] + KnownKeys.provider(1).publicKey.bytes }
            der.edit(&choices)
            let label = isSecret ? "PRIVATE" : "PUBLIC"
            let body = base64(der, .padded)
            let text = Bytes("-----BEGIN \(label) KEY-----\n".utf8) + body + Bytes("\n-----END \(label) KEY-----".utf8)
            return Sample(text: text, bytes: der)
        default:
            let bytes = choices.rest()
            return Sample(text: base64(bytes, SecretBase64.allCases[Int(form >> 4 & 3)]), bytes: bytes)
        }
    }

    private static func base64(_ bytes: Bytes, _ variant: SecretBase64) -> Bytes {
        bytes.isEmpty ? [] : variant.encode(bytes.span).withSpan { Bytes(copying: $0) }
    }

    // MARK: Properties

    private func check(_ sample: Sample, in format: KeyFormat) {
        let text = sample.text
        var isSecret = false
        if let key = try? ProviderKey(text: text.span, format: format) {
            isSecret = true
            let written = key.withText(in: format) { Bytes(copying: $0) }
            require(
                (try? ProviderKey(text: written.span, format: format))?.publicKey == key.publicKey,
                "formats: a provider's key is written as it is read")
            key.withSeed { checkPlace(of: Bytes(copying: $0), and: key.publicKey.bytes, in: sample, format) }
        }
        if let key = try? DeviceKey(text: text.span, format: format) {
            require(format == .raw || !isSecret, "formats: a text that says its curve is a key of one curve")
            isSecret = true
            let written = key.withText(in: format) { Bytes(copying: $0) }
            require(
                (try? DeviceKey(text: written.span, format: format))?.publicKey == key.publicKey,
                "formats: a device's key is written as it is read")
            key.withScalar { checkPlace(of: Bytes(copying: $0), and: key.publicKey.bytes, in: sample, format) }
        }
        for curve in KeyCurve.allCases {
            guard let key = try? ForeignPublicKey(text: text.span, format: format, of: curve) else { continue }
            require(format == .raw || !isSecret, "formats: a text that says its half is one half")
            switch key {
            case .device(let key):
                require(curve == .x25519, "formats: a key keeps its curve")
                let scalar = KnownKeys.deviceScalar
                require(
                    (try? X25519.sharedSecret(scalar: scalar.span, publicKey: key.bytes.span)) != nil,
                    "formats: an accepted key gives a secret that not everybody knows")
            case .provider(let key):
                require(curve == .ed25519, "formats: a key keeps its curve")
                require(Ed25519Point.isUsable(key.bytes), "formats: an accepted provider's key is no weak point")
            }
        }
    }

    /// Where the harness knows the bytes, the secret is those that the form has in that place, and whatever else is there and as
    /// long as a public key is its own.
    private func checkPlace(of secret: Bytes, and publicKey: Bytes, in sample: Sample, _ format: KeyFormat) {
        guard let bytes = sample.bytes else { return }
        let start = format == .pem ? 16 : 0
        let end = start + Self.keyLength
        require(
            bytes.count >= end && Bytes(bytes[start..<end]) == secret, "formats: the secret is the one in the text")
        let isPair = format == .raw ? bytes.count > end : bytes[4] == 1
        require(
            isPair ? Bytes(bytes.suffix(Self.keyLength)) == publicKey : format == .pem || bytes.count == end,
            "formats: two halves belong together")
    }
}

/// Keys in PEM (RFC 7468): PKCS #8 and SubjectPublicKeyInfo with the contents of RFC 8410.
enum PEM {
    private static let secretLabel = "PRIVATE KEY"
    private static let publicLabel = "PUBLIC KEY"
    private static let lineEnd = UInt8(ascii: "\n")

    /// Other labels, and what to do about them.
    private static let otherLabels = [
        "ENCRYPTED PRIVATE KEY":
            "a key that is encrypted with a passphrase; `openssl pkey -in FILE -out PLAIN` decrypts it",
        "RSA PRIVATE KEY": "an RSA key; \(KeyCurve.needed)",
        "RSA PUBLIC KEY": "an RSA key; \(KeyCurve.needed)",
        "EC PRIVATE KEY": "a key of a NIST curve; \(KeyCurve.needed)",
        "EC PARAMETERS": "a key of a NIST curve; \(KeyCurve.needed)",
        "DSA PRIVATE KEY": "a DSA key; \(KeyCurve.needed)",
        "OPENSSH PRIVATE KEY":
            "an OpenSSH key; a key for logging in must not sign messages: generate a new one",
        "CERTIFICATE": "a certificate; `openssl x509 -in FILE -pubkey -noout` prints its public key",
    ]

    /// Whether a text begins like PEM.
    static func begins(_ text: Span<UInt8>) -> Bool { starts(with: "-----BEGIN ", text) }

    // MARK: Reading

    static func read(_ text: Span<UInt8>) throws(KeyError) -> ForeignKey {
        for (label, name) in otherLabels where starts(with: "-----BEGIN \(label)-----", text) {
            throw KeyError(.unsupportedKey, "this is \(name)")
        }
        if let body = body(of: secretLabel, text) { return try RFC8410.readSecret(decode(body)) }
        if let body = body(of: publicLabel, text) { return try RFC8410.readPublic(decode(body)) }
        throw KeyError(
            .malformedKey,
            "this is not a single PEM block, from -----BEGIN \(secretLabel)----- or -----BEGIN \(publicLabel)----- to its END"
        )
    }

    /// Returns the characters between the two label lines, without line ends.
    private static func body(of label: String, _ text: Span<UInt8>) -> Ephemeral? {
        let (first, last) = ("-----BEGIN \(label)-----", "-----END \(label)-----")
        guard starts(with: first, text) else { return nil }
        var end = text.count
        while end > 0, JSONText.isWhiteSpace(text[end - 1]) { end -= 1 }
        let start = first.utf8.count
        guard end - last.utf8.count > start, starts(with: last, text.extracting(end - last.utf8.count..<end)) else {
            return nil
        }
        let lines = text.extracting(start..<end - last.utf8.count)
        guard lines[lines.count - 1] == lineEnd else { return nil }
        var body = Ephemeral(count: lines.count)
        let count = body.withMutableBytes { body in
            var count = 0
            for index in lines.indices where lines[index] != lineEnd && lines[index] != UInt8(ascii: "\r") {
                body[count] = lines[index]
                count += 1
            }
            return count
        }
        return body.withSpan { Ephemeral(copying: $0.extracting(0..<count)) }
    }

    private static func decode(_ body: borrowing Ephemeral) throws(KeyError) -> Ephemeral {
        guard let der = body.withSpan({ SecretBase64.padded.decode($0) }) else {
            throw KeyError(.malformedKey, "the contents of the PEM block are not base64; copy the whole key")
        }
        return der
    }

    private static func starts(with prefix: String, _ text: Span<UInt8>) -> Bool {
        text.count >= prefix.utf8.count && zip(text.indices, prefix.utf8).allSatisfy { text[$0] == $1 }
    }

    // MARK: Writing

    static func write(secret: Span<UInt8>, of curve: KeyCurve) -> Ephemeral {
        let der = Ephemeral(RFC8410.secretPrefix(curve), secret, [])
        // 48 bytes fill one line.
        let text = der.withSpan { SecretBase64.padded.encode($0) }
        return text.withSpan {
            Ephemeral(
                Bytes("-----BEGIN \(secretLabel)-----\n".utf8), $0, Bytes("\n-----END \(secretLabel)-----".utf8))
        }
    }

    static func write(publicHalf: Span<UInt8>, of curve: KeyCurve) -> String {
        var der = RFC8410.publicPrefix(curve)
        der.append(copying: publicHalf)
        let text = SecretBase64.padded.encode(der.span).withSpan { String(decoding: Bytes(copying: $0), as: UTF8.self) }
        return "-----BEGIN \(publicLabel)-----\n\(text)\n-----END \(publicLabel)-----"
    }
}

/// The DER of keys of the two curves (RFC 8410, with RFC 5958 and RFC 5280).
///
/// The bytes before a key are the same in every file, so they are compared and not parsed. Only the parts that may
/// follow a secret key have a length of their own: attributes, which do not matter here, and the public half.
enum RFC8410 {
    private static let keyLength = KeyCurve.keyLength
    /// The tag and length of the public half in version 2: a bit string without unused bits.
    private static let publicHalfTag: Bytes = [0x81, 0x21, 0x00]
    private static let attributesTag: UInt8 = 0xa0

    /// Returns the bytes before the 32 bytes of a secret key that nothing follows: a sequence, the version, the
    /// algorithm, an octet string in an octet string.
    static func secretPrefix(_ curve: KeyCurve) -> Bytes {
        [0x30, 0x2e, 0x02, 0x01, 0x00] + algorithm(curve) + [0x04, 0x22, 0x04, 0x20]
    }

    /// Returns the bytes before the 32 bytes of a public key.
    static func publicPrefix(_ curve: KeyCurve) -> Bytes {
        [0x30, 0x2a] + algorithm(curve) + [0x03, 0x21, 0x00]
    }

    /// Returns a sequence of the object identifier 1.3.101.110 or 1.3.101.112, without parameters.
    private static func algorithm(_ curve: KeyCurve) -> Bytes {
        [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, curve == .x25519 ? 0x6e : 0x70]
    }

    // MARK: Reading

    static func readPublic(_ der: consuming Ephemeral) throws(KeyError) -> ForeignKey {
        try der.withSpan { (der) throws(KeyError) in
            for curve in KeyCurve.allCases {
                let prefix = publicPrefix(curve)
                guard der.count == prefix.count + keyLength, isEqual(der, at: 0, prefix) else { continue }
                let publicHalf = Bytes(copying: der.extracting(prefix.count..<der.count))
                return ForeignKey(curve: curve, secret: Ephemeral(count: 0), publicHalf: publicHalf)
            }
            throw refusal(of: der)
        }
    }

    static func readSecret(_ der: consuming Ephemeral) throws(KeyError) -> ForeignKey {
        try der.withSpan { (der) throws(KeyError) in
            for curve in KeyCurve.allCases {
                var prefix = secretPrefix(curve)
                let end = prefix.count + keyLength
                guard der.count >= end, der.count - 2 < 0x80 else { continue }
                prefix[1] = UInt8(der.count - 2)
                prefix[4] = der[4]
                guard isEqual(der, at: 0, prefix), let publicHalf = publicHalf(in: der, from: end, version: der[4])
                else { continue }
                let secret = Ephemeral(copying: der.extracting(prefix.count..<end))
                return ForeignKey(curve: curve, secret: secret, publicHalf: publicHalf)
            }
            throw refusal(of: der)
        }
    }

    /// Returns the public half after a secret key and optional attributes in version 1; empty in version 0, which has
    /// none; nil if anything else follows.
    private static func publicHalf(in der: Span<UInt8>, from end: Int, version: UInt8) -> Bytes? {
        var position = end
        if position + 1 < der.count, der[position] == attributesTag {
            guard der[position + 1] < 0x80 else { return nil }
            position += 2 + Int(der[position + 1])
        }
        if version == 0 { return position == der.count ? [] : nil }
        let start = position + publicHalfTag.count
        guard version == 1, der.count == start + keyLength, isEqual(der, at: position, publicHalfTag) else {
            return nil
        }
        return Bytes(copying: der.extracting(start..<der.count))
    }

    private static func isEqual(_ der: Span<UInt8>, at offset: Int, _ part: Bytes) -> Bool {
        part.indices.allSatisfy { der[offset + $0] == part[$0] }
    }

    // MARK: Other algorithms

    /// The object identifiers of other algorithms, with their tags and lengths.
    private static let others: [(oid: Bytes, name: String)] = [
        ([0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01], "an RSA key"),
        ([0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a], "an RSA key"),
        ([0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01], "a key of a NIST curve, such as P-256"),
        ([0x06, 0x03, 0x2b, 0x65, 0x6f], "an X448 key"), ([0x06, 0x03, 0x2b, 0x65, 0x71], "an Ed448 key"),
    ]

    /// The algorithm is in the first bytes, whatever the size of the lengths before it.
    private static let algorithmEnd = 24

    private static func refusal(of der: Span<UInt8>) -> KeyError {
        for (oid, name) in others {
            let last = min(der.count, algorithmEnd) - oid.count
            if last >= 0, (0...last).contains(where: { isEqual(der, at: $0, oid) }) {
                return KeyError(.unsupportedKey, "this is \(name); \(KeyCurve.needed)")
            }
        }
        return KeyError(
            .malformedKey,
            "this PEM does not have the form of RFC 8410, which `openssl genpkey` and `openssl pkey` write")
    }
}

/// Keys between the lines of PEM (RFC 7468): PKCS #8 and SubjectPublicKeyInfo, as RFC 8410 says what is in them.
enum PEM {
    private static let secretLabel = "PRIVATE KEY"
    private static let publicLabel = "PUBLIC KEY"
    private static let lineEnd = UInt8(ascii: "\n")

    /// What is found instead, and what to do about it.
    private static let otherLabels = [
        "ENCRYPTED PRIVATE KEY":
            "a key that is encrypted with a passphrase; `openssl pkey -in FILE -out PLAIN` decrypts it, into a file of your own",
        "RSA PRIVATE KEY": "an RSA key; \(KeyCurve.needed)",
        "RSA PUBLIC KEY": "an RSA key; \(KeyCurve.needed)",
        "EC PRIVATE KEY": "a key of a NIST curve; \(KeyCurve.needed)",
        "EC PARAMETERS": "a key of a NIST curve; \(KeyCurve.needed)",
        "DSA PRIVATE KEY": "a DSA key; \(KeyCurve.needed)",
        "OPENSSH PRIVATE KEY":
            "a key of OpenSSH; one that logs in must not sign here: `pushcrypt keygen sender` makes a new one",
        "CERTIFICATE": "a certificate; `openssl x509 -in FILE -pubkey -noout` writes the public key in it",
    ]

    /// Whether a text is to be PEM.
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
            "this is not one block of PEM, from -----BEGIN \(secretLabel)----- or -----BEGIN \(publicLabel)----- to its END"
        )
    }

    /// The characters between the two lines with the label, without line ends.
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
        let count = body.withMutableSpan { body in
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
            throw KeyError(.malformedKey, "what stands between the lines of PEM is not base64; copy the key whole")
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

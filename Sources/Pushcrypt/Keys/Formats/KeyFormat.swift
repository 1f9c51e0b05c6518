/// A form in which other programs keep the keys of these two curves.
///
/// Our own form has a checksum and says what a key is for; these have neither, and say the curve at most. A key that came
/// in another form may have been used in another protocol, which nothing here can find out: that is the caller's to know.
package enum KeyFormat: String, CaseIterable, Sendable {
    /// A JSON Web Key (RFC 8037): `{"kty":"OKP","crv":…,"x":…,"d":…}`.
    case jwk
    /// RFC 8410 between the lines of RFC 7468: PKCS #8 for a secret key, SubjectPublicKeyInfo for a public one.
    case pem
    /// The 32 bytes in base64: written in the alphabet for URLs without padding, read in both alphabets with and without.
    case raw

    /// The form that a text is in; nil for what is neither JSON nor PEM. Bare bytes are never recognised: those of a public key
    /// would do for a secret one, which everybody knows then.
    package init?(of text: Span<UInt8>) {
        if PEM.begins(text) {
            self = .pem
        } else if let first = text.indices.first(where: { !JSONText.isWhiteSpace(text[$0]) }),
            text[first] == UInt8(ascii: "{")
        {
            self = .jwk
        } else {
            return nil
        }
    }

    /// Takes a text apart, in the form that is named or else recognised, and refuses the other half and another curve.
    static func read(
        _ text: Span<UInt8>, in format: KeyFormat?, as half: KeyHalf, of curve: KeyCurve?
    ) throws(KeyError) -> ForeignKey {
        if let ours = Bech32.kind(of: text) {
            throw KeyError(
                .wrongKind, "this is \(ours.name): keygen --import, device add and sender trust take it as it is")
        }
        guard let format = format ?? KeyFormat(of: text) else {
            throw KeyError(
                .malformedKey,
                "this is neither JWK nor PEM; the bare bytes of a key do not say what they are, and are taken only where the format is named (raw)"
            )
        }
        let key =
            switch format {
            case .jwk: try JWK.read(text)
            case .pem: try PEM.read(text)
            case .raw: try RawKey.read(text, as: half, of: curve)
            }
        if let curve, key.curve != curve {
            throw KeyError(.wrongKind, "this is \(key.curve.use); what is needed here is \(curve.use)")
        }
        guard (key.secret.count > 0) == (half == .secret) else {
            throw KeyError(
                .wrongKind,
                half == .secret
                    ? "this is a public key; what is needed here is the secret one"
                    : "this is a secret key; what is needed here is the public one, and this one must stay where it was made"
            )
        }
        return key
    }

    /// Writes both halves, without a newline at the end; it is as secret as the key.
    func write(secret: Span<UInt8>, publicHalf: Span<UInt8>, of curve: KeyCurve) -> Ephemeral {
        switch self {
        case .jwk: JWK.write(secret: secret, publicHalf: publicHalf, of: curve)
        case .pem: PEM.write(secret: secret, of: curve)
        case .raw: SecretBase64.unpaddedURL.encode(secret)
        }
    }

    /// Writes a public key, without a newline at the end.
    func write(publicHalf: Span<UInt8>, of curve: KeyCurve) -> String {
        switch self {
        case .jwk: JWK.write(publicHalf: publicHalf, of: curve)
        case .pem: PEM.write(publicHalf: publicHalf, of: curve)
        case .raw: Base64URL.string(publicHalf)
        }
    }
}

/// Which half of a pair of keys.
enum KeyHalf {
    case secret, `public`
}

/// The two curves of suite 1, as RFC 8037 calls them; what each is for is the format's (`Docs/Format.md`, Keys as text).
package enum KeyCurve: String, CaseIterable, Sendable {
    case x25519 = "X25519"
    case ed25519 = "Ed25519"

    /// The length of a secret and of a public key, in bytes.
    static let keyLength = 32

    /// What a message says of a key on another curve.
    static let needed = "what is needed here is X25519 for a device, Ed25519 for a sender"

    /// What a message calls a key of this curve.
    var use: String {
        switch self {
        case .x25519: "an X25519 key, which opens (a device's)"
        case .ed25519: "an Ed25519 key, which signs (a sender's)"
        }
    }
}

/// A key as another program wrote it, taken apart. Only its form has been checked.
struct ForeignKey: ~Copyable {
    let curve: KeyCurve
    /// The scalar or seed; empty for a public key.
    let secret: Ephemeral
    /// The public half, where the text has it; empty otherwise.
    let publicHalf: Bytes

    /// Refuses a pair of which the halves do not belong together: one of them is not the key that somebody meant.
    func check(_ publicKey: Bytes) throws(KeyError) {
        guard publicHalf.isEmpty || publicHalf == publicKey else {
            throw KeyError(
                .unequalHalves,
                "the public half is not that of the secret half: two keys were mixed up, or one was changed"
            )
        }
    }
}

// MARK: Keys

extension DeviceKey {
    /// Reads an X25519 key as another program wrote it, without the newline at the end; the caller wipes the text.
    ///
    /// Without a format a JWK or PEM is recognised. Throws `malformedKey`, `unsupportedKey`, `wrongKind` or `unequalHalves`.
    package convenience init(text: Span<UInt8>, format: KeyFormat?) throws(KeyError) {
        let key = try KeyFormat.read(text, in: format, as: .secret, of: .x25519)
        self.init(key.secret.withSpan { SecretBytes(copying: $0) })
        try key.check(publicKey.bytes)
    }

    /// Gives the key in another program's form to `body` and wipes it afterwards; what `body` keeps is the caller's to guard.
    package func withText<R, E: Error>(
        in format: KeyFormat, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let publicHalf = publicKey.bytes
        let text = withScalar { format.write(secret: $0, publicHalf: publicHalf.span, of: .x25519) }
        return try text.withSpan(body)
    }
}

extension SenderKey {
    /// Reads an Ed25519 seed as another program wrote it, without the newline at the end; the caller wipes the text.
    ///
    /// Without a format a JWK or PEM is recognised. Throws `malformedKey`, `unsupportedKey`, `wrongKind` or `unequalHalves`.
    package convenience init(text: Span<UInt8>, format: KeyFormat?) throws(KeyError) {
        let key = try KeyFormat.read(text, in: format, as: .secret, of: .ed25519)
        self.init(key.secret.withSpan { Ephemeral(copying: $0) })
        try key.check(publicKey.bytes)
    }

    /// Gives the key in another program's form to `body` and wipes it afterwards; what `body` keeps is the caller's to guard.
    package func withText<R, E: Error>(
        in format: KeyFormat, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let publicHalf = publicKey.bytes
        let text = withSeed { format.write(secret: $0, publicHalf: publicHalf.span, of: .ed25519) }
        return try text.withSpan(body)
    }
}

/// A public key as another program wrote it: what it is for follows from its curve.
package enum ForeignPublicKey {
    case device(DevicePublicKey)
    case sender(SenderPublicKey)

    /// Reads a public key, without the newline at the end. Without a format it is recognised; without a curve, the text has to
    /// say it.
    ///
    /// Throws `malformedKey`, `unsupportedKey`, `wrongKind` or `weakKey`. The text may be a secret key by mistake: the caller
    /// wipes it.
    package init(text: Span<UInt8>, format: KeyFormat?, of curve: KeyCurve?) throws(KeyError) {
        let key = try KeyFormat.read(text, in: format, as: .public, of: curve)
        self =
            switch key.curve {
            case .x25519: .device(try DevicePublicKey(bytes: key.publicHalf.span))
            case .ed25519: .sender(try SenderPublicKey(bytes: key.publicHalf.span))
            }
    }
}

extension DevicePublicKey {
    /// The key in another program's form.
    package func text(in format: KeyFormat) -> String { format.write(publicHalf: bytes.span, of: .x25519) }
}

extension SenderPublicKey {
    /// The key in another program's form.
    package func text(in format: KeyFormat) -> String { format.write(publicHalf: bytes.span, of: .ed25519) }
}

/// The bare bytes of a key in base64, which say nothing of what they are.
///
/// libsodium and PyNaCl keep a signing key as 64 bytes, the seed and then the public key; CryptoKit, `cryptography` and JWK keep
/// the seed.
enum RawKey {
    static func read(_ text: Span<UInt8>, as half: KeyHalf, of curve: KeyCurve?) throws(KeyError) -> ForeignKey {
        guard let curve else {
            throw KeyError(
                .wrongKind, "bare bytes do not say whether they are a device's key or a sender's: name the kind")
        }
        let length = KeyCurve.keyLength
        return try decode(text).withSpan { (bytes) throws(KeyError) in
            let isPair = bytes.count == 2 * length && half == .secret && curve == .ed25519
            guard bytes.count == length || isPair else {
                throw KeyError(.malformedKey, "this is the base64 of \(bytes.count) bytes; a key has \(length)")
            }
            let first = bytes.extracting(0..<length)
            return half == .secret
                ? ForeignKey(
                    curve: curve, secret: Ephemeral(copying: first),
                    publicHalf: Bytes(copying: bytes.extracting(length..<bytes.count)))
                : ForeignKey(curve: curve, secret: Ephemeral(count: 0), publicHalf: Bytes(copying: first))
        }
    }

    private static func decode(_ text: Span<UInt8>) throws(KeyError) -> Ephemeral {
        for base64 in SecretBase64.allCases {
            if let bytes = base64.decode(text) { return bytes }
        }
        throw KeyError(
            .malformedKey,
            "this is neither JWK nor PEM, nor a key's bytes in base64; of a binary file `openssl pkey -inform DER -in FILE` makes PEM if it is DER, and `base64 -w 0 FILE` text if it is the bare bytes"
        )
    }
}

/// A format in which other programs store keys of these two curves.
///
/// The project's own format has a checksum and names the use of the key. These formats have neither, and name at most
/// the curve. A key from another format may have been used in another protocol; only the caller can know.
package enum KeyFormat: String, CaseIterable, Sendable {
    /// A JSON Web Key (RFC 8037): `{"kty":"OKP","crv":…,"x":…,"d":…}`.
    case jwk
    /// PEM (RFC 7468) with the contents of RFC 8410: PKCS #8 for a secret key, SubjectPublicKeyInfo for a public key.
    case pem
    /// The 32 bytes in base64: written as base64url without padding, read in both alphabets with or without padding.
    case raw

    /// Detects the format of a text; returns nil if it is neither JSON nor PEM. Raw bytes are never detected: a public
    /// key would be accepted as a secret one, which everyone knows.
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

    /// Parses a text in the given format or, without one, in the detected format; throws for the other half or another
    /// curve.
    static func read(
        _ text: Span<UInt8>, in format: KeyFormat?, as half: KeyHalf, of curve: KeyCurve?
    ) throws(KeyError) -> ForeignKey {
        if let ours = Bech32.kind(of: text) {
            throw KeyError(
                .wrongKind, "this is \(ours.name) already, and needs no conversion")
        }
        guard let format = format ?? KeyFormat(of: text) else {
            throw KeyError(
                .malformedKey,
                "this is neither JWK nor PEM; raw bytes do not say what they are, and are accepted only if the format is given as raw"
            )
        }
        let key =
            switch format {
            case .jwk: try JWK.read(text)
            case .pem: try PEM.read(text)
            case .raw: try RawKey.read(text, as: half, of: curve)
            }
        if let curve, key.curve != curve {
            throw KeyError(.wrongKind, "this is \(key.curve.use); \(curve.use) is needed here")
        }
        guard (key.secret.count > 0) == (half == .secret) else {
            throw KeyError(
                .wrongKind,
                half == .secret
                    ? "this is a public key; the secret key is needed here"
                    : "this is a secret key; the public key is needed here, and the secret one must stay where it was generated"
            )
        }
        return key
    }

    /// Returns the text of both halves, without a newline at the end; it is as secret as the key.
    func write(secret: Span<UInt8>, publicHalf: Span<UInt8>, of curve: KeyCurve) -> Ephemeral {
        switch self {
        case .jwk: JWK.write(secret: secret, publicHalf: publicHalf, of: curve)
        case .pem: PEM.write(secret: secret, of: curve)
        case .raw: SecretBase64.unpaddedURL.encode(secret)
        }
    }

    /// Returns the text of a public key, without a newline at the end.
    func write(publicHalf: Span<UInt8>, of curve: KeyCurve) -> String {
        switch self {
        case .jwk: JWK.write(publicHalf: publicHalf, of: curve)
        case .pem: PEM.write(publicHalf: publicHalf, of: curve)
        case .raw: Base64URL.string(publicHalf)
        }
    }
}

/// One half of a key pair.
enum KeyHalf {
    case secret, `public`
}

/// The two curves of suite 1, by their names in RFC 8037. (`Docs/Format.md`, Keys as text)
package enum KeyCurve: String, CaseIterable, Sendable {
    case x25519 = "X25519"
    case ed25519 = "Ed25519"

    /// The length of a secret and of a public key, in bytes.
    static let keyLength = 32

    /// The text for errors about keys on other curves.
    static let needed = "devices need X25519, providers Ed25519"

    /// The text for errors about keys on this curve.
    var use: String {
        switch self {
        case .x25519: "an X25519 key, which opens (for a device)"
        case .ed25519: "an Ed25519 key, which signs (for a provider)"
        }
    }
}

/// A parsed key from another program. Only its form has been checked.
struct ForeignKey: ~Copyable {
    let curve: KeyCurve
    /// The scalar or seed; empty for a public key.
    let secret: Ephemeral
    /// The public half; empty if the text does not have it.
    let publicHalf: Bytes

    /// Throws if the two halves do not belong together: one of them is not the intended key.
    func check(_ publicKey: Bytes) throws(KeyError) {
        guard publicHalf.isEmpty || publicHalf == publicKey else {
            throw KeyError(
                .unequalHalves,
                "the public half does not belong to the secret half: two keys were mixed up, or one was changed"
            )
        }
    }
}

// MARK: Keys

extension DeviceKey {
    /// Parses an X25519 key from another program, without a trailing newline; the caller wipes the text.
    ///
    /// - Parameter format: The format; nil detects JWK and PEM.
    /// - Throws: `malformedKey`, `unsupportedKey`, `wrongKind` or `unequalHalves`.
    package convenience init(text: Span<UInt8>, format: KeyFormat?) throws(KeyError) {
        let key = try KeyFormat.read(text, in: format, as: .secret, of: .x25519)
        self.init(key.secret.withSpan { SecretBytes(copying: $0) })
        try key.check(publicKey.bytes)
    }

    /// Calls `body` with the key in another format, and wipes the text afterwards. The caller protects any copy that
    /// `body` makes.
    ///
    /// Only a key of suite 1 has other formats; the caller has checked with `hasOtherFormats`.
    package func withText<R, E: Error>(
        in format: KeyFormat, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        precondition(publicKey.suite == .x25519, "a post-quantum key has no other format")
        let publicHalf = publicKey.bytes
        let text = withScalar { format.write(secret: $0, publicHalf: publicHalf.span, of: .x25519) }
        return try text.withSpan(body)
    }
}

extension ProviderKey {
    /// Parses an Ed25519 seed from another program, without a trailing newline; the caller wipes the text.
    ///
    /// - Parameter format: The format; nil detects JWK and PEM.
    /// - Throws: `malformedKey`, `unsupportedKey`, `wrongKind` or `unequalHalves`.
    package convenience init(text: Span<UInt8>, format: KeyFormat?) throws(KeyError) {
        let key = try KeyFormat.read(text, in: format, as: .secret, of: .ed25519)
        self.init(key.secret.withSpan { Ephemeral(copying: $0) })
        try key.check(publicKey.bytes)
    }

    /// Calls `body` with the key in another format, and wipes the text afterwards. The caller protects any copy that
    /// `body` makes.
    package func withText<R, E: Error>(
        in format: KeyFormat, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let publicHalf = publicKey.bytes
        let text = withSeed { format.write(secret: $0, publicHalf: publicHalf.span, of: .ed25519) }
        return try text.withSpan(body)
    }
}

/// A public key from another program; its curve determines its use.
package enum ForeignPublicKey {
    case device(DevicePublicKey)
    case provider(ProviderPublicKey)

    /// Parses a public key, without a trailing newline. The caller wipes the text, which may be a secret key by
    /// mistake.
    ///
    /// - Parameters:
    ///   - format: The format; nil detects JWK and PEM.
    ///   - curve: The curve; nil takes it from the text.
    /// - Throws: `malformedKey`, `unsupportedKey`, `wrongKind` or `weakKey`.
    package init(text: Span<UInt8>, format: KeyFormat?, of curve: KeyCurve?) throws(KeyError) {
        let key = try KeyFormat.read(text, in: format, as: .public, of: curve)
        self =
            switch key.curve {
            case .x25519: .device(try DevicePublicKey(bytes: key.publicHalf.span))
            case .ed25519: .provider(try ProviderPublicKey(bytes: key.publicHalf.span))
            }
    }
}

extension DevicePublicKey {
    /// Returns the key in another format.
    package func text(in format: KeyFormat) -> String { format.write(publicHalf: bytes.span, of: .x25519) }
}

extension ProviderPublicKey {
    /// Returns the key in another format.
    package func text(in format: KeyFormat) -> String { format.write(publicHalf: bytes.span, of: .ed25519) }
}

/// The raw bytes of a key in base64, which do not say what they are.
///
/// libsodium and PyNaCl store a signing key as 64 bytes, the seed and the public key; CryptoKit, `cryptography` and JWK
/// store the seed.
enum RawKey {
    static func read(_ text: Span<UInt8>, as half: KeyHalf, of curve: KeyCurve?) throws(KeyError) -> ForeignKey {
        guard let curve else {
            throw KeyError(
                .wrongKind, "raw bytes do not say whether they are a device's key or a provider's: give the kind")
        }
        let length = KeyCurve.keyLength
        return try decode(text).withSpan { (bytes) throws(KeyError) in
            let isPair = bytes.count == 2 * length && half == .secret && curve == .ed25519
            guard bytes.count == length || isPair else {
                throw KeyError(.malformedKey, "this is base64 of \(bytes.count) bytes; a key has \(length)")
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
            "this is neither JWK nor PEM nor a key's bytes in base64; convert a binary file with `openssl pkey -inform DER -in FILE` if it is DER, or with `base64 -w 0 FILE` if it is raw bytes"
        )
    }
}

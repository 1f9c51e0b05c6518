/// JSON Web Keys of the two curves (RFC 8037, section 2).
///
/// Parsed with the strict JSON parser, so that no two programs read different keys from one text. Other members are
/// ignored.
enum JWK {
    private static let type = "OKP"

    // MARK: Reading

    static func read(_ text: Span<UInt8>) throws(KeyError) -> ForeignKey {
        var bytes = Bytes(copying: text)
        // Nothing shares these bytes after the call.
        defer { bytes.wipe() }
        return try key(in: bytes)
    }

    private static func key(in text: Bytes) throws(KeyError) -> ForeignKey {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: text).root
        } catch {
            throw KeyError(.malformedKey, "the JWK is not JSON: \(error)")
        }
        guard root["keys"] == nil else {
            throw KeyError(
                .malformedKey, "this is a set of JWKs: give a single key of it, for example with `jq .keys[0]`")
        }
        guard let type = root["kty"]?.string else {
            throw KeyError(.malformedKey, "the JWK's kty is missing or not a string")
        }
        guard type == Self.type else {
            let name = ["RSA": "an RSA key", "EC": "a key of a NIST curve", "oct": "a symmetric key"][type]
            throw KeyError(.unsupportedKey, "the JWK is \(name ?? "of an unknown kty"); \(KeyCurve.needed)")
        }
        guard let name = root["crv"]?.string else {
            throw KeyError(.malformedKey, "the JWK's crv is missing or not a string")
        }
        guard let curve = KeyCurve(rawValue: name) else {
            throw KeyError(.unsupportedKey, "the JWK's crv is neither X25519 nor Ed25519; \(KeyCurve.needed)")
        }
        guard let x = try bytes(of: "x", in: root) else { throw KeyError(.malformedKey, "the JWK has no x") }
        let publicHalf = x.withSpan { Bytes(copying: $0) }
        guard let secret = try bytes(of: "d", in: root) else {
            return ForeignKey(curve: curve, secret: Ephemeral(count: 0), publicHalf: publicHalf)
        }
        return ForeignKey(curve: curve, secret: secret, publicHalf: publicHalf)
    }

    /// Returns the 32 bytes of a member, decoded in place: a `String` could not be wiped.
    private static func bytes(of name: String, in root: JSONValue) throws(KeyError) -> Ephemeral? {
        guard let value = root[name] else { return nil }
        let text = root.document.bytes.span
        guard value.kind == .string,
            let bytes = SecretBase64.unpaddedURL.decode(
                text.extracting(value.range.lowerBound + 1..<value.range.upperBound - 1)),
            bytes.count == KeyCurve.keyLength
        else {
            throw KeyError(
                .malformedKey, "the JWK's \(name) is not \(KeyCurve.keyLength) bytes in base64url without padding")
        }
        return bytes
    }

    // MARK: Writing

    static func write(secret: Span<UInt8>, publicHalf: Span<UInt8>, of curve: KeyCurve) -> Ephemeral {
        // Without the closing brace.
        let start = Bytes(write(publicHalf: publicHalf, of: curve).utf8.dropLast() + #","d":""#.utf8)
        let d = SecretBase64.unpaddedURL.encode(secret)
        return d.withSpan { Ephemeral(start, $0, Bytes("\"}".utf8)) }
    }

    static func write(publicHalf: Span<UInt8>, of curve: KeyCurve) -> String {
        #"{"kty":"\#(type)","crv":"\#(curve.rawValue)","x":"\#(Base64URL.string(publicHalf))"}"#
    }
}

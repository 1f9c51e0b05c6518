/// The 16 secret bytes of a pairing, in guarded memory, which all references share.
package final class PairingSecret: Sendable {
    package static let length = 16

    private let bytes: SecretBytes

    /// Draws a secret from the system's random source.
    package init() { bytes = SecretBytes(randomCount: Self.length) }

    /// Copies 16 bytes, which the caller wipes; nil for another length.
    package init?(_ secret: Span<UInt8>) {
        guard secret.count == Self.length else { return nil }
        bytes = SecretBytes(copying: secret)
    }

    /// Calls `body` with the bytes; its result must not contain a copy.
    package func withSpan<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try bytes.withSpan(body)
    }

    /// The 8 bytes by which a server finds its code.
    package var id: ContiguousArray<UInt8> {
        let empty = ContiguousArray<UInt8>()
        return key(salt: empty.span, length: PairingExchange.idLength) { $0.update("pushcrypt/1 pairing id\0") }
            .withSpan { ContiguousArray(copying: $0) }
    }

    func key(salt: Span<UInt8>, length: Int, info: (borrowing HMACSHA256) -> Void) -> Ephemeral {
        let prk = HKDF.extract(salt: salt) { hmac in withSpan { hmac.update($0) } }
        do throws(SodiumRefusal) {
            return try prk.withSpan { (prk) throws(SodiumRefusal) in
                try HKDF.expand(prk: prk, length: length, info: info)
            }
        } catch {
            preconditionFailure("HKDF gives up to 8,160 bytes")
        }
    }
}

extension PairingSecret: CustomStringConvertible, CustomReflectable {
    /// Nothing secret is printed.
    package var description: String { "PairingSecret" }

    /// Nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A code on a server's screen, which pairs a phone with it: `pushcrypt:1?CODE&URL`. (`Docs/FormatRecords.md`, Pairing)
///
/// Anyone who sees it can pair in the phone's place until the phone has: a server shows it to its user alone. Read it with the app's
/// own camera view, or as typed text; as a link it must be an https universal link with the code in the fragment, because any app can
/// claim another scheme. Then show `host`, and ask the user.
public struct PairingCode: Sendable {
    /// The longest address, in bytes.
    package static let longestURL = 1024
    private static let start: StaticString = "pushcrypt:1?"
    private static let version: UInt8 = 1
    private static let textLength = 44

    package let secret: PairingSecret
    /// Where the phone posts.
    package let url: WebAddress
    /// The first 16 bytes of the provider key's SHA-256.
    package let fingerprint: ContiguousArray<UInt8>

    /// Parses the text of a code; returns nil for anything else, and for an address that is not `https`, or `http` in a private
    /// network.
    public init?(_ text: String) {
        guard let code = try? PairingCode(text: ContiguousArray(text.utf8).span) else { return nil }
        self = code
    }

    /// The host to which the phone posts, in lower case, for the user to agree to.
    public var host: String { url.host }

    /// Creates the code of a server.
    ///
    /// - Throws: `malformedCode` for an address that is not `https`, or `http` in a private network, without user and
    ///   fragment, or longer than 1,024 bytes.
    package init(
        _ secret: PairingSecret = PairingSecret(), url: String, provider: ProviderPublicKey
    ) throws(PairingError) {
        self.secret = secret
        self.url = try Self.address(url)
        fingerprint = Self.fingerprint(of: provider)
    }

    /// Parses the text of a code, as a phone's camera or its user gives it. The caller wipes the text.
    ///
    /// - Throws: `malformedCode`.
    package init(text: Span<UInt8>) throws(PairingError) {
        let (start, end) = (Self.start.utf8CodeUnitCount, Self.start.utf8CodeUnitCount + Self.textLength)
        guard text.count > end, text[end] == UInt8(ascii: "&"),
            unsafe UnsafeBufferPointer(start: Self.start.utf8Start, count: start).indices
                .allSatisfy({ unsafe text[$0] == Self.start.utf8Start[$0] }),
            let bytes = SecretBase64.unpaddedURL.decode(text.extracting(start..<end))
        else { throw Self.malformed }
        let length = PairingSecret.length
        let parts = bytes.withSpan { bytes -> (PairingSecret, ContiguousArray<UInt8>)? in
            guard bytes.count == 1 + 2 * length, bytes[0] == Self.version,
                let secret = PairingSecret(bytes.extracting(1..<1 + length))
            else { return nil }
            return (secret, ContiguousArray(copying: bytes.extracting(1 + length..<bytes.count)))
        }
        guard let (secret, fingerprint) = parts else { throw Self.malformed }
        self.secret = secret
        self.fingerprint = fingerprint
        url = try Self.address(
            String(decoding: ContiguousArray(copying: text.extracting(end + 1..<text.count)), as: UTF8.self))
    }

    /// Calls `body` with the text, and wipes it afterwards. The caller protects any copy that `body` makes.
    package func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let bytes = secret.withSpan { secret in Ephemeral([Self.version], secret, fingerprint) }
        var (start, end) = (ContiguousArray<UInt8>(), ContiguousArray<UInt8>())
        start.append(Self.start)
        end.append(UInt8(ascii: "&"))
        end.append(contentsOf: url.text.utf8)
        let encoded = bytes.withSpan { SecretBase64.unpaddedURL.encode($0) }
        return try encoded.withSpan { Ephemeral(start, $0, end) }.withSpan(body)
    }

    /// [P-2]
    private static func address(_ text: String) throws(PairingError) -> WebAddress {
        guard text.utf8.count <= longestURL, let address = WebAddress(text) else {
            throw PairingError(
                .malformedCode,
                "the address is not an https address of at most \(longestURL) bytes without user and fragment")
        }
        guard address.isOfServer else {
            throw PairingError(
                .malformedCode, "the address is http, and not one of a private network: use https")
        }
        return address
    }

    private static let malformed = PairingError(
        .malformedCode, "not a pairing code: scan the whole code again")

    /// Returns the first 16 bytes of a provider key's SHA-256.
    package static func fingerprint(of provider: ProviderPublicKey) -> ContiguousArray<UInt8> {
        ContiguousArray(SHA256.digest(provider.bytes.span).prefix(PairingSecret.length))
    }
}

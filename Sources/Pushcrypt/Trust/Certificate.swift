/// A provider's statement which key signs its messages for one app: 121 bytes, as text 162 characters.
///
/// Every value has the form that T-1 asks for; a receiver verifies its signature. Certificates are ordered by
/// epoch, then by their bytes. (`Docs/FormatTrust.md`, Certificate)
///
///     off   len  field
///     0     1    version 0x01
///     1     4    epoch, 1 or more
///     5     4    floor, at most the epoch
///     9     8    grace until, milliseconds; 0 exactly if floor = epoch
///     17    8    expires at, milliseconds; 2^64 - 1: never
///     25    32   signing public key
///     57    64   signature by the provider key
public struct Certificate: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The length in bytes.
    public static let length = claimLength + Ed25519.signatureLength
    /// The length of the signed part.
    package static let claimLength = 57
    /// The length of the text in characters.
    package static let textLength = Base64URL.encodedLength(length)

    static let version: UInt8 = 0x01
    static let never = UInt64.max

    /// The 121 bytes.
    public let bytes: ContiguousArray<UInt8>

    /// Reads a certificate, without its signature.
    ///
    /// - Throws: `malformedCertificate`; `weakKey` for a signing key that fails the import check.
    public init(bytes: Span<UInt8>) throws(TrustError) {
        try Self.checkForm(bytes)
        guard Ed25519.isValidPublicKey(bytes.extracting(Self.signingKeyRange)) else {
            throw TrustError(.weakKey, "the certificate's signing key is weak: signatures under it could be forged")
        }
        self.init(checked: ContiguousArray(copying: bytes))
    }

    /// Creates a certificate from bytes that were one before: read from an authenticated row, or made here.
    package init(checked bytes: ContiguousArray<UInt8>) {
        precondition(bytes.count == Self.length)
        self.bytes = bytes
    }

    /// Parses 162 characters of base64url.
    ///
    /// - Throws: `malformedCertificate` or `weakKey`.
    public init(text: String) throws(TrustError) {
        let characters = ContiguousArray(text.utf8)
        guard let bytes = Base64URL.decode(characters.span) else {
            throw Self.malformed("it is not \(Self.textLength) characters of base64url")
        }
        try self.init(bytes: bytes.span)
    }

    /// Parses 162 characters of base64url; returns nil if they are no certificate.
    public init?(_ description: String) {
        guard let certificate = try? Certificate(text: description) else { return nil }
        self = certificate
    }

    /// The certificate as base64url.
    public var description: String { Base64URL.string(bytes.span) }

    // MARK: Fields

    static let signingKeyRange = 25..<claimLength

    /// The number of the certificate: the highest that a phone has seen counts.
    public var epoch: UInt32 { bytes.span.bigEndian(at: 1) }
    /// The lowest epoch whose messages still open.
    package var floor: UInt32 { bytes.span.bigEndian(at: 5) }
    /// The end of the epochs before this one; nil if the floor has ended them.
    package var graceUntil: Timestamp? {
        let time: UInt64 = bytes.span.bigEndian(at: 9)
        return time == 0 ? nil : Timestamp(milliseconds: time)
    }
    /// The end of this one; nil for none.
    public var expiresAt: Timestamp? {
        let time: UInt64 = bytes.span.bigEndian(at: 17)
        return time == Self.never ? nil : Timestamp(milliseconds: time)
    }
    /// The key that signs messages.
    package var signingKey: SigningPublicKey {
        SigningPublicKey(checked: ContiguousArray(bytes[Self.signingKeyRange]))
    }

    /// The bytes that the provider key has signed, besides its own name and the app's.
    package var claim: ContiguousArray<UInt8> { ContiguousArray(bytes[..<Self.claimLength]) }

    /// Compares epochs, then bytes.
    public static func < (a: Certificate, b: Certificate) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }

    /// Whether both have one epoch and differ in what they say.
    package func conflicts(with other: Certificate) -> Bool {
        epoch == other.epoch && bytes[..<Self.claimLength] != other.bytes[..<Self.claimLength]
    }
}

// MARK: Rules

extension Certificate {
    /// T-1, without the signing key.
    private static func checkForm(_ bytes: Span<UInt8>) throws(TrustError) {
        guard bytes.count == length else { throw malformed("it has \(bytes.count) bytes instead of \(length)") }
        guard bytes[0] == version else {
            throw malformed("it has version \(bytes[0]), and this library supports \(version)")
        }
        let (epoch, floor): (UInt32, UInt32) = (bytes.bigEndian(at: 1), bytes.bigEndian(at: 5))
        let grace: UInt64 = bytes.bigEndian(at: 9)
        guard epoch > 0 else { throw malformed("its epoch is 0") }
        guard floor <= epoch else { throw malformed("its floor is above its epoch") }
        guard (grace == 0) == (floor == epoch) else {
            throw malformed(
                grace == 0 ? "it leaves earlier epochs without an end" : "it has a grace for epochs that it ends")
        }
    }

    /// Verifies the certificate under a provider key, for one app. (T-1, T-2)
    ///
    /// - Throws: `weakKey` if the signing key is the provider key itself; `badSignature`.
    package func check(for provider: ProviderPublicKey, topic: Topic) throws(TrustError) {
        let (bytes, key) = (bytes, provider.bytes)
        guard bytes[Self.signingKeyRange] != key[...] else { throw Self.isProviderKey }
        let message = Self.message(bytes.span.extracting(0..<Self.claimLength), by: provider, topic)
        guard
            Ed25519.isValid(
                bytes.span.extracting(Self.claimLength..<Self.length), for: message.span, publicKey: key.span)
        else { throw .badSignature }
    }

    /// Returns the message to sign:
    ///
    ///     "pushcrypt/1 certificate" || 0x00 || provider public key || lp16(context) || certificate[0..<57]
    static func message(
        _ claim: Span<UInt8>, by provider: ProviderPublicKey, _ topic: Topic
    ) -> ContiguousArray<UInt8> {
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 certificate\0")
        message.append(contentsOf: provider.bytes)
        message.append(contentsOf: topic.lengthPrefixed)
        message.append(copying: claim)
        return message
    }

    static let isProviderKey = TrustError(
        .weakKey, "the certificate's signing key is the provider key itself: each needs its own")

    static func malformed(_ fault: String) -> TrustError {
        TrustError(.malformedCertificate, "the certificate cannot be read: \(fault); copy all of it")
    }
}

// MARK: Making

/// A certificate that the provider key has not signed yet.
package struct UnsignedCertificate: Hashable, Sendable {
    /// The key that is to sign the certificate.
    package let provider: ProviderPublicKey
    /// The app.
    package let topic: Topic
    /// The first 57 bytes.
    private let claim: ContiguousArray<UInt8>

    /// Writes what a plan says about a signing key.
    ///
    /// - Throws: `weakKey` if the signing key is the provider key.
    package init(
        _ plan: CertificatePlan, for signingKey: SigningPublicKey, provider: ProviderPublicKey, topic: Topic
    ) throws(TrustError) {
        precondition(plan.epoch > 0 && plan.floor <= plan.epoch, "no such certificate")
        precondition((plan.graceUntil == nil) == (plan.floor == plan.epoch), "a grace that does not fit the floor")
        guard signingKey.bytes != provider.bytes else { throw Certificate.isProviderKey }
        var claim: ContiguousArray<UInt8> = [Certificate.version]
        claim.append(bigEndian: plan.epoch)
        claim.append(bigEndian: plan.floor)
        claim.append(bigEndian: plan.graceUntil?.milliseconds ?? 0)
        claim.append(bigEndian: plan.expiresAt?.milliseconds ?? Certificate.never)
        claim.append(contentsOf: signingKey.bytes)
        self.claim = claim
        self.provider = provider
        self.topic = topic
    }

    /// The bytes to sign.
    package var message: ContiguousArray<UInt8> { Certificate.message(claim.span, by: provider, topic) }

    /// Adds a signature from elsewhere, and verifies it.
    ///
    /// - Throws: `badSignature`.
    package func signed(_ signature: ContiguousArray<UInt8>) throws(TrustError) -> Certificate {
        guard signature.count == Ed25519.signatureLength else { throw .badSignature }
        let certificate = Certificate(checked: claim + signature)
        try certificate.check(for: provider, topic: topic)
        return certificate
    }

    /// Signs.
    ///
    /// - Throws: `wrongCertificate` for another key than ``provider``.
    package func signed(by key: ProviderKey) throws(TrustError) -> Certificate {
        guard key.publicKey == provider else {
            throw TrustError(
                .wrongCertificate,
                "the certificate is for provider key \(provider.id), this is \(key.id): use the other one")
        }
        return Certificate(checked: claim + key.signature(of: message.span))
    }
}

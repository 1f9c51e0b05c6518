/// An error for a certificate, a pin, or a file about them, that is not accepted. (`Docs/FormatTrust.md`)
public struct TrustError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as programs read it, for example `bad-certificate-signature`.
        public let description: String

        init(_ code: String) { description = code }

        /// Not the 121 bytes of a certificate, or of an unknown version, or with fields that contradict each other.
        package static let malformedCertificate = Code("malformed-certificate")
        /// The signing key fails the import check, or is the provider key.
        package static let weakKey = Code("weak-key")
        /// The provider key did not sign the certificate for this app.
        package static let badSignature = Code("bad-certificate-signature")
        /// Another certificate has the same epoch: two machines have certified, or the provider key was stolen.
        package static let conflict = Code("certificate-conflict")
        /// The certificate is for another signing key, another provider or another app than the one needed.
        package static let wrongCertificate = Code("wrong-certificate")
        /// Not the file of a request for a certificate, or of the answer to one.
        package static let malformedRequest = Code("malformed-request")
        /// An account would have more than two pins.
        package static let tooManyPins = Code("too-many-pins")
        /// The last epoch was 2^32 − 1: only another provider key can go on.
        package static let epochsExhausted = Code("epochs-exhausted")

        /// Every code.
        package static let allCases: [Code] = [
            .malformedCertificate, .weakKey, .badSignature, .conflict, .wrongCertificate, .malformedRequest,
            .tooManyPins, .epochsExhausted,
        ]
    }

    /// The kind of error.
    public let code: Code
    /// The fault and the fix.
    public let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static let badSignature = TrustError(
        .badSignature, "the provider key did not sign this certificate for this app; check the key and the topic")
}

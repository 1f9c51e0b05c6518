/// An error for a certificate, a pin, or a file about them, that is not accepted. (`Docs/FormatTrust.md`)
public struct TrustError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedCertificate = "malformed-certificate"
            case weakKey = "weak-key"
            case badSignature = "bad-certificate-signature"
            case conflict = "certificate-conflict"
            case wrongCertificate = "wrong-certificate"
            case malformedRequest = "malformed-request"
            case tooManyPins = "too-many-pins"
            case epochsExhausted = "epochs-exhausted"
        }

        private let known: Known

        /// Not the 121 bytes of a certificate, or of an unknown version, or with fields that contradict each other.
        public static let malformedCertificate = Code(known: .malformedCertificate)
        /// The signing key fails the import check, or is the provider key.
        public static let weakKey = Code(known: .weakKey)
        /// The provider key did not sign the certificate for this app.
        public static let badSignature = Code(known: .badSignature)
        /// Another certificate has the same epoch: two machines have certified, or the provider key was stolen.
        public static let conflict = Code(known: .conflict)
        /// The certificate is for another signing key, another provider or another app than the one needed.
        public static let wrongCertificate = Code(known: .wrongCertificate)
        /// Not the file of a request for a certificate, or of the answer to one.
        public static let malformedRequest = Code(known: .malformedRequest)
        /// An account would have more than two pins.
        public static let tooManyPins = Code(known: .tooManyPins)
        /// The last epoch was 2^32 − 1: only another provider key can go on.
        public static let epochsExhausted = Code(known: .epochsExhausted)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `bad-certificate-signature`.
        public var description: String { known.rawValue }
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

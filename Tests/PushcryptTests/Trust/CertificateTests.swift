import Testing

@testable import Pushcrypt

/// The form and the signer of a certificate. (`Docs/FormatTrust.md`, T-1 to T-3)
@Suite struct CertificateTests {
    private let issuer: Issuer
    private let issued: Issuer.Issued

    init() throws {
        issuer = try Issuer()
        issued = try issuer.certificate(
            0x0102_0304, floor: 0x0102_0301, graceUntil: Timestamp(milliseconds: 0x0a0b),
            expiresAt: Timestamp(milliseconds: 0x0c0d))
    }

    private static func code(of bytes: Bytes) -> TrustError.Code? {
        do throws(TrustError) {
            _ = try Certificate(bytes: bytes.span)
            return nil
        } catch {
            return error.code
        }
    }

    /// The code with which a provider key and an app refuse bytes, or nil.
    private func refusal(of bytes: Bytes, by key: ProviderPublicKey? = nil, for topic: Topic? = nil) -> TrustError.Code?
    {
        do throws(TrustError) {
            try Certificate(bytes: bytes.span).check(
                for: key ?? issuer.provider.publicKey, topic: topic ?? issuer.topic)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func theProviderKeyIsNoSigningKey() throws {
        let key = SigningPublicKey(checked: issuer.provider.publicKey.bytes)
        let plan = CertificatePlan(epoch: 1, floor: 1, graceUntil: nil, expiresAt: nil)
        let error = #expect(throws: TrustError.self) {
            try UnsignedCertificate(plan, for: key, provider: issuer.provider.publicKey, topic: issuer.topic)
        }
        #expect(error?.code == .weakKey)
        // One that the provider key has signed all the same.
        var bytes = issued.certificate.bytes
        bytes.replaceSubrange(25..<57, with: key.bytes)
        let message = Certificate.message(
            bytes.span.extracting(0..<57), by: issuer.provider.publicKey, issuer.topic)
        bytes.replaceSubrange(57..., with: issuer.provider.signature(of: message.span))
        #expect(refusal(of: bytes) == .weakKey)
        // For another provider it is a key like any other.
        #expect(Self.code(of: bytes) == nil)
        #expect(refusal(of: bytes, by: try FormatFixture.provider(102).publicKey) == .badSignature)
    }

    @Test func aSignerElsewhereIsChecked() throws {
        let plan = CertificatePlan(epoch: 7, floor: 7, graceUntil: nil, expiresAt: nil)
        let unsigned = try UnsignedCertificate(
            plan, for: issued.key.publicKey, provider: issuer.provider.publicKey, topic: issuer.topic)
        let signature = issuer.provider.signature(of: unsigned.message.span)
        #expect(try unsigned.signed(signature) == unsigned.signed(by: issuer.provider))
        var wrong = signature
        wrong[0] ^= 1
        for signature in [wrong, Bytes(), Bytes(signature.dropLast()), signature + [0]] {
            let error = #expect(throws: TrustError.self) { try unsigned.signed(signature) }
            #expect(error?.code == .badSignature)
        }
        let error = #expect(throws: TrustError.self) { try unsigned.signed(by: ProviderKey()) }
        #expect(error?.code == .wrongCertificate)
    }
}

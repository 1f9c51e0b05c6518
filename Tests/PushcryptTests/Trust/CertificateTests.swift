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

    @Test func theTextIs162CharactersAndReadAsItStands() throws {
        let text = issued.certificate.description
        #expect(text.utf8.count == 162 && Certificate.textLength == 162)
        #expect(try Certificate(text: text) == issued.certificate && Certificate(text) == issued.certificate)
        for wrong in ["", String(text.dropLast()), text + "A", text + "=", text + "\n", String(text.dropLast()) + "_"] {
            let error = #expect(throws: TrustError.self) { try Certificate(text: wrong) }
            #expect(error?.code == .malformedCertificate && Certificate(wrong) == nil)
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

    /// By epoch first, then by all bytes, as one number.
    @Test func certificatesHaveOneOrder() throws {
        let low = try issuer.certificate(0xff, floor: 0xff).certificate
        let high = try issuer.certificate(0x100, floor: 0).certificate
        #expect(low < high && !(high < low) && !(low < low))
        let a = try issuer.certificate(5, floor: 1).certificate
        let b = try issuer.certificate(5, floor: 2).certificate
        #expect(a < b && a.conflicts(with: b) && b.conflicts(with: a) && !a.conflicts(with: a))
        #expect(!low.conflicts(with: high))
        // Another signature of the same claim: no conflict, and an order all the same.
        var bytes = a.bytes
        bytes[120] ^= 1
        let again = Certificate(checked: bytes)
        #expect(!a.conflicts(with: again) && a != again && (a < again) != (again < a))
    }

    /// Codes are for programs, and their order is that of the checks.
    @Test func theCodesAreTheNamesThatProgramsKnow() {
        #expect(
            TrustError.Code.allCases.map(\.description) == [
                "malformed-certificate", "weak-key", "bad-certificate-signature", "certificate-conflict",
                "wrong-certificate", "malformed-request", "too-many-pins", "epochs-exhausted",
            ])
    }
}

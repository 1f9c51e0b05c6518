import Testing

@testable import Pushcrypt

/// What is a certificate, and of whom. (`Docs/FormatTrust.md`, T-1 to T-3)
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

    @Test func theFieldsAreWhereTheFormatPutsThem() throws {
        let certificate = issued.certificate
        #expect(certificate.bytes.count == 121 && Certificate.length == 121)
        let head: Hex = "0101020304010203010000000000000a0b0000000000000c0d"
        #expect(Bytes(certificate.bytes[..<25]) == head.bytes)
        #expect(Bytes(certificate.bytes[25..<57]) == issued.key.publicKey.bytes)
        #expect(certificate.epoch == 0x0102_0304 && certificate.floor == 0x0102_0301)
        #expect(certificate.graceUntil?.milliseconds == 0x0a0b && certificate.expiresAt?.milliseconds == 0x0c0d)
        #expect(certificate.signingKey == issued.key.publicKey && certificate.claim == Bytes(certificate.bytes[..<57]))
        let message =
            Bytes("pushcrypt/1 certificate".utf8) + [0] + issuer.provider.publicKey.bytes + [0, 15]
            + Bytes("com.example.app".utf8) + certificate.claim
        let signature = Bytes(certificate.bytes[57...])
        let key = issuer.provider.publicKey.bytes
        let isSigned = Ed25519.isValid(signature.span, for: message.span, publicKey: key.span)
        #expect(isSigned)
        let ended = try issuer.certificate(9, floor: 9).certificate
        #expect(ended.graceUntil == nil && ended.expiresAt == nil)
        #expect(ended.bytes[9..<17].allSatisfy { $0 == 0 } && ended.bytes[17..<25].allSatisfy { $0 == 0xff })
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

    @Test func whatIsCutOrLongerIsNone() {
        let bytes = issued.certificate.bytes
        for count in 0..<bytes.count { #expect(Self.code(of: Bytes(bytes[..<count])) == .malformedCertificate) }
        #expect(Self.code(of: bytes + [0]) == .malformedCertificate)
    }

    @Test func everyFlippedBitIsNoticed() {
        let bytes = issued.certificate.bytes
        #expect(refusal(of: bytes) == nil)
        for position in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[position] ^= 1 << UInt8(bit)
                #expect(refusal(of: changed) != nil, "bit \(bit) of byte \(position)")
            }
        }
    }

    /// Version, epoch, floor, grace until.
    @Test(
        arguments: [
            (0, 5, 3, 1, false), (2, 5, 3, 1, false), (0xff, 5, 3, 1, false), (1, 0, 0, 0, false), (1, 0, 0, 1, false),
            (1, 1, 0, 1, true), (1, 1, 0, 0, false), (1, 1, 1, 0, true), (1, 1, 1, 1, false), (1, 1, 2, 0, false),
            (1, 1, 2, 1, false), (1, .max, .max, 0, true), (1, .max, .max - 1, .max, true),
            (1, .max, .max, .max, false), (1, .max - 1, .max, 1, false), (1, .max, 0, 1, true),
        ] as [(UInt8, UInt32, UInt32, UInt64, Bool)])
    func theNumbersMustFitTogether(_ version: UInt8, _ epoch: UInt32, _ floor: UInt32, _ grace: UInt64, _ isOne: Bool) {
        var bytes: Bytes = [version]
        bytes.append(bigEndian: epoch)
        bytes.append(bigEndian: floor)
        bytes.append(bigEndian: grace)
        bytes += issued.certificate.bytes[17...]
        #expect(Self.code(of: bytes) == (isOne ? nil : .malformedCertificate))
    }

    /// Of order 1, 8 and 2L, not canonical, and not on the curve: no provider key may be one either.
    @Test(
        arguments: [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "9599999999999999999999999999999999999999999999999999999999999999",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0200000000000000000000000000000000000000000000000000000000000000",
        ] as [Hex])
    func aWeakSigningKeyIsRefused(_ point: Hex) {
        var bytes = issued.certificate.bytes
        bytes.replaceSubrange(25..<57, with: point.bytes)
        #expect(Self.code(of: bytes) == .weakKey)
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

    @Test func itIsOfOneProviderAndOneApp() throws {
        let bytes = issued.certificate.bytes
        #expect(refusal(of: bytes, by: try FormatFixture.provider(102).publicKey) == .badSignature)
        #expect(refusal(of: bytes, for: try Topic("com.example.ap")) == .badSignature)
        #expect(refusal(of: bytes, for: try Topic("com.example.App")) == .badSignature)
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

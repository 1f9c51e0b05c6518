import Testing

@testable import Pushcrypt

/// A certificate from a machine that alone has the provider key: the request, the answer, and what goes wrong between
/// them. (`Docs/FormatTrust.md`, Rotation)
@Suite struct CertificateRequestTests {
    private static let now = FormatFixture.now

    private let issuer: Issuer
    private let key = SigningKey()
    private let request: CertificateRequest

    init() throws {
        issuer = try Issuer()
        let past = CertificatePlan.PastEpoch(
            try issuer.certificate(3).certificate, replacedAt: Self.now.subtracting(.days(5)))
        let zero = CertificatePlan.PastEpoch(nil, replacedAt: Self.now.subtracting(.days(50)))
        request = CertificateRequest(
            topic: issuer.topic, provider: issuer.provider.publicKey, signingKey: key.publicKey, expires: .days(90),
            current: try issuer.certificate(5).certificate, past: [zero, past])
    }

    private static func code(of json: String) -> TrustError.Code? {
        do throws(TrustError) {
            _ = try CertificateRequest(json: Bytes(json.utf8))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func aRequestAndItsAnswerAreReadAsTheyStand() throws {
        #expect(try CertificateRequest(json: request.json) == request)
        let signed = try request.certify(by: issuer.provider, at: Self.now)
        #expect(try SignedCertificate(json: signed.json) == signed)
        try signed.check(answers: request)
        #expect(signed.certificate.signingKey == key.publicKey && signed.certificate.floor == 3)
        #expect(signed.certificate.epoch == UInt32(Self.now.milliseconds / 1000))
        #expect(signed.certificate.graceUntil == Self.now.adding(.days(38)))
        #expect(signed.certificate.expiresAt == Self.now.adding(.days(90)))
        let text = jsonText(signed.json)
        #expect(
            text
                == #"{"version":1,"topic":"com.example.app","provider":"\#(issuer.provider.publicKey)","certificate":"\#(signed.certificate)"}"#
        )
    }

    @Test func everyMemberTravels() throws {
        let proven = try issuer.certificate(9, floor: 9).certificate
        for request in [
            CertificateRequest(
                topic: issuer.topic, provider: issuer.provider.publicKey, signingKey: key.publicKey, current: nil),
            CertificateRequest(
                topic: issuer.topic, provider: issuer.provider.publicKey, signingKey: key.publicKey, .stolen,
                current: request.current, proven: proven),
        ] {
            #expect(try CertificateRequest(json: request.json) == request)
        }
        let stolen = CertificateRequest(
            topic: issuer.topic, provider: issuer.provider.publicKey, signingKey: key.publicKey, .stolen,
            current: request.current)
        let certificate = try stolen.certify(by: issuer.provider, at: Self.now).certificate
        #expect(certificate.floor == certificate.epoch)
    }

    @Test func nullCountsAsAbsentAndOtherMembersAreIgnored() throws {
        let json = #"""
            {"version":1,"topic":"com.example.app","provider":"\#(issuer.provider.publicKey)",
             "signing_key":"\#(key.publicKey.text)","expires":null,"stolen":null,"current":null,"past":null,
             "proven":null,"later":[1]}
            """#
        let read = try CertificateRequest(json: Bytes(json.utf8))
        #expect(read.kind == .planned && read.expires == nil && read.current == nil && read.past.isEmpty)
    }

    @Test func whatIsNoRequestIsRefused() throws {
        let json = jsonText(request.json)
        #expect(Self.code(of: json) == nil)
        let (current, past) = (try #require(request.current).description, try #require(request.past[1].certificate))
        let provider = issuer.provider.publicKey.description
        for (old, new, code) in [
            (#""version":1"#, #""version":2"#, TrustError.Code.malformedRequest),
            (#""version":1,"#, "", .malformedRequest),
            ("com.example.app", "com example", .malformedRequest), (provider, "pcs1", .malformedRequest),
            (key.publicKey.text, "AA", .malformedRequest), ("\"\(key.publicKey.text)\"", "1", .malformedRequest),
            (key.publicKey.text, "AQ" + String(repeating: "A", count: 41), .weakKey),
            (#""expires":7776000"#, #""expires":"90d""#, .malformedRequest),
            (#""expires":7776000"#, #""expires":-1"#, .malformedRequest),
            (#""expires":7776000"#, #""stolen":1"#, .malformedRequest),
            ("\"\(current)\"", "{}", .malformedRequest), (current, String(current.dropLast()), .malformedCertificate),
            (past.description, "A", .malformedCertificate), (#""replaced":"#, #""replace":"#, .malformedRequest),
            (#""past":["#, #""past":[1,"#, .malformedRequest),
        ] {
            let changed = json.replacing(old, with: new)
            #expect(changed != json && Self.code(of: changed) == code, "\(new) for \(old)")
        }
        let epoch = #"{"replaced":1}"#
        let many = { (count: Int) in
            json.replacing(#""past":["#, with: #""past":["# + String(repeating: epoch + ",", count: count - 2))
        }
        #expect(Self.code(of: many(64)) == nil && Self.code(of: many(65)) == .malformedRequest)
        for json in ["", "[]", "{}", "null"] { #expect(Self.code(of: json) == .malformedRequest) }
    }

    /// A request is no answer, an answer no request, and the texts say which is which.
    @Test func theTwoFilesAreNotConfused() throws {
        let signed = try request.certify(by: issuer.provider, at: Self.now)
        let asked = #expect(throws: TrustError.self) { try CertificateRequest(json: signed.json) }
        #expect(asked?.code == .malformedRequest && asked?.description.contains("install") == true)
        let answered = #expect(throws: TrustError.self) { try SignedCertificate(json: request.json) }
        #expect(answered?.code == .malformedRequest && answered?.description.contains("certify") == true)
    }

    /// Only what the provider key has signed for this app decides about floor and epoch.
    @Test func whatTheProviderDidNotIssueIsNotCertified() throws {
        let stranger = Issuer(try FormatFixture.provider(102), issuer.topic)
        let elsewhere = Issuer(issuer.provider, try Topic("com.example.other"))
        let foreign = try [stranger.certificate(5).certificate, elsewhere.certificate(5).certificate]
        for certificate in foreign {
            let past = CertificatePlan.PastEpoch(certificate, replacedAt: Self.now)
            func request(
                _ current: Certificate?, _ past: [CertificatePlan.PastEpoch], _ proven: Certificate?
            ) -> CertificateRequest {
                CertificateRequest(
                    topic: issuer.topic, provider: issuer.provider.publicKey, signingKey: key.publicKey,
                    current: current, past: past, proven: proven)
            }
            for request in [request(certificate, [], nil), request(nil, [past], nil), request(nil, [], certificate)] {
                let error = #expect(throws: TrustError.self) { try request.certify(by: issuer.provider, at: Self.now) }
                #expect(error?.code == .badSignature)
            }
        }
        let error = #expect(throws: TrustError.self) { try request.certify(by: ProviderKey(), at: Self.now) }
        #expect(error?.code == .wrongCertificate)
        let own = CertificateRequest(
            topic: issuer.topic, provider: issuer.provider.publicKey,
            signingKey: SigningPublicKey(checked: issuer.provider.publicKey.bytes), current: nil)
        let weak = #expect(throws: TrustError.self) { try own.certify(by: issuer.provider, at: Self.now) }
        #expect(weak?.code == .weakKey)
        let exhausted = #expect(throws: TrustError.self) {
            try CertificateRequest(
                topic: issuer.topic, provider: issuer.provider.publicKey, signingKey: key.publicKey,
                current: issuer.certificate(.max).certificate
            ).certify(by: issuer.provider, at: Self.now)
        }
        #expect(exhausted?.code == .epochsExhausted)
    }

    @Test func anAnswerIsVerifiedAndBelongsToItsRequest() throws {
        let signed = try request.certify(by: issuer.provider, at: Self.now)
        let stranger = try FormatFixture.provider(102).publicKey
        let text = jsonText(signed.json)
        for changed in [
            text.replacing("\(signed.provider)", with: "\(stranger)"),
            text.replacing("com.example.app", with: "com.example.other"),
        ] {
            let error = #expect(throws: TrustError.self) { try SignedCertificate(json: Bytes(changed.utf8)) }
            #expect(error?.code == .badSignature)
        }
        let others = [
            CertificateRequest(
                topic: try Topic("com.example.other"), provider: signed.provider, signingKey: key.publicKey,
                current: nil),
            CertificateRequest(topic: issuer.topic, provider: stranger, signingKey: key.publicKey, current: nil),
            CertificateRequest(
                topic: issuer.topic, provider: signed.provider, signingKey: SigningKey().publicKey, current: nil),
        ]
        for other in others {
            let error = #expect(throws: TrustError.self) { try signed.check(answers: other) }
            #expect(error?.code == .wrongCertificate)
        }
        for json in ["", "{}", #"{"version":1}"#, text.replacing(#""certificate":"#, with: #""certificat":"#)] {
            let error = #expect(throws: TrustError.self) { try SignedCertificate(json: Bytes(json.utf8)) }
            #expect(error?.code == .malformedRequest)
        }
    }

    // MARK: Credentials

    @Test func aCredentialIsThreeLines() throws {
        let signed = try request.certify(by: issuer.provider, at: Self.now)
        let credential = try SigningCredential(key, signed.certificate, by: signed.provider)
        let text = credential.withText { Bytes(copying: $0) }
        let secret = key.withText { String(decoding: Bytes(copying: $0), as: UTF8.self) }
        #expect(jsonText(text) == "\(secret)\n\(signed.certificate)\n\(signed.provider)")
        for text in [text, text + [UInt8(ascii: "\n")]] {
            let read = try SigningCredential(text: text.span)
            #expect(read.key.publicKey == key.publicKey && read.certificate == signed.certificate)
            #expect(read.provider == signed.provider)
        }
    }

    @Test func aCredentialThatIsWrongSaysWhere() throws {
        let signed = try request.certify(by: issuer.provider, at: Self.now)
        let secret = key.withText { String(decoding: Bytes(copying: $0), as: UTF8.self) }
        let other = SigningKey().withText { String(decoding: Bytes(copying: $0), as: UTF8.self) }
        let own = issuer.provider.withText { String(decoding: Bytes(copying: $0), as: UTF8.self) }
        let (certificate, provider) = ("\(signed.certificate)", "\(signed.provider)")
        func code(_ text: String) -> String? {
            let bytes = Bytes(text.utf8)
            do {
                _ = try SigningCredential(text: bytes.span)
                return nil
            } catch let error as KeyError {
                return "\(error.code)"
            } catch let error as TrustError {
                return "\(error.code)"
            } catch {
                return "\(error)"
            }
        }
        for (lines, expected) in [
            ([secret, certificate, provider], nil), ([other, certificate, provider], "wrong-certificate"),
            ([secret, certificate], "malformed-certificate"), ([secret], "malformed-certificate"),
            ([secret, certificate, provider, ""], "malformed-certificate"),
            ([secret, String(certificate.dropLast()), provider], "malformed-certificate"),
            ([secret, certificate, provider + "x"], "malformed-key"),
            ([own, certificate, provider], "wrong-kind-of-key"),
            ([], "malformed-key"), ([secret, certificate, secret], "wrong-kind-of-key"),
            ([secret, provider, certificate], "malformed-certificate"),
        ] as [([String], String?)] {
            #expect(code(lines.map { $0 + "\n" }.joined()) == expected, "\(lines.count) lines")
        }
    }

    /// A sealer that trusted its file blindly would send what no phone opens.
    @Test func aCredentialOfAnotherAppOrProviderDoesNotSeal() throws {
        let signed = try request.certify(by: issuer.provider, at: Self.now)
        let credential = try SigningCredential(key, signed.certificate, by: signed.provider)
        let foreign = try SigningCredential(key, signed.certificate, by: FormatFixture.provider(102).publicKey)
        #expect(try EnvelopeSigner(credential, for: issuer.topic).epoch == signed.certificate.epoch)
        for (credential, topic) in [(credential, try Topic("com.example.other")), (foreign, issuer.topic)] {
            let error = #expect(throws: TrustError.self) { try EnvelopeSigner(credential, for: topic) }
            #expect(error?.code == .badSignature)
        }
    }
}

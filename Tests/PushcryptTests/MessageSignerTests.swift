import Testing

@testable import Pushcrypt

/// A key that is in a service: what it is asked, what it can do wrong, and what becomes of the messages.
@Suite struct MessageSignerTests {
    typealias Answer = SigningService.Answer

    /// The label that is signed when a sealer is made.
    static let hedgeLabel = Bytes("pushcrypt/1 hedge seed\0".utf8)

    private let fixture: FormatFixture

    init() throws {
        fixture = try FormatFixture()
    }

    /// Answers as it should when a sealer is made, and with `answer` afterwards.
    private func sealer(_ answer: @escaping Answer) throws -> Sealer {
        let service = SigningService(key: fixture.provider) { (key, messages) throws(SigningError) in
            messages == [Self.hedgeLabel] ? SigningService.sign(key, messages) : try answer(key, messages)
        }
        return Sealer(signer: try .connect(to: service), topic: fixture.topic)
    }

    private func message(_ payload: String = alertPayload()) -> Sealer.Message {
        Sealer.Message(payload.utf8, to: fixture.device.publicKey, at: FormatFixture.now)
    }

    @Test func whatAServiceSignedOpens() throws {
        let sealer = try sealer { (key, messages) throws(SigningError) in SigningService.sign(key, messages) }
        let sealed = try sealer.seal(alertPayload().utf8, to: fixture.device.publicKey, at: FormatFixture.now)
        #expect(try fixture.opener().open(sealed.json, at: FormatFixture.now).payload == Bytes(alertPayload().utf8))
    }

    /// A small message, and nothing of the notification in it.
    @Test func aServiceSeesKeysTheAppAndAHash() throws {
        let seen = Recorder()
        let sealer = try sealer { (key, messages) throws(SigningError) in
            seen.record(messages)
            return SigningService.sign(key, messages)
        }
        for length in [21, 2596] {
            let payload = alertPayload(count: length)
            let sealed = try sealer.seal(payload.utf8, to: fixture.device.publicKey, at: FormatFixture.now)
            let signed = try #require(seen.batches.last?.first)
            #expect(signed.count == 193 + "com.example.app".utf8.count)
            let known =
                Bytes("pushcrypt/1 signature\0".utf8) + sealed.envelope.bytes[0..<37] + fixture.device.publicKey.bytes
                + fixture.provider.publicKey.bytes + fixture.provider.publicKey.bytes + [0, 0, 0, 0] + [0, 15]
                + Bytes("com.example.app".utf8)
            #expect(signed.starts(with: known) && signed.count == known.count + 32)
        }
        #expect(seen.batches.count == 2)
    }

    @Test func manyMessagesAreSignedInBatchesOf256() throws {
        let seen = Recorder()
        let sealer = try sealer { (key, messages) throws(SigningError) in
            seen.record(messages)
            return SigningService.sign(key, messages)
        }
        let payloads = (0..<600).map { alertPayload("message \($0)") }
        let results = sealer.seal(payloads.map { message($0) })
        #expect(seen.batches.map(\.count) == [256, 256, 88])
        let opener = fixture.opener()
        for (payload, result) in zip(payloads, results) {
            #expect(try opener.open(result.get().json, at: FormatFixture.now).payload == Bytes(payload.utf8))
        }
    }

    /// With the key in this process there is nobody to ask, and the results are the same.
    @Test func manyMessagesWithAKeyInThisProcess() throws {
        let sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
        let results = sealer.seal([message("one"), message("{}"), message("two")])
        #expect(results.map { $0.failure?.code } == [.malformedPayload, .missingAPS, .malformedPayload])
        let sealed = sealer.seal([message(alertPayload("a")), message("{}"), message(alertPayload("b"))])
        let opener = fixture.opener()
        #expect(try opener.open(sealed[0].get().json, at: FormatFixture.now).payload == Bytes(alertPayload("a").utf8))
        #expect(sealed[1].failure?.code == .missingAPS)
        #expect(try opener.open(sealed[2].get().json, at: FormatFixture.now).payload == Bytes(alertPayload("b").utf8))
    }

    /// A refused message is not signed; the others are.
    @Test func aRefusedMessageStopsNoOther() throws {
        let seen = Recorder()
        let sealer = try sealer { (key, messages) throws(SigningError) in
            seen.record(messages)
            return SigningService.sign(key, messages)
        }
        var late = message()
        late.options.timeToLive = .seconds(0)
        let results = sealer.seal([message("{}"), message(alertPayload("a")), late, message(alertPayload("b"))])
        #expect(results.map { $0.failure?.code } == [.missingAPS, nil, .invalidTime, nil])
        #expect(seen.batches.map(\.count) == [2])
        let opener = fixture.opener()
        #expect(try opener.open(results[1].get().json, at: FormatFixture.now).payload == Bytes(alertPayload("a").utf8))
        #expect(try opener.open(results[3].get().json, at: FormatFixture.now).payload == Bytes(alertPayload("b").utf8))
        #expect(sealer.seal([message("{}")]).map { $0.failure?.code } == [.missingAPS])
        #expect(sealer.seal([]).isEmpty)
        #expect(seen.batches.count == 1, "the service is not asked for nothing")
    }

    @Test func aServicesFilesOpenToo() throws {
        let sealer = try sealer { (key, messages) throws(SigningError) in SigningService.sign(key, messages) }
        let plain = Bytes("a picture".utf8)
        var first = AttachmentSealer.FirstPass()
        first.update(plain.span)
        var second = first.sealer(for: sealer)
        var sealed = Bytes()
        try second.seal(plain.span, into: &sealed)
        let file = try second.finish(into: &sealed)
        var opener = AttachmentOpener(file)
        var opened = Bytes()
        try opener.open(sealed.span, into: &opened)
        try opener.finish(into: &opened)
        #expect(opened == plain)
    }

    // MARK: Faulty services

    struct Disorder: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The codes of four messages; nil for one that is sealed.
        let codes: [SigningError.Code?]
        let answer: Answer

        init(_ name: String, _ codes: [SigningError.Code?], _ answer: @escaping Answer) {
            testDescription = name
            self.codes = codes
            self.answer = answer
        }

        static let all = [
            Disorder("it is gone", all4(.signerUnavailable)) { (_, _) throws(SigningError) in
                throw SigningError(.signerUnavailable, "the connection was closed; start the service")
            },
            Disorder("it refuses", all4(.signerRefused)) { (_, _) throws(SigningError) in
                throw SigningError(.signerRefused, "no permission")
            },
            Disorder("it is slow", all4(.signerTimedOut)) { (_, _) throws(SigningError) in
                throw SigningError(.signerTimedOut, "no answer in 5 seconds")
            },
            Disorder("it signs with another key", all4(.wrongSignature)) { (_, messages) throws(SigningError) in
                SigningService.sign(ProviderKey(), messages)
            },
            Disorder("it gives nothing", all4(.wrongSignature)) { (_, _) throws(SigningError) in [] },
            Disorder("it gives one too few", all4(.wrongSignature)) { (key, messages) throws(SigningError) in
                Array(SigningService.sign(key, messages).dropLast())
            },
            Disorder("it gives one too many", all4(.wrongSignature)) { (key, messages) throws(SigningError) in
                SigningService.sign(key, messages) + SigningService.sign(key, [[1]])
            },
            Disorder("it cuts one short", [nil, .wrongSignature, nil, nil]) { (key, messages) throws(SigningError) in
                changed(SigningService.sign(key, messages)) { $0.removeLast() }
            },
            Disorder("it gives one byte too many", [nil, .wrongSignature, nil, nil]) {
                (key, messages) throws(SigningError) in changed(SigningService.sign(key, messages)) { $0.append(0) }
            },
            Disorder("it gives an empty one", [nil, .wrongSignature, nil, nil]) {
                (key, messages) throws(SigningError) in changed(SigningService.sign(key, messages)) { $0 = [] }
            },
            Disorder("it turns a bit", [nil, .wrongSignature, nil, nil]) { (key, messages) throws(SigningError) in
                changed(SigningService.sign(key, messages)) { $0[40] ^= 1 }
            },
            Disorder("it mixes two up", [.wrongSignature, .wrongSignature, nil, nil]) {
                (key, messages) throws(SigningError) in
                var signatures = SigningService.sign(key, messages)
                signatures.swapAt(0, 1)
                return signatures
            },
            Disorder("it signs a hash of the message", all4(.wrongSignature)) { (key, messages) throws(SigningError) in
                SigningService.sign(key, messages.map { SHA256.digest($0.span) })
            },
        ]

        private static func all4(_ code: SigningError.Code) -> [SigningError.Code?] { [code, code, code, code] }

        private static func changed(_ signatures: [Bytes], _ change: (inout Bytes) -> Void) -> [Bytes] {
            var signatures = signatures
            if signatures.count > 1 { change(&signatures[1]) } else { change(&signatures[0]) }
            return signatures
        }
    }

    @Test(arguments: Disorder.all) func nothingUnsignedLeaves(_ disorder: Disorder) throws {
        let sealer = try sealer(disorder.answer)
        let results = sealer.seal((0..<4).map { message(alertPayload("\($0)")) })
        #expect(results.map { $0.failure?.signing?.code } == disorder.codes)
        let opener = fixture.opener()
        for (index, result) in results.enumerated() where disorder.codes[index] == nil {
            let opened = try opener.open(result.get().json, at: FormatFixture.now)
            #expect(opened.payload == Bytes(alertPayload("\(index)").utf8))
        }
        for failure in results.compactMap(\.failure) {
            #expect(failure.code == .signingFailed)
            #expect(failure.description.hasPrefix("\(try #require(failure.signing).code): "))
        }
    }

    /// One message alone goes another way through the same checks.
    @Test(arguments: Disorder.all.filter { !$0.codes.contains(nil) }) func noneOfOne(_ disorder: Disorder) throws {
        let sealer = try sealer(disorder.answer)
        let error = #expect(throws: SealError.self) {
            try sealer.seal(alertPayload().utf8, to: fixture.device.publicKey, at: FormatFixture.now)
        }
        #expect(error?.code == .signingFailed && error?.signing?.code == disorder.codes[0])
    }

    /// The signature that the hedge key comes of is checked as well.
    @Test(arguments: Disorder.all.filter { !$0.codes.contains(nil) }) func noSealerOfASignerInDisorder(
        _ disorder: Disorder
    ) throws {
        let error = #expect(throws: SigningError.self) {
            _ = try EnvelopeSigner.connect(to: SigningService(key: fixture.provider, answer: disorder.answer))
        }
        #expect(error?.code == disorder.codes[0])
    }

    /// A service with a signing key seals what the key itself would, with its certificate.
    @Test func aSigningKeyMayBeInAService() throws {
        let issuer = try Issuer()
        let issued = try issuer.certificate(1)
        let service = SigningKeyService(key: issued.key)
        let signer = try EnvelopeSigner.connect(
            to: service, provider: issuer.provider.publicKey, certificate: issued.certificate, for: issuer.topic)
        #expect(signer.epoch == 1 && signer.isExternal && signer.publicKey == issued.key.publicKey.bytes)
        let sealed = try Sealer(signer: signer, topic: issuer.topic).seal(
            alertPayload().utf8, to: fixture.device.publicKey, at: FormatFixture.now)
        let opened = try fixture.opener().open(sealed.json, at: FormatFixture.now)
        #expect(opened.epoch == 1 && opened.certificate == issued.certificate)
    }

    /// A certificate for another key, another provider or another app is noticed before anything is sealed.
    @Test func aServiceWithAnotherKeyThanItsCertificateIsRefused() throws {
        let issuer = try Issuer()
        let issued = try issuer.certificate(1)
        let (own, other) = (issuer.provider.publicKey, try FormatFixture.provider(102).publicKey)
        let another = try Topic("com.example.ap")
        for (key, provider, topic, code) in [
            (SigningKey(), own, issuer.topic, TrustError.Code.wrongCertificate),
            (issued.key, other, issuer.topic, .badSignature), (issued.key, own, another, .badSignature),
        ] {
            let error = #expect(throws: TrustError.self) {
                try EnvelopeSigner.connect(
                    to: SigningKeyService(key: key), provider: provider, certificate: issued.certificate, for: topic)
            }
            #expect(error?.code == code)
        }
    }

    /// A public key that anybody could sign for is no provider key.
    @Test func aServiceWithAWeakKeyIsRefused() {
        struct Weak: MessageSigner {
            // The identity: S = 0 and R = the identity verify by the equation alone.
            let publicKey: Bytes = [1] + Bytes(repeating: 0, count: 31)

            func sign(_ messages: [Bytes]) throws(SigningError) -> [Bytes] {
                messages.map { _ in publicKey + Bytes(repeating: 0, count: 32) }
            }
        }
        let error = #expect(throws: SigningError.self) { _ = try EnvelopeSigner.connect(to: Weak()) }
        #expect(error?.code == .wrongSignature)
    }
}

/// Keeps what a service was asked.
private final class Recorder: @unchecked Sendable {
    // Each test asks from one thread.
    private(set) var batches: [[Bytes]] = []

    func record(_ batch: [Bytes]) { batches.append(batch) }
}

extension Result where Failure == SealError {
    /// Why there is no success.
    var failure: SealError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

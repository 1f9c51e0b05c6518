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
        let service = SigningService(key: fixture.sender) { (key, messages) throws(SigningError) in
            messages == [Self.hedgeLabel] ? key.sign(messages) : try answer(key, messages)
        }
        return Sealer(signer: try .connect(to: service), topic: fixture.topic)
    }

    private func message(_ payload: String = alertPayload()) -> Sealer.Message {
        Sealer.Message(payload.utf8, to: fixture.device.publicKey, at: FormatFixture.now)
    }

    @Test func whatAServiceSignedOpens() throws {
        let sealer = try sealer { (key, messages) throws(SigningError) in key.sign(messages) }
        let sealed = try sealer.seal(alertPayload().utf8, to: fixture.device.publicKey, at: FormatFixture.now)
        #expect(try fixture.opener().open(sealed.json, at: FormatFixture.now).payload == Bytes(alertPayload().utf8))
    }

    /// A small message, and nothing of the notification in it.
    @Test func aServiceSeesKeysTheAppAndAHash() throws {
        let seen = Recorder()
        let sealer = try sealer { (key, messages) throws(SigningError) in
            seen.record(messages)
            return key.sign(messages)
        }
        for length in [21, 2717] {
            let payload = alertPayload(count: length)
            let sealed = try sealer.seal(payload.utf8, to: fixture.device.publicKey, at: FormatFixture.now)
            let signed = try #require(seen.batches.last?.first)
            #expect(signed.count == 157 + "com.example.app".utf8.count)
            let known =
                Bytes("pushcrypt/1 signature\0".utf8) + sealed.envelope.bytes[0..<37] + fixture.device.publicKey.bytes
                + fixture.sender.publicKey.bytes + [0, 15] + Bytes("com.example.app".utf8)
            #expect(signed.starts(with: known) && signed.count == known.count + 32)
        }
        #expect(seen.batches.count == 2)
    }

    @Test func manyMessagesAreSignedInBatchesOf256() throws {
        let seen = Recorder()
        let sealer = try sealer { (key, messages) throws(SigningError) in
            seen.record(messages)
            return key.sign(messages)
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
        let sealer = Sealer(sender: fixture.sender, topic: fixture.topic)
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
            return key.sign(messages)
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
        let sealer = try sealer { (key, messages) throws(SigningError) in key.sign(messages) }
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
                ProviderKey().sign(messages)
            },
            Disorder("it gives nothing", all4(.wrongSignature)) { (_, _) throws(SigningError) in [] },
            Disorder("it gives one too few", all4(.wrongSignature)) { (key, messages) throws(SigningError) in
                Array(key.sign(messages).dropLast())
            },
            Disorder("it gives one too many", all4(.wrongSignature)) { (key, messages) throws(SigningError) in
                key.sign(messages) + key.sign([[1]])
            },
            Disorder("it cuts one short", [nil, .wrongSignature, nil, nil]) { (key, messages) throws(SigningError) in
                changed(key.sign(messages)) { $0.removeLast() }
            },
            Disorder("it gives one byte too many", [nil, .wrongSignature, nil, nil]) {
                (key, messages) throws(SigningError) in changed(key.sign(messages)) { $0.append(0) }
            },
            Disorder("it gives an empty one", [nil, .wrongSignature, nil, nil]) {
                (key, messages) throws(SigningError) in changed(key.sign(messages)) { $0 = [] }
            },
            Disorder("it turns a bit", [nil, .wrongSignature, nil, nil]) { (key, messages) throws(SigningError) in
                changed(key.sign(messages)) { $0[40] ^= 1 }
            },
            Disorder("it mixes two up", [.wrongSignature, .wrongSignature, nil, nil]) {
                (key, messages) throws(SigningError) in
                var signatures = key.sign(messages)
                signatures.swapAt(0, 1)
                return signatures
            },
            Disorder("it signs a hash of the message", all4(.wrongSignature)) { (key, messages) throws(SigningError) in
                key.sign(messages.map { SHA256.digest($0.span) })
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
            _ = try EnvelopeSigner.connect(to: SigningService(key: fixture.sender, answer: disorder.answer))
        }
        #expect(error?.code == disorder.codes[0])
    }

    /// A key in this process is not asked twice over: its hedge key is the one of the seed.
    @Test func aSenderKeyAsASignerIsTheKeyItself() throws {
        let direct = EnvelopeSigner(fixture.sender).hedged().finishPublic()
        let signer: any MessageSigner = fixture.sender
        let through = try EnvelopeSigner.connect(to: signer).hedged().finishPublic()
        #expect(direct == through)
    }

    // MARK: Rotations

    private func unsigned(to new: ProviderKey) throws -> UnsignedRotation {
        try UnsignedRotation(from: fixture.sender.publicKey, to: new.publicKey, at: FormatFixture.now)
    }

    @Test func servicesSignTheStatementThatKeysWould() throws {
        let new = try FormatFixture.sender(102)
        let statement = try unsigned(to: new).signed(
            by: SigningService(key: fixture.sender), and: SigningService(key: new))
        #expect(statement == (try RotationStatement(from: fixture.sender, to: new, at: FormatFixture.now)))
    }

    /// The new key signs first: what the old key has signed may be announced by anyone who sees it.
    @Test func theOldKeyIsNotAskedIfTheNewOneDoesNotSign() throws {
        let new = try FormatFixture.sender(102)
        let seen = Recorder()
        let old = SigningService(key: fixture.sender) { (key, messages) throws(SigningError) in
            seen.record(messages)
            return key.sign(messages)
        }
        for disorder in [
            SigningService(key: new) { (_, _) throws(SigningError) in [Bytes(repeating: 7, count: 64)] },
            SigningService(key: new) { (_, _) throws(SigningError) in [] },
            SigningService(key: fixture.sender),
        ] {
            let error = #expect(throws: SigningError.self) { _ = try unsigned(to: new).signed(by: old, and: disorder) }
            #expect(error?.code == .wrongSignature)
        }
        #expect(seen.batches.isEmpty)
        let error = #expect(throws: SigningError.self) { _ = try unsigned(to: new).signed(by: new, and: new) }
        #expect(error?.code == .wrongSignature)
        _ = try unsigned(to: new).signed(by: old, and: new)
        #expect(seen.batches.map { $0.map(\.count) } == [[107]])
    }

    @Test func aRotationThatNobodyWouldAcceptIsNotPrepared() {
        let (old, new) = (fixture.sender.publicKey, ProviderKey().publicKey)
        for (key, overlap, code) in [
            (old, Interval.days(1), RotationError.Code.supersededKey), (new, .seconds(5_184_001), .overlapTooLong),
        ] {
            let error = #expect(throws: RotationError.self) {
                _ = try UnsignedRotation(from: old, to: key, at: FormatFixture.now, overlap: overlap)
            }
            #expect(error?.code == code)
        }
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

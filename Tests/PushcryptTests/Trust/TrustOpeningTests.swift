import Testing

@testable import Pushcrypt

/// Step 5 of opening, with messages that no sealer writes: who may sign what. (`Docs/Format.md`, O-5.1 to O-5.6, O-9.1;
/// `Docs/FormatTrust.md`, T-4)
@Suite struct TrustOpeningTests {
    private let fixture: FormatFixture
    private let issuer: Issuer
    private let issued: Issuer.Issued

    init() throws {
        fixture = try FormatFixture()
        issuer = try Issuer()
        issued = try issuer.certificate(5)
    }

    private func trust(_ learned: LearnedTrust = LearnedTrust()) -> ProviderTrust {
        ProviderTrust([ProviderTrust.Pin(issuer.provider.publicKey, learned)])
    }

    private func message(_ change: (inout CraftedMessage) -> Void = { _ in }) -> CraftedMessage {
        CraftedMessage(issued, by: issuer).with(change)
    }

    @Test func aMessageBringsItsCertificate() throws {
        let opened = try fixture.open(message()).get()
        #expect(opened.provider == issuer.provider.publicKey && opened.epoch == 5)
        #expect(opened.certificate == issued.certificate && opened.learned == LearnedTrust(issued.certificate))
        #expect(jsonText(opened.payload) == alertPayload() && !opened.hasCertificateConflict)
        // To a phone that knows it, it is no news.
        let again = try fixture.open(message(), trust: trust(opened.learned)).get()
        #expect(again.certificate == nil && again.learned == opened.learned && again.epoch == 5)
    }

    @Test func theProviderKeySignsAtEpoch0() throws {
        let own = CraftedMessage(by: issuer.provider, issuer.topic)
        #expect(try fixture.open(own).get().epoch == 0)
        #expect(try fixture.open(own).get().learned == LearnedTrust())
    }

    /// Each is signed, whatever it says, by the key that the format would take, unless it says otherwise.
    private func forgeries() throws -> [(String, CraftedMessage)] {
        let own = CraftedMessage(by: issuer.provider, issuer.topic)
        let other = try issuer.certificate(6)
        let stranger = Issuer(try FormatFixture.provider(102), issuer.topic)
        let foreign = try stranger.certificate(5)
        let elsewhere = try Issuer(issuer.provider, Topic("com.example.other")).certificate(5)
        let provider = issuer.provider
        let byProvider: @Sendable (Bytes) -> Bytes = { provider.signature(of: $0.span) }
        var malformed = issued.certificate.bytes
        malformed[9] ^= 1
        return [
            ("no certificate", message { ($0.certificate, $0.kind) = ([], 0x01) }),
            (
                "no certificate, and the provider key has signed",
                own.with { $0.epoch = 5 }
            ),
            (
                "no certificate, and the provider key has signed as the signing key",
                message { ($0.certificate, $0.kind, $0.sign) = ([], 0x01, byProvider) }
            ),
            ("the bit without a certificate", message { ($0.certificate, $0.payload) = ([], Bytes("{}".utf8)) }),
            ("a certificate without its bit", message { $0.kind = 0x01 }),
            ("a certificate at epoch 0", message { $0.epoch = 0 }),
            (
                "a certificate at epoch 0, by the provider key",
                own.with {
                    ($0.kind, $0.certificate) = (0x81, issued.certificate.bytes)
                }
            ),
            ("the bit at epoch 0", own.with { $0.kind = 0x81 }),
            ("another epoch than its certificate's", message { $0.epoch = 6 }),
            ("another epoch under the signature", message { $0.signedEpoch = 6 }),
            ("another epoch's certificate", message { $0.certificate = other.certificate.bytes }),
            (
                "another epoch's certificate, with its epoch",
                message { ($0.certificate, $0.epoch) = (other.certificate.bytes, 6) }
            ),
            ("the provider key instead of the signing key", message { $0.sign = byProvider }),
            (
                "the provider key, named as signing key",
                message { ($0.sign, $0.signing) = (byProvider, provider.publicKey.bytes) }
            ),
            ("another signing key under the signature", message { $0.signing = other.key.publicKey.bytes }),
            (
                "another provider under the signature", message { $0.provider = stranger.provider.publicKey.bytes }
            ),
            ("another app under the signature", message { $0.topic = (try? Topic("com.example.other")) ?? $0.topic }),
            ("another provider's certificate", CraftedMessage(foreign, by: issuer)),
            ("another app's certificate", CraftedMessage(elsewhere, by: issuer)),
            ("a stranger", CraftedMessage(by: stranger.provider, issuer.topic)),
            ("a stranger with its certificate", CraftedMessage(foreign, by: stranger)),
            ("a certificate that is none", message { $0.certificate = malformed }),
            ("a certificate that is cut", message { $0.certificate.removeLast() }),
            ("bit 4 of the kind", message { $0.kind |= 0x10 }), ("bit 5 of the kind", message { $0.kind |= 0x20 }),
            ("bit 6 of the kind", message { $0.kind |= 0x40 }), ("bit 6 at epoch 0", own.with { $0.kind |= 0x40 }),
            ("a body that ends in its certificate", message { $0.bodyLength = 120 }),
            ("a body beyond the end", message { $0.bodyLength = 512 - 99 + 1 }),
            ("a padding that is not zero", message { $0.padding = 1 }),
        ]
    }

    @Test func nothingElseOpens() throws {
        var texts: Set<String> = []
        for (name, message) in try forgeries() {
            for learned in [LearnedTrust(), LearnedTrust(issued.certificate)] {
                guard case .failure(let error) = try fixture.open(message, trust: trust(learned)) else {
                    Issue.record("opened: \(name)")
                    continue
                }
                #expect(error.code == .authenticationFailed, "\(name)")
                texts.insert(error.description)
            }
        }
        // Nobody learns which check it was.
        #expect(texts.count == 1)
    }

    /// The first 121 bytes are the certificate; whatever follows is the payload, even another one.
    @Test func aSecondCertificateIsNoPayload() throws {
        let twice = message { $0.payload = self.issued.certificate.bytes + $0.payload }
        #expect(try fixture.open(twice).code == .malformedPayload)
        let own = CraftedMessage(by: issuer.provider, issuer.topic).with {
            $0.payload = self.issued.certificate.bytes + $0.payload
        }
        #expect(try fixture.open(own).code == .malformedPayload)
    }

    @Test func everyChangedBitOfTheCertificateIsNoticed() throws {
        for position in issued.certificate.bytes.indices {
            let changed = message { $0.certificate[position] ^= 1 << UInt8(position % 8) }
            #expect(try fixture.open(changed).code == .authenticationFailed, "byte \(position)")
        }
    }

    /// A certificate that is not stored is verified, and one that is stored under another pin as well.
    @Test func aStoredCertificateCountsForItsPinAlone() throws {
        let stranger = try FormatFixture.provider(102)
        let forged = Issuer.Issued(
            certificate: try Issuer(stranger, issuer.topic).certificate(5, key: 66).certificate, key: issued.key)
        let pins = [
            ProviderTrust.Pin(stranger.publicKey, LearnedTrust(issued.certificate)),
            ProviderTrust.Pin(issuer.provider.publicKey, LearnedTrust(forged.certificate)),
        ]
        let opened = try fixture.open(message(), trust: ProviderTrust(pins)).get()
        #expect(opened.provider == issuer.provider.publicKey && opened.hasCertificateConflict)
    }

    /// A stored certificate was verified before: its signature is not checked again, as this false one shows.
    @Test func aStoredCertificateIsComparedAndNotVerified() throws {
        var bytes = issued.certificate.bytes
        bytes[120] ^= 1
        let stored = Certificate(checked: bytes)
        let message = message { $0.certificate = stored.bytes }
        #expect(try fixture.open(message, trust: trust(LearnedTrust(stored))).code == nil)
        #expect(try fixture.open(message).code == .authenticationFailed)
    }

    @Test func theFirstPinThatHoldsIsTheProvider() throws {
        let stranger = Issuer(try FormatFixture.provider(102), issuer.topic)
        let foreign = try stranger.certificate(5)
        let pins = ProviderTrust(pinned: [issuer.provider.publicKey, stranger.provider.publicKey])
        #expect(try fixture.open(message(), trust: pins).get().provider == issuer.provider.publicKey)
        let other = try fixture.open(CraftedMessage(foreign, by: stranger), trust: pins).get()
        #expect(other.provider == stranger.provider.publicKey && other.learned == LearnedTrust(foreign.certificate))
        #expect(try fixture.open(message(), trust: ProviderTrust(pinned: [])).code == .authenticationFailed)
    }

    // MARK: T-4

    @Test func theMessagesOwnCertificateCounts() throws {
        let now = FormatFixture.now
        // A floor does not end the epoch that it came with.
        let stolen = try issuer.certificate(6, floor: 6)
        #expect(
            try fixture.open(CraftedMessage(stolen, by: issuer), trust: trust(LearnedTrust(issued.certificate))).get()
                .learned == LearnedTrust(stolen.certificate))
        #expect(
            try fixture.open(message(), trust: trust(LearnedTrust(stolen.certificate))).code == .authenticationFailed)
        // A floor of an older certificate can end its own.
        #expect(try fixture.open(message(), trust: trust(LearnedTrust(nil, floor: 6))).code == .authenticationFailed)
        #expect(try fixture.open(message(), trust: trust(LearnedTrust(nil, floor: 5))).code == nil)
        let own = CraftedMessage(by: issuer.provider, issuer.topic)
        #expect(try fixture.open(own, trust: trust(LearnedTrust(issued.certificate))).code == nil)
        let after = now.adding(.days(1)).adding(milliseconds: 1)
        #expect(
            try fixture.open(own.with { $0.sentAt = after }, trust: trust(LearnedTrust(issued.certificate)), at: after)
                .code
                == .authenticationFailed)
        #expect(try fixture.open(own, trust: trust(LearnedTrust(stolen.certificate))).code == .authenticationFailed)
    }

    @Test func twoCertificatesOfOneEpochBothOpenAndAreTold() throws {
        let twin = try issuer.certificate(5, floor: 1, key: 77)
        for (held, sent) in [(issued, twin), (twin, issued)] {
            let opened = try fixture.open(
                CraftedMessage(sent, by: issuer), trust: trust(LearnedTrust(held.certificate))
            ).get()
            #expect(opened.hasCertificateConflict && opened.certificate == sent.certificate)
            #expect(opened.learned.certificate == max(issued.certificate, twin.certificate))
            #expect(opened.learned.floor == 1)
        }
        // Each is bound to its own end.
        let expired = try issuer.certificate(5, floor: 1, expiresAt: FormatFixture.now.subtracting(.days(1)), key: 78)
        let message = CraftedMessage(expired, by: issuer)
        #expect(try fixture.open(message, trust: trust(LearnedTrust(issued.certificate))).code == .authenticationFailed)
    }

    @Test(arguments: [1, 2, .max] as [UInt32]) func theEpochsOfTheLimitsOpen(_ epoch: UInt32) throws {
        let opened = try fixture.open(CraftedMessage(issuer.certificate(epoch), by: issuer)).get()
        #expect(opened.epoch == epoch)
        let ended = try fixture.open(CraftedMessage(issuer.certificate(epoch, floor: epoch), by: issuer)).get()
        #expect(ended.learned.floor == epoch)
    }

    /// A phone's clock that is 400 days off shows the fallback, and does no harm to what the phone knows.
    @Test(arguments: [false, true]) func aWrongClockEndsNothingForEver(_ isAhead: Bool) throws {
        let off = Interval.days(400)
        let now = isAhead ? FormatFixture.now.adding(off) : FormatFixture.now.subtracting(off)
        #expect(try fixture.open(message(), at: now).code == (isAhead ? .expired : .notYetValid))
        // The clock refuses first: an old epoch, or an expired certificate.
        let known = LearnedTrust(try issuer.certificate(6).certificate)
        #expect(
            try fixture.open(message(), trust: trust(known), at: now).code
                == (isAhead ? .authenticationFailed : .notYetValid))
        #expect(try fixture.open(message(), trust: trust(known)).code == nil)
    }

    // MARK: Order

    /// Signature, then class, then times, then payload; nothing of a message that fails takes effect.
    @Test func theFirstRuleThatFailsDecides() throws {
        let late = FormatFixture.now.adding(.days(2))
        let everything = message {
            ($0.padding, $0.kind, $0.timeToLive, $0.payload) = (1, 0x84, 0, Bytes("[]".utf8))
        }
        #expect(try fixture.open(everything, at: late).code == .authenticationFailed)
        let unknown = everything.with { $0.padding = 0 }
        #expect(try fixture.open(unknown, at: late).code == .unsupportedMessage)
        let wrong = unknown.with { $0.kind = 0x82 }
        #expect(try fixture.open(wrong, at: late).code == .wrongPushClass)
        let timeless = wrong.with { $0.kind = 0x81 }
        #expect(try fixture.open(timeless, at: late).code == .unsupportedMessage)
        let expired = timeless.with { $0.timeToLive = 60 }
        #expect(try fixture.open(expired, at: FormatFixture.now.adding(.seconds(61))).code == .expired)
        #expect(
            try fixture.open(expired, at: FormatFixture.now.subtracting(.days(1)).subtracting(milliseconds: 1)).code
                == .notYetValid)
        #expect(try fixture.open(expired).code == .malformedPayload)
        #expect(try fixture.open(expired.with { $0.payload = Bytes(alertPayload().utf8) }).code == nil)
    }

    @Test func onlyThePushClassThatWasAskedForOpens() throws {
        for value in UInt8(0)...15 {
            for asked in PushClass.allCases {
                let expected: OpenError.Code? =
                    PushClass(rawValue: value) == nil
                    ? .unsupportedMessage : value == asked.rawValue ? nil : .wrongPushClass
                for message in [message { $0.kind = 0x80 | value }, ownMessage(kind: value)] {
                    #expect(try fixture.open(message, as: asked).code == expected, "\(value) as \(asked)")
                }
            }
        }
        // A stranger learns nothing of it.
        let stranger = CraftedMessage(by: try FormatFixture.provider(102), issuer.topic)
        for value in [2, 4] as [UInt8] {
            #expect(try fixture.open(stranger.with { $0.kind = value }).code == .authenticationFailed)
        }
    }

    private func ownMessage(kind: UInt8) -> CraftedMessage {
        CraftedMessage(by: issuer.provider, issuer.topic).with { $0.kind = kind }
    }

    @Test func aSealerWritesTheClassOfItsPushType() throws {
        for (type, expected) in [(PushType.alert, PushClass.alert), (.background, .background), (.voip, .call)] {
            var options = Sealer.Message([])
            options.pushType = type
            for epoch in [0, 1] as [UInt32] {
                let fixture = try FormatFixture(epoch: epoch)
                // An alert that also wakes the app is an alert.
                let payload = #"{"aps":{"alert":"x","content-available":1}}"#
                let sealed = try fixture.seal(payload, like: options)
                for asked in PushClass.allCases {
                    let opened = try? fixture.opener().open(sealed.json, at: FormatFixture.now, as: asked)
                    #expect((opened != nil) == (asked == expected))
                }
            }
        }
        #expect(PushClass.allCases.map(\.rawValue) == [1, 2, 3])
    }
}

import Testing

@testable import Pushcrypt

/// An envelope is for one topic, one device and one provider; each is bound by encryption, by the signature, or by both.
/// (`Docs/Format.md`, Construction)
@Suite struct EnvelopeContextTests {
    struct Context: Hashable, Sendable, CustomTestStringConvertible {
        let topic: String
        let device: UInt8
        let provider: UInt8

        var testDescription: String { "\(topic), device \(device), provider \(provider)" }

        var fixture: FormatFixture {
            get throws { try FormatFixture(topic: topic, device: device, provider: provider) }
        }
    }

    static let contexts = ["com.example.app", "com.example.ap"].flatMap { topic in
        [1, 2].flatMap { device in
            [101, 102].map { Context(topic: topic, device: device, provider: $0) }
        }
    }

    @Test(arguments: contexts, contexts) func onlyTheDiagonalOpens(_ sealed: Context, _ opened: Context) throws {
        let text = try sealed.fixture.seal(alertPayload()).envelope.text
        let code = try opened.fixture.refusal(of: Bytes(text.utf8))
        if sealed == opened {
            #expect(code == nil)
        } else {
            #expect(code == (sealed.device == opened.device ? .authenticationFailed : .unknownRecipientKey))
        }
    }

    /// A phone with two accounts has two keys; each opens what is sealed to it.
    @Test func aPhoneOpensWithWhicheverKeyAnEnvelopeNames() throws {
        let keys = try [1, 2, 3].map(FormatFixture.device)
        let provider = try FormatFixture.provider(101)
        let topic = try Topic("com.example.app")
        let opener = Opener(topic: topic, deviceKeys: keys, trust: ProviderTrust(pinned: [provider.publicKey]))
        for number in [1, 2, 3] as [UInt8] {
            let sealed = try FormatFixture(device: number).seal(alertPayload())
            let opened = try opener.open(sealed.json, at: FormatFixture.now)
            #expect(opened.openedWith == keys[Int(number) - 1].publicKey)
        }
    }

    @Test func aKeyThatIsGivenTwiceDoesNoHarm() throws {
        let fixture = try FormatFixture()
        let opener = Opener(
            topic: fixture.topic, deviceKeys: [fixture.device, try FormatFixture.device(1)],
            trust: ProviderTrust(pinned: [fixture.provider.publicKey]))
        let opened = try opener.open(fixture.seal(alertPayload()).json, at: FormatFixture.now)
        #expect(opened.openedWith == fixture.device.publicKey)
    }

    /// A phone with two pins learns which of them spoke.
    @Test func anOpenedNotificationNamesItsProvider() throws {
        let pins = try [101, 102].map { try FormatFixture.provider($0).publicKey }
        for number in [101, 102] as [UInt8] {
            let fixture = try FormatFixture(provider: number)
            let opener = fixture.opener(trust: ProviderTrust(pinned: pins))
            let opened = try opener.open(fixture.seal(alertPayload()).json, at: FormatFixture.now)
            #expect(opened.provider == fixture.provider.publicKey)
        }
    }
}

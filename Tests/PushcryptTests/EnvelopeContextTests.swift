import Testing

@testable import Pushcrypt

/// An envelope is for one topic, one device and one sender; each is bound by encryption, by the signature, or by both.
/// (`Docs/Format.md`, Construction)
@Suite struct EnvelopeContextTests {
    struct Context: Hashable, Sendable, CustomTestStringConvertible {
        let topic: String
        let device: UInt8
        let sender: UInt8

        var testDescription: String { "\(topic), device \(device), sender \(sender)" }

        var fixture: FormatFixture {
            get throws { try FormatFixture(topic: topic, device: device, sender: sender) }
        }
    }

    static let contexts = ["com.example.app", "com.example.ap"].flatMap { topic in
        [1, 2].flatMap { device in
            [101, 102].map { sender in Context(topic: topic, device: device, sender: sender) }
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
        let sender = try FormatFixture.sender(101)
        let topic = try Topic("com.example.app")
        let opener = Opener(topic: topic, deviceKeys: keys, trust: ProviderTrust(pinned: [sender.publicKey]))
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
            trust: ProviderTrust(pinned: [fixture.sender.publicKey]))
        let opened = try opener.open(fixture.seal(alertPayload()).json, at: FormatFixture.now)
        #expect(opened.openedWith == fixture.device.publicKey)
    }

    /// A phone that trusts two senders learns which of them spoke.
    @Test func anOpenedNotificationNamesItsSender() throws {
        let senders = try [101, 102].map { try FormatFixture.sender($0).publicKey }
        for number in [101, 102] as [UInt8] {
            let fixture = try FormatFixture(sender: number)
            let opener = fixture.opener(trust: ProviderTrust(pinned: senders))
            let opened = try opener.open(fixture.seal(alertPayload()).json, at: FormatFixture.now)
            #expect(opened.sender == fixture.sender.publicKey)
        }
    }
}

import Testing

@testable import Pushcrypt

/// Untrusted input and its codes, and the key that opens. (`Docs/Format.md`, O-1.1 to O-3.2)
@Suite struct OpenerTests {
    private static func refusal(
        of push: String, at now: Timestamp = FormatFixture.now, by opener: Opener? = nil
    ) throws -> OpenError? {
        let opener = try opener ?? FormatFixture().opener()
        do throws(OpenError) {
            _ = try opener.open(push.utf8, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "", "[]", "null", "\"AW\"", "AW3k", "{", #"{"ENCRYPTED_DATA":"AW","ENCRYPTED_DATA":"AW"}"#,
        #"{"a":1,"\u0061":2}"#, "{\"a\":\"\u{0}\"}", String(repeating: "[", count: 40_000),
        #"{"a":""# + String(repeating: "x", count: 65_536) + "\"}",
    ])
    func whatIsNoJSONObjectIsAMalformedNotification(_ push: String) throws {
        #expect(try Self.refusal(of: push)?.code == .malformedNotification)
    }

    @Test func aPushOf65536BytesIsLookedAt() throws {
        let frame = #"{"a":""}"#
        let push = #"{"a":""# + String(repeating: "x", count: 65_536 - frame.utf8.count) + "\"}"
        #expect(push.utf8.count == 65_536)
        #expect(try Self.refusal(of: push)?.code == .notEncrypted)
    }

    // MARK: Keys and providers

    @Test func anEnvelopeForAKeyThatIsNotHereNamesTheKey() throws {
        let fixture = try FormatFixture(device: 2)
        let sealed = try fixture.seal(alertPayload())
        let error = try #require(try Self.refusal(of: jsonText(sealed.json)))
        #expect(error.code == .unknownRecipientKey)
        #expect(error.description.contains(fixture.device.publicKey.id.description))
        let keyless = Opener(
            topic: fixture.topic, deviceKeys: [], trust: ProviderTrust(pinned: [fixture.provider.publicKey]))
        #expect(try Self.refusal(of: jsonText(sealed.json), by: keyless)?.code == .unknownRecipientKey)
    }

    /// A phone with two accounts has two keys; each opens what is sealed to it.
    @Test func aPhoneOpensWithWhicheverKeyAnEnvelopeNames() throws {
        let keys = try [1, 2, 3].map(FormatFixture.device)
        let fixtures = try [1, 2, 3].map { try FormatFixture(device: $0) }
        let trust = ProviderTrust(pinned: [fixtures[0].provider.publicKey])
        let opener = try Opener(topic: fixtures[0].topic, deviceKeys: keys + [FormatFixture.device(1)], trust: trust)
        for (fixture, key) in zip(fixtures, keys) {
            let opened = try opener.open(fixture.seal(alertPayload()).json, at: FormatFixture.now)
            #expect(opened.openedWith == key.publicKey)
        }
    }
}

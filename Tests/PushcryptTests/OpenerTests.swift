import Testing

@testable import Pushcrypt

/// Untrusted input and its codes: steps 1 to 3 of the opening order, and who is trusted.
/// (`Docs/Format.md`, O-1.1 to O-3.2, O-5.6)
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

    /// From "Modifying content in newly delivered notifications": real input that is no envelope.
    @Test func theSamplePayloadOfApplesArticleIsMalformed() throws {
        let sample = #"""
            {
               "aps" : {
                  "category" : "SECRET",
                  "mutable-content" : 1,
                  "alert" : {
                     "title" : "Secret Message!",
                     "body"  : "(Encrypted)"
                  },
               },
               "ENCRYPTED_DATA" : "Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw"
            }
            """#
        // As printed, with its stray comma, it is not JSON; the system would never deliver it.
        #expect(try Self.refusal(of: sample)?.code == .malformedNotification)
        let delivered = sample.split(separator: "\n").map { $0 == "      }," ? "      }" : $0 }.joined(separator: "\n")
        #expect(try Self.refusal(of: delivered)?.code == .malformedEnvelope)
    }

    @Test(arguments: [
        "{}", #"{"aps":{"alert":"x"}}"#, #"{"ENCRYPTED_DATA":1}"#, #"{"ENCRYPTED_DATA":null}"#,
        #"{"ENCRYPTED_DATA":["AW"]}"#,
        #"{"ENCRYPTED_DATA":true}"#, #"{"ENCRYPTED_DATA":{"x":"AW"}}"#, #"{"encrypted_data":"AW"}"#,
        #"{"aps":{"ENCRYPTED_DATA":"AW"}}"#,
    ])
    func aPushWithoutAStringUnderENCRYPTED_DATAWasNotSealed(_ push: String) throws {
        #expect(try Self.refusal(of: push)?.code == .notEncrypted)
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

    /// A relay may change the rest of the push: the envelope is the same.
    @Test func theClearPartChangesNothing() throws {
        let fixture = try FormatFixture()
        let sealed = try fixture.seal(alertPayload())
        for clear in [
            "", #""aps":{},"#, #""aps":{"alert":{"title":"You won","body":"Call"},"badge":9},"url":"x","#,
            #""aps":null,"#,
        ] {
            let push = "{" + clear + #""ENCRYPTED_DATA":""# + sealed.envelope.text + "\"}"
            let opened = try fixture.opener().open(push.utf8, at: FormatFixture.now)
            #expect(jsonText(opened.payload) == alertPayload())
            #expect(opened.title == nil && opened.body == "See you at 8")
        }
        let escaped = #"{"ENCRYPTED\u005fDATA":"\u0041"# + sealed.envelope.text.dropFirst() + "\"}"
        #expect(try fixture.opener().open(escaped.utf8, at: FormatFixture.now).messageID == sealed.messageID)
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

    @Test func anotherTopicAnotherProviderAndNoProviderAreOneCode() throws {
        let fixture = try FormatFixture()
        let push = jsonText(try fixture.seal(alertPayload()).json)
        let stranger = ProviderTrust(pinned: [try FormatFixture.provider(102).publicKey])
        let openers = [
            try FormatFixture(topic: "com.example.app.voip").opener(),
            try FormatFixture(topic: "com.example.App").opener(),
            fixture.opener(trust: stranger), fixture.opener(trust: ProviderTrust(pinned: [])),
        ]
        let errors = try openers.map { try #require(try Self.refusal(of: push, by: $0)) }
        for error in errors {
            #expect(error.code == .authenticationFailed)
            // Nobody learns which check it was.
            #expect(error.description == errors[0].description)
        }
    }

    @Test func theCodesAreTheNamesThatProgramsKnowInTheOrderOfTheChecks() {
        #expect(
            OpenError.Code.allCases.map(\.description) == [
                "malformed-notification", "not-encrypted", "malformed-envelope", "unsupported-suite",
                "unknown-recipient-key", "authentication-failed", "unsupported-message", "wrong-push-class",
                "expired", "not-yet-valid", "malformed-payload", "duplicate",
            ])
        #expect(OpenError(.expired, "one") == OpenError(.expired, "another"))
        #expect(OpenError(.expired, "one") != OpenError(.duplicate, "one"))
    }
}

import Testing

@testable import Pushcrypt
@testable import PushcryptDeveloperTools
@testable import PushcryptTests

/// Pushes that a phone would not show, or not wake the app for.
@Suite struct LintShowingTests {
    private static let envelope = (try? FormatFixture().seal(alertPayload()).envelope.text) ?? ""

    private static func sealed(_ aps: String) -> String { "{\"aps\":{\(aps)},\"ENCRYPTED_DATA\":\"\(envelope)\"}" }

    private static func errors(of push: String, _ headers: KeyValuePairs<String, String> = [:]) -> [String] {
        PayloadLint(push, headers).lines(.error)
    }

    @Test(arguments: [
        (#""mutable-content":1,"alert":{"title":"New message"}"#, []),
        (#""mutable-content":1,"alert":{"subtitle":"x"}"#, []), (#""mutable-content":1,"alert":"(Encrypted)""#, []),
        (#""mutable-content":1,"alert":{"title-loc-key":"K"}"#, []),
        (#""alert":"(Encrypted)""#, ["extension-not-started aps.mutable-content"]),
        (#""mutable-content":0,"alert":"(Encrypted)""#, ["extension-not-started aps.mutable-content"]),
        (
            #""mutable-content":"1","alert":"(Encrypted)""#,
            ["invalid-field aps.mutable-content", "extension-not-started aps.mutable-content"]
        ),
        (#""mutable-content":true,"alert":"(Encrypted)""#, ["extension-not-started aps.mutable-content"]),
        (#""mutable-content":1.0,"alert":"(Encrypted)""#, ["extension-not-started aps.mutable-content"]),
        (#""mutable-content":null,"alert":"(Encrypted)""#, ["extension-not-started aps.mutable-content"]),
        (#""mutable-content":1,"alert":null"#, ["nothing-to-show aps.alert"]),
        (#""mutable-content":1,"alert":{}"#, ["nothing-to-show aps.alert"]),
        (#""mutable-content":1,"alert":{"title":"","body":""}"#, ["nothing-to-show aps.alert"]),
        (#""mutable-content":1,"badge":1"#, ["nothing-to-show aps.alert"]),
        (#""mutable-content":1,"sound":"default""#, ["nothing-to-show aps.alert"]),
        (#""mutable-content":1,"alert":1"#, ["invalid-field aps.alert", "nothing-to-show aps.alert"]),
    ])
    func theExtensionRunsForAnAlertWithTextAndTheNumberOne(_ aps: String, _ errors: [String]) {
        let lint = PayloadLint(Self.sealed(aps))
        #expect(lint.lines(.error) == errors)
        #expect(lint.startsExtension == errors.isEmpty)
    }

    /// Sealing writes the flag; as it is, nothing is started.
    @Test func aPushThatIsNotSealedNeedsNoFlag() {
        let lint = PayloadLint(alertPayload())
        #expect(
            lint.lines == [
                "warning not-sealed ", "warning clear-text aps.alert", "note extension-not-started aps.mutable-content",
            ])
        #expect(!lint.startsExtension)
    }

    @Test(arguments: [
        (#""content-available":1"#, "background", []),
        (#""content-available":0"#, "background", ["error app-not-woken aps.content-available"]),
        ("", "background", ["error app-not-woken aps.content-available"]),
        (#""content-available":true"#, "background", ["error app-not-woken aps.content-available"]),
        (#""content-available":1,"alert":null,"badge":null,"sound":null"#, "background", []),
        (
            #""content-available":1,"alert":"(Encrypted)","badge":1,"sound":"default""#, "background",
            ["warning backgrounds", "warning clear-field aps.badge"]
        ),
        (
            #""mutable-content":1,"alert":"(Encrypted)","content-available":1"#, "alert",
            ["note also-wakes-app aps.content-available"]
        ),
        ("", "voip", []), (#""content-available":1"#, "voip", []),
    ])
    func aPushWakesTheAppWithContentAvailable(_ aps: String, _ type: String, _ expected: [String]) {
        let lines = PayloadLint(Self.sealed(aps), ["push_type": type]).lines
        let shows = lines.filter { $0.contains("background-shows") }
        #expect(
            shows
                == (expected.contains("warning backgrounds")
                    ? ["alert", "badge", "sound"].map { "warning background-shows aps.\($0)" } : []))
        #expect(lines.filter { !shows.contains($0) } == expected.filter { $0 != "warning backgrounds" })
    }

    @Test func aBackgroundPushThatIsNotSealedIsGivenTheFlagBySealing() {
        let lint = PayloadLint(#"{"aps":{}}"#, ["push_type": "background"])
        #expect(lint.lines == ["warning app-not-woken aps.content-available", "warning not-sealed "])
    }

    @Test(arguments: [
        "complication", "controls", "fileprovider", "liveactivity", "location", "mdm", "pushtotalk", "widgets",
    ])
    func whatTheSystemReadsIsNotSealed(_ type: String) {
        let clear = PayloadLint(#"{"aps":{"timestamp":1,"event":"end"}}"#, ["push_type": type])
        #expect(clear.lines == ["warning push-type-not-sealable apns-push-type"])
        let sealed = PayloadLint(Self.sealed(#""timestamp":1,"event":"end""#), ["push_type": type])
        #expect(sealed.lines == ["error push-type-not-sealable apns-push-type"])
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"x"}}"#, "alert"), (#"{"aps":{"badge":1}}"#, "alert"), (#"{"aps":{"sound":"x"}}"#, "alert"),
        (#"{"aps":{"content-available":1}}"#, "background"), (#"{"aps":{"content-available":1,"sound":"x"}}"#, "alert"),
        (#"{"aps":{"content-state":{}}}"#, "liveactivity"),
        (#"{"aps":{"alert":"x","attributes-type":"T"}}"#, "liveactivity"),
        (#"{"aps":{"content-changed":true}}"#, "widgets"), (#"{"aps":{}}"#, "alert"), ("{}", "alert"),
        (#"{"aps":{},"ENCRYPTED_DATA":"x"}"#, "voip"),
    ])
    func thePushTypeIsGuessedAndAGivenOneCounts(_ push: String, _ type: String) {
        let guess = PayloadLint(push)
        #expect(guess.pushType == type && guess.isPushTypeAssumed)
        let given = PayloadLint(push, ["push_type": "location"])
        #expect(given.pushType == "location" && !given.isPushTypeAssumed)
        #expect(PayloadLint(push, ["topic": "com.example.app.voip"]).pushType == "voip")
    }

    // MARK: Envelopes

    @Test(arguments: [
        ("1", "not-encrypted"), ("null", "not-encrypted"), ("{}", "not-encrypted"), ("\"\"", "malformed-envelope"),
        ("\"Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw\"", "malformed-envelope"), ("\"AQ\"", "malformed-envelope"),
        ("\"" + envelope.dropLast(4) + "\"", "malformed-envelope"), ("\"" + envelope + "AAAA\"", "malformed-envelope"),
        ("\"" + envelope.dropLast() + "=\"", "malformed-envelope"), ("\"Aw\"", "unsupported-suite"),
        ("\"eyJhcHMiOnt9fQ\"", "unsupported-suite"),
    ])
    func whatIsNoEnvelopeIsAnError(_ value: String, _ code: String) {
        let push = #"{"aps":{"mutable-content":1,"alert":"(Encrypted)"},"ENCRYPTED_DATA":"# + value + "}"
        #expect(Self.errors(of: push) == [code + " ENCRYPTED_DATA"])
    }

    @Test(arguments: [
        (#"{"aps":{"mutable-content":1,"alert":"x","ENCRYPTED_DATA":"AW"}}"#, "aps.ENCRYPTED_DATA"),
        (#"{"aps":{"alert":"x"},"data":{"ENCRYPTED_DATA":"AW"}}"#, "data.ENCRYPTED_DATA"),
        (#"{"aps":{"alert":"x"},"encrypted_data":"AW"}"#, "encrypted_data"),
        (#"{"aps":{"alert":"x"},"EncryptedData":"AW"}"#, "EncryptedData"),
    ])
    func anEnvelopeInAnotherPlaceIsNotFoundByAPhone(_ push: String, _ place: String) {
        #expect(Self.errors(of: push) == ["misplaced-envelope " + place])
    }

    @Test func attachmentKeysStandInTheEnvelopeAlone() {
        let push =
            Self.sealed(#""mutable-content":1,"alert":"(Encrypted)""#).dropLast() + #","pushcrypt":{"attachments":[]}}"#
        #expect(Self.errors(of: String(push)) == ["reserved-key pushcrypt"])
    }
}

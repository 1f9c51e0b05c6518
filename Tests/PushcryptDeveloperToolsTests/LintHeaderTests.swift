import Testing

@testable import Pushcrypt
@testable import PushcryptDeveloperTools
@testable import PushcryptTests

/// Headers that Apple refuses, or that do not fit the push.
@Suite struct LintHeaderTests {
    private static func lines(_ headers: KeyValuePairs<String, String>) -> [String] {
        PayloadLint(#"{"aps":{"content-available":1}}"#, headers).lines.filter {
            $0.contains(" apns-") && !$0.contains("not-sealable")
        }
    }

    @Test(arguments: [("alert", ""), ("background", ""), ("voip", ".voip")])
    func eachPushTypeHasItsTopic(_ type: String, _ suffix: String) {
        let others = [
            "", ".voip", ".complication", ".push-type.controls", ".pushkit.fileprovider", ".push-type.liveactivity",
            ".location-query", ".voip-ptt", ".push-type.widgets",
        ]
        for other in others {
            let lines = Self.lines(["topic": "com.example.app\(other)", "push_type": type])
            #expect(lines.isEmpty == (other == suffix), "\(other)")
        }
        for wrong in ["", "com.example app\(suffix)", "com.example.app\(suffix) ", "*"] {
            #expect(
                Self.lines(["topic": wrong, "push_type": type]) == ["error wrong-topic apns-topic"], "\(wrong)")
        }
    }

    @Test func aTopicWithTwoSuffixesIsAWarning() {
        #expect(
            Self.lines(["topic": "com.example.app.voip.voip", "push_type": "voip"]) == [
                "warning wrong-topic apns-topic"
            ])
        #expect(Self.lines(["topic": "com.example.app.voip", "push_type": "voip"]).isEmpty)
    }

    @Test(arguments: ["alerts", "", "Alert", "silent"]) func anUnknownPushTypeIsAnError(_ type: String) {
        #expect(Self.lines(["push_type": type]) == ["error unknown-push-type apns-push-type"])
    }

    @Test(arguments: [
        ("10", "alert", nil), ("5", "alert", nil), ("1", "alert", nil), ("5", "background", nil), ("10", "voip", nil),
        ("10", "background", "error"), ("1", "background", "warning"), ("0", "alert", "error"), ("", "alert", "error"),
        ("high", "alert", "error"), ("05", "alert", "error"), ("5.0", "alert", "error"),
    ])
    func aPriorityIsOneOfApplesAndFitsThePushType(_ priority: String, _ type: String, _ severity: String?) {
        let lines = Self.lines(["push_type": type, "priority": priority])
        #expect(lines == (severity.map { ["\($0) wrong-priority apns-priority"] } ?? []))
    }

    @Test(arguments: [
        ("0", nil), ("1800000000", nil), ("99999999999", nil), ("100000000000", "warning"),
        ("1800000000000", "warning"),
        ("-1", "error"), ("+1", "error"), ("1.5", "error"), ("", "error"), ("30d", "error"), (" 1", "error"),
        ("18446744073709551616", "error"),
    ])
    func anExpirationIsATimeInSeconds(_ expiration: String, _ severity: String?) {
        let lines = Self.lines(["expiration": expiration])
        #expect(lines == (severity.map { ["\($0) wrong-expiration apns-expiration"] } ?? []))
    }

    @Test(arguments: [
        ("eabeae54-14a8-11e5-b60b-1697f925ec7b", nil), ("EABEAE54-14A8-11E5-B60B-1697F925EC7B", "warning"),
        ("eabeae5414a811e5b60b1697f925ec7b", "error"), ("", "error"), ("1", "error"),
        ("eabeae54-14a8-11e5-b60b-1697f925ec7g", "error"), ("eabeae54-14a8-11e5-b60b-1697f925ec7b-", "error"),
        ("eabeae5-414a8-11e5-b60b-1697f925ec7b", "error"),
    ])
    func anIDIsAUUIDInSmallLetters(_ id: String, _ severity: String?) {
        #expect(Self.lines(["apns_id": id]) == (severity.map { ["\($0) wrong-apns-id apns-id"] } ?? []))
    }

    @Test func aCollapseIDHasUpTo64Bytes() {
        let hash = String(repeating: "aZ09", count: 16)
        #expect(Self.lines(["collapse_id": hash]).isEmpty)
        for wrong in [hash + "a", "", String(repeating: "é", count: 33)] {
            #expect(Self.lines(["collapse_id": wrong]) == ["error wrong-collapse-id apns-collapse-id"])
        }
    }

    @Test func nothingIsWrongWithTheRequestsOfASealer() throws {
        let fixture = try FormatFixture()
        let sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
        let request = try sealer.request(for: fixture.seal(alertPayload()), device: "phone", collapseName: "chat 41")
        let lint = PayloadLint(request.json)
        #expect(lint.findings.isEmpty && lint.isSealed && !lint.isPushTypeAssumed)
    }

    /// The output of `seal --emit request` is checked with its headers.
    @Test func aRequestIsRecognisedByItsMembers() {
        let request = #"""
            {"to":"phone1","topic":"com.example.app.voip","push_type":"alert","priority":7,"expiration":"x","collapse_id":"c41",
             "payload":{"aps":{"badge":"1","alert":"x"}},"receipt":"r"}
            """#
        let errors = [
            "invalid-field aps.badge", "wrong-topic apns-topic", "wrong-priority apns-priority",
            "wrong-expiration apns-expiration",
        ]
        let lint = PayloadLint(request)
        #expect(lint.lines(.error) == errors && !lint.isPushTypeAssumed)
        #expect(!lint.findings.contains { $0.has(.clearKey) })
        #expect(lint.sizes?.length == #"{"aps":{"badge":"1","alert":"x"}}"#.utf8.count)
    }

    @Test(arguments: [
        #"{"aps":{"alert":"x"},"payload":{"aps":{}},"topic":"y"}"#, #"{"payload":{"aps":{"alert":"x"}}}"#,
        #"{"to":"phone1","payload":"x"}"#,
    ])
    func aPayloadWithSuchKeysIsNone(_ push: String) {
        #expect(PayloadLint(push).findings.contains { $0.has(.clearKey) && $0.place == "payload" })
    }
}

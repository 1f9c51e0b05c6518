import Testing

@testable import Pushcrypt
@testable import PushcryptDeveloperTools
@testable import PushcryptTests

/// Headers that Apple refuses, or that do not fit the push.
@Suite struct LintHeaderTests {
    private static func lines(_ headers: PayloadLint.Headers) -> [String] {
        PayloadLint(#"{"aps":{"content-available":1,"timestamp":1,"event":"end"}}"#, headers).lines.filter {
            $0.contains(" apns-") && !$0.contains("not-sealable")
        }
    }

    static let topics = [
        ("alert", "com.example.app"), ("background", "com.example.app"),
        ("complication", "com.example.app.complication"),
        ("controls", "com.example.app.push-type.controls"), ("fileprovider", "com.example.app.pushkit.fileprovider"),
        ("liveactivity", "com.example.app.push-type.liveactivity"), ("location", "com.example.app.location-query"),
        ("pushtotalk", "com.example.app.voip-ptt"), ("voip", "com.example.app.voip"),
        ("widgets", "com.example.app.push-type.widgets"),
    ]

    @Test(arguments: topics) func eachPushTypeHasItsTopic(_ type: String, _ topic: String) {
        for (_, other) in Self.topics {
            #expect(Self.lines(.init(topic: other, pushType: type)).isEmpty == (other == topic), "\(other)")
        }
        for wrong in ["", "com.example app", "com.example.app ", ".voip", "com.example.app.VOIP", "*"] {
            let expected =
                type == "alert" || type == "background" ? wrong != "com.example.app.VOIP" && wrong != ".voip" : true
            #expect(Self.lines(.init(topic: wrong, pushType: type)).isEmpty != expected, "\(wrong)")
        }
        #expect(Self.lines(.init(topic: "com.apple.mgmt.External.x y", pushType: "mdm")).isEmpty)
    }

    @Test func aTopicWithTwoSuffixesIsAWarning() {
        #expect(
            Self.lines(.init(topic: "com.example.app.voip.voip", pushType: "voip")) == [
                "warning wrong-topic apns-topic"
            ])
        #expect(Self.lines(.init(topic: "com.example.app.voip", pushType: "voip")).isEmpty)
    }

    @Test(arguments: ["alerts", "", "Alert", "silent"]) func anUnknownPushTypeIsAnError(_ type: String) {
        #expect(Self.lines(.init(pushType: type)) == ["error unknown-push-type apns-push-type"])
    }

    @Test(arguments: [
        ("10", "alert", nil), ("5", "alert", nil), ("1", "alert", nil), ("5", "background", nil), ("10", "voip", nil),
        ("10", "background", "error"), ("1", "background", "warning"), ("0", "alert", "error"), ("", "alert", "error"),
        ("high", "alert", "error"), ("05", "alert", "error"), ("5.0", "alert", "error"),
    ])
    func aPriorityIsOneOfApplesAndFitsThePushType(_ priority: String, _ type: String, _ severity: String?) {
        let lines = Self.lines(.init(pushType: type, priority: priority))
        #expect(lines == (severity.map { ["\($0) wrong-priority apns-priority"] } ?? []))
    }

    @Test(arguments: [
        ("0", nil), ("1800000000", nil), ("99999999999", nil), ("100000000000", "warning"),
        ("1800000000000", "warning"),
        ("-1", "error"), ("+1", "error"), ("1.5", "error"), ("", "error"), ("30d", "error"), (" 1", "error"),
        ("18446744073709551616", "error"),
    ])
    func anExpirationIsATimeInSeconds(_ expiration: String, _ severity: String?) {
        let lines = Self.lines(.init(expiration: expiration))
        #expect(lines == (severity.map { ["\($0) wrong-expiration apns-expiration"] } ?? []))
    }

    @Test(arguments: [
        ("eabeae54-14a8-11e5-b60b-1697f925ec7b", nil), ("EABEAE54-14A8-11E5-B60B-1697F925EC7B", "warning"),
        ("eabeae5414a811e5b60b1697f925ec7b", "error"), ("", "error"), ("1", "error"),
        ("eabeae54-14a8-11e5-b60b-1697f925ec7g", "error"), ("eabeae54-14a8-11e5-b60b-1697f925ec7b-", "error"),
        ("eabeae5-414a8-11e5-b60b-1697f925ec7b", "error"),
    ])
    func anIDIsAUUIDInSmallLetters(_ id: String, _ severity: String?) {
        #expect(Self.lines(.init(id: id)) == (severity.map { ["\($0) wrong-apns-id apns-id"] } ?? []))
    }

    @Test func aCollapseIDHasUpTo64Bytes() {
        let hash = String(repeating: "aZ09", count: 16)
        #expect(Self.lines(.init(collapseID: hash)).isEmpty)
        for wrong in [hash + "a", "", String(repeating: "é", count: 33)] {
            #expect(Self.lines(.init(collapseID: wrong)) == ["error wrong-collapse-id apns-collapse-id"])
        }
    }

    /// Base64url of HMAC-SHA256 and of its first 16 bytes, the same in hexadecimal digits, and a random UUID.
    @Test(arguments: [
        "tKdXGnn2QuERZ_GTqPLn8VcxUYN9pVgfq2N9i1L0DKY", "tKdXGnn2QuERZ_GTqPLn8Q", "tKdXGnn2QuERZ/GTqPLn8Q==",
        "b4a7571a79f642e11167f193a8f2e7f15731518", "b4a7571a79f642e11167f193a8f2e7f1",
        "7b633309-b7fd-4163-b620-776efa04f315", "7B633309-B7FD-4163-B620-776EFA04F315",
    ])
    func aHashIsOpaque(_ id: String) { #expect(CollapseIDShape(id).isOpaque) }

    @Test(arguments: [
        "chat-41", "order-2024-000123", "1234567890123456789012345678901234", "anna@example.com/new-message",
        "OrderShippedNotification", "user_8842_conversation_1182", "com.example.app.message.new.anna", "c41",
        "00000000000000000000000000000000", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa", "MESSAGE_FROM_ANNA_TO_BERTA_41",
        "Übung macht den Meister und die Meisterin", "weekly-report-for-the-sales-team-42",
    ])
    func wordsAndNumbersAreReadable(_ id: String) { #expect(!CollapseIDShape(id).isOpaque) }

    /// A sealer's output is never treated as words.
    @Test func theCollapseIDsOfRequestsAreOpaque() throws {
        let fixture = try FormatFixture()
        let sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
        let sealed = try fixture.seal(alertPayload())
        for number in 0..<3000 {
            let request = try sealer.request(for: sealed, device: "phone", collapseName: "chat \(number)")
            #expect(CollapseIDShape(request.collapseID).isOpaque, "\(request.collapseID)")
        }
        let lint = PayloadLint(try sealer.request(for: sealed).json)
        #expect(lint.findings.isEmpty && lint.isSealed && !lint.isPushTypeAssumed)
    }

    /// The output of `seal --emit request` is checked with its headers; given ones take precedence.
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
        #expect(lint.lines(.warning).last == "readable-collapse-id apns-collapse-id")
        #expect(!lint.findings.contains { $0.has(.clearKey) })
        #expect(lint.sizes?.length == #"{"aps":{"badge":"1","alert":"x"}}"#.utf8.count)
        let given = PayloadLint(request, .init(topic: "com.example.app", priority: "10", expiration: "0"))
        #expect(given.lines(.error) == ["invalid-field aps.badge"])
    }

    @Test(arguments: [
        #"{"aps":{"alert":"x"},"payload":{"aps":{}},"topic":"y"}"#, #"{"payload":{"aps":{"alert":"x"}}}"#,
        #"{"to":"phone1","payload":"x"}"#,
    ])
    func aPayloadWithSuchKeysIsNone(_ push: String) {
        #expect(PayloadLint(push).findings.contains { $0.has(.clearKey) && $0.place == "payload" })
    }
}

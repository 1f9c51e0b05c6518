import Testing

@testable import Pushcrypt
@testable import PushcryptDeveloperTools
@testable import PushcryptTests

/// Types and ranges, unknown fields, sizes; and that any bytes at all come to an end.
@Suite struct LintFormTests {
    @Test(arguments: [
        (#"{"aps":{"alert":"x"},"aps":1}"#, "byte 21"), ("\u{FEFF}{}", "byte 0"),
        (#"{"aps":{"alert":"\ud83d"}}"#, "byte 17"),
        ("{} {}", "byte 3"), ("", "byte 0"), ("\n", "byte 1"),
    ])
    func whatIsNoJSONIsNamedWithItsByte(_ push: String, _ place: String) {
        let lint = PayloadLint(push)
        #expect(lint.lines == ["error malformed-payload "] && lint.sizes == nil)
        #expect(lint.findings.first?.message.hasSuffix(place) == true)
    }

    @Test func everyFaultAndEveryUnknownFieldIsNamed() {
        let push = #"""
            {"aps":{"alert":{"title":1,"body":"x","tittle":"y"},"badge":"1","sound":{"volume":2,"loop":1},"badges":1,
             "content-avaliable":1,"a.b":1,"relevance-score":25}}
            """#
        let lint = PayloadLint(push)
        #expect(
            lint.lines(.error) == [
                "invalid-field aps.alert.title", "invalid-field aps.badge", "invalid-field aps.sound.volume",
                "invalid-field aps.relevance-score",
            ])
        #expect(
            lint.lines(.warning).prefix(5) == [
                "unknown-field aps.alert.tittle", "unknown-field aps.sound.loop", "unknown-field aps.badges",
                "unknown-field aps.content-avaliable", "unknown-field aps.\"a.b\"",
            ])
        #expect(lint.findings.first { $0.place == "aps.badge" }?.fix == "use a whole number, 0 or more")
    }

    /// A name can be of any length and hold anything.
    @Test(arguments: [
        ("a\\u0000b", "\"a\\u0000b\""), ("a\\\"b", "\"a\\\"b\""),
        (String(repeating: "é", count: 65), "\"\(String(repeating: "é", count: 64))…\""),
        (String(repeating: "x", count: 64), String(repeating: "x", count: 64)),
        (String(repeating: "x", count: 65), "\"\(String(repeating: "x", count: 64))…\""),
    ])
    func aPlaceIsShortAndOneLine(_ name: String, _ place: String) {
        let lint = PayloadLint("{\"aps\":{\"alert\":\"x\"},\"\(name)\":1}")
        #expect(lint.findings.filter { $0.has(.clearKey) }.map(\.place) == [place])
    }

    @Test func whatASealerTakesNeedsAPS() {
        for type in ["alert", "background", "voip", "other"] {
            #expect(PayloadLint(#"{"mdm":"x"}"#, ["push_type": type]).lines(.error).first == "missing-aps aps")
        }
        for type in PushType.readByTheSystem {
            #expect(PayloadLint(#"{"mdm":"x"}"#, ["push_type": type]).lines(.error).isEmpty)
        }
    }

    // MARK: Sizes

    @Test(arguments: [
        (20, 256, 137, 2576), (157, 256, 0, 2439), (158, 512, 255, 2438), (2595, 2816, 1, 1), (2596, 2816, 0, 0),
    ])
    func whatIsLeftIsKnownToTheByte(_ count: Int, _ bucket: Int, _ inBucket: Int, _ toSeal: Int) throws {
        let sizes = try #require(PayloadLint(alertPayload(count: count)).sizes)
        #expect(sizes.length == count && sizes.minifiedLength == count && sizes.maximumReencodedLength == count + 2)
        #expect([sizes.bucket, sizes.remainingInBucket, sizes.remainingToSeal] == [bucket, inBucket, toSeal])
        #expect(sizes.limit == 4096 && sizes.remaining == 4096 - count - 2)
    }

    @Test func aPayloadThatIsTooLongToSealIsAnError() throws {
        let lint = PayloadLint(alertPayload(count: 2597))
        #expect(lint.lines(.error) == ["payload-too-large "])
        #expect(lint.sizes?.bucket == nil && lint.sizes?.remainingToSeal == -1)
        let call = PayloadLint(alertPayload(count: 3364), ["push_type": "voip"])
        #expect(call.lines(.error).isEmpty && call.sizes?.limit == 5120 && call.sizes?.remainingToSeal == 0)
    }

    /// Suite 2 leaves less room, and any device may change over to it.
    @Test(arguments: [(nil, 1508), ("background", 1508), ("voip", 2276)] as [(String?, Int)])
    func aPayloadThatIsTooLongForSuite2IsNoted(_ type: String?, _ limit: Int) {
        func notes(_ count: Int) -> [String] {
            let lint = type.map { PayloadLint(alertPayload(count: count), ["push_type": $0]) }
            return (lint ?? PayloadLint(alertPayload(count: count))).lines(.note).filter { $0.contains("too-large") }
        }
        #expect(notes(limit) == [] && notes(limit + 1) == ["payload-too-large "])
    }

    /// The phone opens it, and not this build.
    @Test(arguments: [(1728, true), (1729, false)])
    func aSealedPushMayBeOfSuite2(_ bucket: Int, _ isOne: Bool) {
        let envelope = Bytes([2] + repeatElement(0, count: 1140 + bucket))
        let text = Base64URL.string(envelope.span)
        let push = #"{"aps":{"alert":"x","mutable-content":1},"ENCRYPTED_DATA":"\#(text)"}"#
        #expect(PayloadLint(push).lines(.error) == (isOne ? [] : ["malformed-envelope ENCRYPTED_DATA"]))
        #expect(PayloadLint(push).sizes?.bucket == (isOne ? bucket : nil))
    }

    @Test func whiteSpaceCountsAsItIsSentAndNotAsItIsSealed() throws {
        let sizes = try #require(PayloadLint(" {\n\"aps\" : { \"alert\" : \"x\" } }\n ").sizes)
        #expect(sizes.length == 29 && sizes.minifiedLength == 21 && sizes.maximumReencodedLength == 23)
        #expect(sizes.remainingToSeal == 2596 - 21)
    }

    /// Around the title and the envelope there are 91 bytes without spaces, 100 with them, and 3826 characters in it.
    @Test(arguments: [
        (170, []), (171, ["warning grows-when-rewritten "]), (179, ["warning grows-when-rewritten "]),
        (180, ["error push-too-large "]),
    ])
    func aSealedPushFitsApplesLimit(_ count: Int, _ expected: [String]) throws {
        let sealed = try FormatFixture().seal(alertPayload(count: 2596)).json
        let push = String(decoding: sealed, as: UTF8.self).replacing(
            "New message", with: String(repeating: "x", count: count))
        let lines = PayloadLint(push).lines.filter { !$0.contains("placeholder") }
        #expect(lines == expected)
        #expect(PayloadLint(push).sizes?.bucket == 2816 && PayloadLint(push).sizes?.remainingToSeal == nil)
    }

    // MARK: Bad input

    @Test func everyBeginningOfAPushComesToAnEnd() throws {
        let push = try FormatFixture().seal(LintLeakTests.oneOfEach, placeholder: Placeholder(clearFields: [.badge]))
            .json
        for count in 0..<push.count { #expect(PayloadLint(push.prefix(count)).lines == ["error malformed-payload "]) }
        for (index, byte) in push.enumerated() {
            for other in [0, UInt8(ascii: "\""), UInt8(ascii: "{"), 0xff, byte ^ 1] {
                var changed = push
                changed[index] = other
                _ = PayloadLint(changed)
            }
        }
    }

    /// A mebibyte of keys, of which each is a finding.
    @Test func manyFindingsTakeLittleTime() {
        let start = processorSeconds()
        let keys = (0..<80_000).map { "\"k\($0)\":{}" }.joined(separator: ",")
        let lint = PayloadLint("{\"aps\":{\"alert\":\"x\"},\(keys)}")
        #expect(lint.findings.count { $0.has(.clearKey) } == 80_000)
        #expect(
            PayloadLint("{\"aps\":{\"alert\":\"x\",\(keys)}}").findings.count { $0.has(.unknownField) } == 80_000)
        #expect(processorSeconds() - start < 60)
    }

    @Test(arguments: [
        ("1e400", true), ("-1E999", true), ("[{\"a\":1e400}]", true), ("1e300", false), ("\"1e400\"", false),
    ])
    func aNumberThatPhonesCannotReadIsAWarning(_ value: String, _ isReported: Bool) {
        let lint = PayloadLint(#"{"aps":{"alert":"a"},"x":\#(value)}"#)
        #expect(lint.lines.contains("warning invalid-field x") == isReported)
    }

    @Test func beforeSealingOnlyWhatSealingKeepsIsReported() {
        let clean = #"{"aps":{"alert":{"title":"a","body":"b"},"sound":"bell.caf","badge":1},"chat":"c41"}"#
        #expect(PayloadLint(clean, isToBeSealed: true).findings.isEmpty && !PayloadLint(clean).findings.isEmpty)
        let misspelt = #"{"aps":{"alert":"a","sonud":"x"},"pushcrypt":1}"#
        #expect(
            PayloadLint(misspelt, isToBeSealed: true).lines == [
                "error reserved-key pushcrypt", "error unknown-field aps.sonud",
            ])
        // A sealed push is checked as it is.
        let sealed = #"{"aps":{"alert":"secret","mutable-content":1},"ENCRYPTED_DATA":"A"}"#
        #expect(PayloadLint(sealed, isToBeSealed: true).lines == PayloadLint(sealed).lines)
    }
}

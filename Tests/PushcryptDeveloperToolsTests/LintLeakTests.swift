import Testing

@testable import Pushcrypt
@testable import PushcryptDeveloperTools
@testable import PushcryptTests

/// Leaks: what the relay can read but should not, one by one.
@Suite struct LintLeakTests {
    static let oneOfEach = #"""
        {"aps":{"alert":{"title":"a","subtitle":"b","body":"c","title-loc-key":"d","title-loc-args":["e"],
        "subtitle-loc-key":"f","subtitle-loc-args":["g"],"loc-key":"h","loc-args":["i"],"launch-image":"j"},
        "badge":1,"sound":{"name":"k","critical":1,"volume":1},"thread-id":"l","category":"m","target-content-id":"n",
        "filter-criteria":"o","interruption-level":"critical","relevance-score":1,"room":"p"},"chat":"q","a b":{},"":1}
        """#

    static let leaks = [
        "unknown-field aps.room", "not-sealed ", "clear-text aps.alert.title", "clear-text aps.alert.subtitle",
        "clear-text aps.alert.body", "clear-text aps.alert.title-loc-key", "clear-text aps.alert.title-loc-args",
        "clear-text aps.alert.subtitle-loc-key", "clear-text aps.alert.subtitle-loc-args",
        "clear-text aps.alert.loc-key", "clear-text aps.alert.loc-args", "clear-field aps.alert.launch-image",
        "clear-field aps.sound.name", "clear-field aps.badge", "clear-field aps.thread-id", "clear-field aps.category",
        "clear-field aps.target-content-id", "clear-field aps.filter-criteria", "clear-key chat", "clear-key \"a b\"",
        "clear-key \"\"",
    ]

    @Test func everyLeakOfAPushWithOneOfEachIsNamed() {
        let lint = PayloadLint(Self.oneOfEach, ["collapse_id": "chat-41"])
        #expect(lint.lines(.warning) == Self.leaks)
        #expect(lint.lines(.error).isEmpty)
        #expect(
            lint.lines(.note) == [
                "extension-not-started aps.mutable-content", "clear-field aps.sound.critical",
                "clear-field aps.interruption-level", "clear-field aps.relevance-score",
            ])
    }

    /// Beside an envelope the same fields leak the same; only a title is a placeholder there.
    @Test func theSameStandBesideAnEnvelope() throws {
        let envelope = try FormatFixture().seal(alertPayload()).envelope.text
        let push = String(Self.oneOfEach.dropLast()) + ",\"ENCRYPTED_DATA\":\"\(envelope)\"}"
        let lint = PayloadLint(push.replacing("\"badge\"", with: "\"mutable-content\":1,\"badge\""))
        let placeholder = ["aps.alert.title", "aps.alert.title-loc-key"]
        #expect(
            lint.lines(.warning)
                == Self.leaks.filter { leak in
                    leak != "not-sealed "
                        && !placeholder.contains { leak.hasSuffix(" " + $0) }
                })
        #expect(lint.lines(.note).filter { $0.hasPrefix("own") } == placeholder.map { "own-placeholder " + $0 })
        #expect(lint.lines(.error).isEmpty)
    }

    @Test(arguments: [PushType.alert, .background, .voip]) func whatIsSealedHereLeaksNothing(_ type: PushType) throws {
        var options = Sealer.Message([])
        options.pushType = type
        let fixture = try FormatFixture()
        for payload in [Self.oneOfEach, alertPayload(), #"{"aps":{"alert":"x","sound":"bell.caf"}}"#] {
            let sealed = try fixture.seal(payload, like: options)
            let lint = PayloadLint(String(decoding: sealed.json, as: UTF8.self), ["push_type": type.description])
            #expect(lint.findings.isEmpty && lint.isSealed)
            #expect(lint.startsExtension == (type == .alert))
            let guess = PayloadLint(sealed.json)
            #expect(guess.isPushTypeAssumed && (guess.pushType == type.description || type == .voip))
        }
    }

    @Test(arguments: Placeholder.ClearField.allCases)
    func aFieldThatSealingKeepsInTheClearIsNamed(_ field: Placeholder.ClearField) throws {
        let placeholder = try Placeholder(clearFields: [field])
        let lint = PayloadLint(try FormatFixture().seal(Self.oneOfEach, placeholder: placeholder).json)
        #expect(lint.findings.filter { $0.has(.clearField) }.map(\.place) == ["aps.\(field.rawValue)"])
    }

    /// A client that writes `aps` itself may name the words of the app's tables, whose keys are the English ones.
    @Test func thePlaceholdersWordsAsKeysLeakNothing() throws {
        let envelope = try FormatFixture().seal(alertPayload()).envelope.text
        let lint = PayloadLint(
            #"""
            {"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)","title-loc-key":"New message",
            "loc-key":"(Encrypted)"}},"ENCRYPTED_DATA":"\#(envelope)"}
            """#)
        #expect(lint.findings.isEmpty && lint.startsExtension)
    }

    @Test func aPlaceholderOfTheProvidersIsNoted() throws {
        let placeholder = try Placeholder(title: "Parcel", sound: .named("bell.caf"))
        let lint = PayloadLint(try FormatFixture().seal(alertPayload(), placeholder: placeholder).json)
        #expect(lint.lines == ["warning clear-field aps.sound", "note own-placeholder aps.alert.title"])
    }

    @Test(arguments: [
        // Nothing is said by these.
        #""alert":"x","sound":"default""#, #""alert":"x","sound":{"name":"default","critical":0}"#,
        #""alert":{"body":"x","title":""},"interruption-level":"active""#, #""alert":{"body":"x","loc-args":[]}"#,
    ])
    func whatSaysNothingIsNoLeak(_ fields: String) {
        let lint = PayloadLint("{\"aps\":{\(fields)}}")
        #expect(lint.lines(.warning).count == 2, "the push itself, and its text")
        #expect(!lint.findings.contains { $0.has(.clearField) })
    }

    @Test(arguments: [("(Encrypted)", 0), ("New message", 0), ("See you", 1)])
    func anAlertThatIsAStringIsItsBody(_ text: String, _ leaks: Int) throws {
        let envelope = try FormatFixture().seal(alertPayload()).envelope.text
        let push = #"{"aps":{"mutable-content":1,"alert":""# + text + "\"},\"ENCRYPTED_DATA\":\"\(envelope)\"}"
        #expect(PayloadLint(push).findings.count { $0.has(.clearText) && $0.place == "aps.alert" } == leaks)
    }

    /// Findings are printed, mailed and logged.
    @Test func noFindingHoldsAValue() {
        let push = Self.oneOfEach.replacing(/"([a-p])"/) { "\"zebra\($0.1)\"" }
        for finding in PayloadLint(push, ["topic": "zebra zebra", "priority": "zebra", "collapse_id": "zebra"]).findings
        {
            #expect(!"\(finding.message) \(finding.fix)".contains("zebra"))
        }
    }

    /// `simctl` reads it, and no relay sees it.
    @Test func theKeyOfASimulatorsFileIsNoLeak() {
        let lint = PayloadLint(#"{"aps":{"alert":"x"},"Simulator Target Bundle":"com.example.app"}"#)
        #expect(!lint.findings.contains { $0.has(.clearKey) })
    }
}

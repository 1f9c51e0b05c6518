import Testing

@testable import Pushcrypt

/// The clear part: read by the relay, and shown if the extension does not run. (`Docs/Format.md`, S-2, S-3)
@Suite struct PayloadPlaceholderTests {
    private static let rich = #"""
        { "aps" : { "relevance-score" : 0.50, "alert" : { "title" : "Table", "body" : "8" }, "badge" : 3, "category" : "M\u0053G",
          "thread-id" : "c41", "interruption-level" : "time-sensitive", "target-content-id" : "w/1", "filter-criteria" : "f",
          "content-available" : 1, "mutable-content" : 0, "sound" : "bell.caf", "event" : "end" }, "chat" : "c41" }
        """#

    /// The clear members beside the envelope.
    private static func clearAPS(
        _ payload: String, _ placeholder: Placeholder = .standard, _ pushType: PushType = .alert
    ) throws -> String {
        var options = Sealer.Message([])
        options.pushType = pushType
        let sealed = try FormatFixture().seal(payload, like: options, placeholder: placeholder)
        let json = jsonText(sealed.json)
        let (start, end) = ("{\"aps\":", ",\"ENCRYPTED_DATA\":\"\(sealed.envelope.text)\"}")
        try #require(json.hasPrefix(start) && json.hasSuffix(end))
        return String(json.dropFirst(start.count).dropLast(end.count))
    }

    @Test func thePlaceholderIsAllThatStandsInTheClear() throws {
        #expect(
            try Self.clearAPS(#"{"aps":{"alert":{"title":"Table","body":"8"}},"chat":"c41"}"#)
                == #"{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}}"#)
        #expect(
            try Self.clearAPS(alertPayload(), Placeholder(title: "새 \"메시지\"\n"))
                == #"{"mutable-content":1,"alert":{"title":"새 \"메시지\"\n","body":"(Encrypted)"}}"#)
    }

    @Test func chosenFieldsAreCopiedInTheirOrder() throws {
        let placeholder = try Placeholder(clearFields: Set(Placeholder.ClearField.allCases))
        #expect(
            try Self.clearAPS(Self.rich, placeholder)
                == #"{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"},"sound":"default","#
                + #""relevance-score":0.50,"badge":3,"category":"MSG","thread-id":"c41","#
                + #""interruption-level":"time-sensitive","target-content-id":"w/1","filter-criteria":"f","#
                + #""content-available":1}"#)
    }

    @Test(arguments: Placeholder.ClearField.allCases) func nullIsNotCopied(_ field: Placeholder.ClearField) throws {
        let payload = #"{"aps":{"alert":"x","\#(field.rawValue)":null}}"#
        #expect(
            try Self.clearAPS(payload, Placeholder(clearFields: [field]))
                == #"{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}}"#)
    }

    @Test(arguments: Placeholder.ClearField.allCases)
    func oneFieldIsCopiedAlone(_ field: Placeholder.ClearField) throws {
        let aps = try Self.clearAPS(Self.rich, Placeholder(clearFields: [field]))
        for other in Placeholder.ClearField.allCases {
            #expect(aps.contains("\"\(other.rawValue)\":") == (other == field), "\(other)")
        }
        // A field that the payload does not have is not made up.
        #expect(try Self.clearAPS(alertPayload(), Placeholder(clearFields: [field])) == Self.clearAPS(alertPayload()))
    }

    @Test(
        arguments: [
            (Placeholder.Sound.matching, #""sound":"bell.caf""#, #","sound":"default""#),
            (.matching, #""sound":{"name":"bell.caf"}"#, #","sound":"default""#),
            (.matching, #""badge":1"#, ""), (.matching, #""sound":null"#, ""),
            (.silent, #""sound":"bell.caf""#, ""),
            (.named("chime.caf"), #""sound":"bell.caf""#, #","sound":"chime.caf""#),
            (.named("chime.caf"), #""badge":1"#, #","sound":"chime.caf""#),
        ] as [(Placeholder.Sound, String, String)])
    func theSoundIsKeptAsTheProviderChose(_ sound: Placeholder.Sound, _ field: String, _ expected: String) throws {
        #expect(
            try Self.clearAPS(#"{"aps":{"alert":"x","# + field + "}}", Placeholder(sound: sound))
                == #"{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}"# + expected + "}")
    }

    /// The system wakes the app only for a flag that stands in the clear.
    @Test(arguments: [
        (PushType.alert, "0", false), (.alert, "1", true), (.background, "0", true), (.voip, "1", true),
        (.alert, "true", true), (.alert, "1.0", true), (.alert, "false", false), (.alert, "null", false),
        (.voip, "true", true), (.voip, "null", false),
    ])
    func contentAvailableIsKept(_ type: PushType, _ flag: String, _ isKept: Bool) throws {
        let payload = #"{"aps":{"alert":"x","content-available":"# + "\(flag)}}"
        #expect(try Self.clearAPS(payload, .standard, type).contains(#""content-available":1"#) == isKept)
    }

    /// The app itself opens these; an alert would be shown as it is.
    @Test func aPushThatTheAppOpensHasNoPlaceholder() throws {
        let loud = try Placeholder(title: "Ring", sound: .named("ring.caf"), clearFields: [.badge, .category])
        #expect(try Self.clearAPS(Self.rich, loud, .voip) == #"{"content-available":1}"#)
        #expect(try Self.clearAPS(Self.rich, loud, .background) == #"{"content-available":1}"#)
        #expect(try Self.clearAPS(#"{"aps":{}}"#, loud, .voip) == "{}")
        #expect(try Self.clearAPS(#"{"aps":{}}"#, loud, .background) == #"{"content-available":1}"#)
    }

    @Test(arguments: ["", " ", "\n\t", "\u{3000}"]) func aPlaceholderThatShowsNothingIsRefused(_ empty: String) {
        let title = #expect(throws: SealError.self) { try Placeholder(title: empty) }
        #expect(title?.code == .invalidPlaceholder)
        let sound = #expect(throws: SealError.self) { try Placeholder(sound: .named(empty)) }
        #expect(sound?.code == .invalidPlaceholder)
    }

    /// The bound on the state kept for each placeholder.
    @Test func aPlaceholderLongerThanAnyPushIsRefused() throws {
        // 4096 and 4097 bytes.
        let longest = String(repeating: "한", count: 1365) + "x"
        #expect(try Placeholder(title: longest, sound: .named(longest)).title == longest)
        let title = #expect(throws: SealError.self) { try Placeholder(title: longest + "x") }
        #expect(title?.code == .invalidPlaceholder)
        let sound = #expect(throws: SealError.self) { try Placeholder(sound: .named(longest + "x")) }
        #expect(sound?.code == .invalidPlaceholder)
    }

    @Test func theStandardPlaceholderIsWhatItsPartsSay() throws {
        #expect(try Placeholder() == .standard)
        #expect(Placeholder.standard.title == "New message")
        #expect(Placeholder.body == "(Encrypted)")
    }
}

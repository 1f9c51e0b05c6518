import Testing

@testable import Pushcrypt

/// The types and ranges of the fields of `aps`, as Apple's documents give them.
@Suite struct PayloadFieldTests {
    private static func refusal(of payload: String, for type: PushType = .alert) -> SealError? {
        do throws(SealError) {
            _ = try CheckedPayload(Bytes(payload.utf8), for: type)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        #""badge":0"#, #""badge":1"#, #""badge":9223372036854775807"#,
        #""sound":"default""#, #""sound":"""#, #""sound":{}"#, #""sound":{"loop":true}"#,
        #""sound":{"name":"bell.caf","critical":1,"volume":0.5}"#, #""sound":{"critical":0,"volume":1}"#,
        #""thread-id":"c41""#, #""thread-id":"""#, #""category":"MSG""#, #""target-content-id":"w1""#,
        #""filter-criteria":"f""#,
        #""content-available":1"#, #""content-available":0"#, #""mutable-content":1"#, #""mutable-content":0"#,
        #""interruption-level":"passive""#, #""interruption-level":"active""#,
        #""interruption-level":"time-sensitive""#, #""interruption-level":"critical""#,
        #""interruption-level":"time\u002dsensitive""#,
        #""relevance-score":0"#, #""relevance-score":1"#, #""relevance-score":0.5"#, #""relevance-score":1.0"#,
        #""relevance-score":1e-3"#, #""relevance-score":10E-1"#, #""relevance-score":-0"#,
        // Null counts as absent, a whole number as one, and true as 1. (J-8)
        #""badge":null"#, #""badge":3.0"#, #""badge":3e0"#, #""badge":-0"#, #""badge":9007199254740991.0"#,
        #""sound":null"#, #""sound":{"name":null,"critical":null,"volume":null}"#, #""sound":{"critical":true}"#,
        #""sound":{"critical":1.0}"#, #""thread-id":null"#, #""category":null"#, #""target-content-id":null"#,
        #""filter-criteria":null"#, #""content-available":true"#, #""content-available":false"#,
        #""content-available":1.0"#, #""content-available":null"#, #""mutable-content":true"#,
        #""mutable-content":0.0"#, #""mutable-content":null"#, #""interruption-level":null"#,
        #""relevance-score":null"#, #""event":null"#, #""timestamp":null"#, #""content-changed":1"#,
        // The system passes over unknown fields, and so does this.
        #""Badge":"one""#, #""badge-count":null"#, #""content-state":{"badge":"x"}"#,
    ])
    func aFieldAsAppleHasItIsTaken(_ field: String) {
        #expect(Self.refusal(of: #"{"aps":{"alert":"x","# + field + "}}") == nil)
    }

    @Test(arguments: [
        #""See you""#, #"{"title":"x"}"#, #"{"subtitle":"x"}"#, #"{"body":"x"}"#, #"{"loc-key":"K"}"#,
        #"{"title-loc-key":"K","title-loc-args":["a","b"]}"#, #"{"subtitle-loc-key":"K","subtitle-loc-args":[]}"#,
        #"{"body":"x","loc-args":[""],"launch-image":"i.png"}"#, #"{"title":"","body":"x"}"#,
        #"{"body":"x","action-loc-key":1}"#, #"{"body":" "}"#, #"{"title":"x","subtitle":null,"body":null}"#,
        #"{"loc-key":"K","loc-args":["a",7,1.50,null],"title-loc-args":null,"launch-image":null}"#,
    ])
    func anAlertWithTextIsTaken(_ alert: String) {
        #expect(Self.refusal(of: #"{"aps":{"alert":"# + alert + "}}") == nil)
    }

    @Test(arguments: [
        #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":{}}}"#,
        #"{"aps":{"alert":{"title":"","subtitle":"","body":""}}}"#, #"{"aps":{"alert":{"launch-image":"i.png"}}}"#,
        #"{"aps":{"alert":{"loc-args":["x"]}}}"#, #"{"aps":{"alert":{"loc-key":""}}}"#,
        #"{"aps":{"badge":3,"sound":"default"}}"#, #"{"aps":{"content-available":1}}"#,
    ])
    func anAlertWithoutTextIsRefusedBecauseNothingWouldStartTheExtension(_ payload: String) throws {
        let error = try #require(Self.refusal(of: payload))
        #expect(error.code == .nothingToShow)
        #expect(error.description.contains("aps.alert"))
        // The app opens these itself, and shows what it likes.
        #expect(Self.refusal(of: payload, for: .background) == nil)
        #expect(Self.refusal(of: payload, for: .voip) == nil)
    }

    @Test(arguments: ["{}", #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":1}"#, #"{"APS":{"alert":"x"}}"#])
    func aPayloadHasAnAPSObject(_ payload: String) {
        for type in [PushType.alert, .background] { #expect(Self.refusal(of: payload, for: type)?.code == .missingAPS) }
    }

    private static let notFlags = ["\"1\"", "2", "-1", "0.5", "\"true\"", "[1]", "{}"]
    private static let notText = ["1", "true", "[]", "{}"]
    private static let notFractions = ["1.0000001", "-0.1", "2", "1E400", "\"0.5\"", "true", "[0]", "{}"]
    private static let notArraysOfText = ["\"a\"", "{}", "1", "[true]", "[{}]", "[[\"a\"]]"]

    private static func refused(_ place: String, _ values: [String], _ expectation: String) -> [Refused] {
        values.map { Refused(place: place, value: $0, expectation: expectation) }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        /// Where the field stands, as the error names it.
        let place: String
        let value: String
        let expectation: String

        var testDescription: String { "\(place) = \(value)" }

        var payload: String {
            let names = place.split(separator: ".").map { "\"\($0)\"" }
            let field = names.last.map { "\($0):\(value)" } ?? ""
            switch (names.count, names.dropFirst().first) {
            case (3, "\"alert\""): return #"{"aps":{"alert":{"body":"x","# + field + "}}}"
            case (3, let parent?): return #"{"aps":{"alert":"x","# + "\(parent):{\(field)}}}"
            case (_, "\"alert\""): return #"{"aps":{"# + field + "}}"
            default: return #"{"aps":{"alert":"x","# + field + "}}"
            }
        }
    }

    static let refusedFields: [Refused] =
        refused("aps.alert", ["1", "true", "[]"], "an object or a string")
        + refused(
            "aps.badge", ["-1", "1.5", "\"1\"", "true", "[]", "9223372036854775808", "9007199254740992.0", "1e400"],
            "a whole number, 0 or more")
        + refused("aps.sound", ["1", "true", "[]"], "a string or an object")
        + ["thread-id", "category", "target-content-id", "filter-criteria"].flatMap {
            refused("aps.\($0)", notText, "a string")
        }
        + ["content-available", "mutable-content"].flatMap {
            refused("aps.\($0)", notFlags, "1 or 0, or true or false, and not a string")
        }
        + refused(
            "aps.interruption-level", ["\"Passive\"", "\"urgent\"", "\"\"", "1", "[]"],
            "passive, active, time-sensitive or critical")
        + refused("aps.relevance-score", notFractions, "a number from 0 to 1")
        + refused("aps.sound.name", notText, "a string")
        + refused("aps.sound.critical", notFlags, "1 or 0, or true or false, and not a string")
        + refused("aps.sound.volume", notFractions, "a number from 0 to 1")
        + ["title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key"].flatMap {
            refused("aps.alert.\($0)", notText, "a string")
        }
        + ["title-loc-args", "subtitle-loc-args", "loc-args"].flatMap {
            refused("aps.alert.\($0)", notArraysOfText, "an array of strings and numbers")
        }

    @Test(arguments: refusedFields) func anyOtherValueIsRefusedByNameAndPlace(_ field: Refused) throws {
        var payload = field.payload
        if field.place == "aps.alert.body" { payload = #"{"aps":{"alert":{"title":"x","body":"# + field.value + "}}}" }
        let error = try #require(Self.refusal(of: payload))
        #expect(error.code == .invalidField)
        #expect(error.description == "\(field.place) must be \(field.expectation)")
    }

    /// The rules hold for what the app opens itself, too.
    @Test(arguments: [PushType.background, .voip]) func everyPushTypeChecksItsFields(_ type: PushType) {
        #expect(Self.refusal(of: #"{"aps":{"badge":"1"}}"#, for: type)?.code == .invalidField)
    }
}

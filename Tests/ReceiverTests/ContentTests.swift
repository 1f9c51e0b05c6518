import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Pushcrypt

/// Every field of a payload, as the notification has it.
@Suite struct ContentTests {
    /// A payload, and the one thing in which its content differs from content that shows nothing.
    struct Field: Sendable, CustomTestStringConvertible {
        let payload: String
        let set: @Sendable (inout NotificationContent) -> Void

        /// A payload with one field of `aps`.
        init(aps: String, _ set: @escaping @Sendable (inout NotificationContent) -> Void = { _ in }) {
            self.init("{\"aps\":{\(aps)}}", set)
        }

        init(_ payload: String, _ set: @escaping @Sendable (inout NotificationContent) -> Void = { _ in }) {
            self.payload = payload
            self.set = set
        }

        var testDescription: String { payload }

        var content: NotificationContent {
            var content = NotificationContent()
            set(&content)
            return content
        }
    }

    private static func content(_ payload: String) throws -> NotificationContent {
        IncomingPush(try ReceivedPush(Bytes(payload.utf8))).clear
    }

    @Test func contentThatShowsNothingIsEmptyInEveryField() {
        let content = NotificationContent()
        #expect(content.title == "" && content.subtitle == "" && content.body == "")
        #expect(content.badge == nil && content.sound == nil)
        #expect(content.threadIdentifier == "" && content.categoryIdentifier == "" && content.launchImageName == "")
        #expect(content.interruptionLevel == .active && content.relevanceScore == 0)
        #expect(content.targetContentIdentifier == nil && content.filterCriteria == nil)
        #expect(content.userInfo == Bytes("{}".utf8))
    }

    // MARK: The alert

    static let alerts: [Field] = [
        Field(aps: #""alert":"just a text""#) { $0.body = "just a text" },
        Field(aps: #""alert":{"title":"T"}"#) { $0.title = "T" },
        Field(aps: #""alert":{"subtitle":"S"}"#) { $0.subtitle = "S" },
        Field(aps: #""alert":{"body":"a\nb 🚲 \"c\" \u00e9"}"#) { $0.body = .plain("a\nb 🚲 \"c\" é") },
        Field(aps: #""alert":{"launch-image":"L.png"}"#) { $0.launchImageName = "L.png" },
        Field(aps: #""alert":{"title-loc-key":"K"}"#) { $0.title = .localized(key: "K", arguments: []) },
        Field(aps: #""alert":{"title-loc-key":"K","title-loc-args":["a","b"]}"#) {
            $0.title = .localized(key: "K", arguments: ["a", "b"])
        },
        Field(aps: #""alert":{"subtitle-loc-key":"K","subtitle-loc-args":["a"]}"#) {
            $0.subtitle = .localized(key: "K", arguments: ["a"])
        },
        Field(aps: #""alert":{"loc-key":"K","loc-args":["a"]}"#) { $0.body = .localized(key: "K", arguments: ["a"]) },
        // A key wins over the text beside it; an empty one is none, and arguments alone are nothing.
        Field(aps: #""alert":{"title":"T","title-loc-key":"K","body":"B","loc-key":"L"}"#) {
            $0.title = .localized(key: "K", arguments: [])
            $0.body = .localized(key: "L", arguments: [])
        },
        Field(aps: #""alert":{"title":"T","title-loc-key":"","title-loc-args":["a"]}"#) { $0.title = "T" },
        Field(aps: #""alert":{"title":"T","title-loc-key":7}"#) { $0.title = "T" },
        Field(aps: #""alert":{"title":"T","title-loc-args":["a"]}"#) { $0.title = "T" },
        // Each argument has its place in the text.
        Field(aps: #""alert":{"loc-key":"K","loc-args":["a",7,null,1.50,true,"b",["c"],{}]}"#) {
            $0.body = .localized(key: "K", arguments: ["a", "7", "", "1.50", "", "b", "", ""])
        },
        Field(aps: #""alert":{"loc-key":"K","loc-args":"a"}"#) { $0.body = .localized(key: "K", arguments: []) },
        // No field takes a value of another type, or of another's place.
        Field(aps: #""alert":{"title":7,"subtitle":null,"body":["B"],"launch-image":{}}"#),
        Field(aps: #""alert":7"#), Field(aps: #""alert":null"#), Field(aps: #""alert":["T"]"#),
        Field(aps: #""alert":{}"#),
        Field(aps: #""title":"T","body":"B""#),
    ]

    // MARK: Sound

    static let sounds: [Field] = [
        Field(aps: #""sound":"default""#) { $0.sound = .standard },
        Field(aps: #""sound":"chime.caf""#) { $0.sound = .named("chime.caf") },
        Field(aps: #""sound":"Default""#) { $0.sound = .named("Default") },
        Field(aps: #""sound":{"name":"chime.caf"}"#) { $0.sound = .named("chime.caf") },
        Field(aps: #""sound":{"name":"default","volume":0.5}"#) { $0.sound = .standard },
        Field(aps: #""sound":{"name":"chime.caf","critical":0,"volume":0.5}"#) { $0.sound = .named("chime.caf") },
        Field(aps: #""sound":{"name":"chime.caf","critical":1,"volume":0.5}"#) {
            $0.sound = .critical(name: "chime.caf", volume: 0.5)
        },
        Field(aps: #""sound":{"critical":1}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"name":"default","critical":1,"volume":0}"#) {
            $0.sound = .critical(name: nil, volume: 0)
        },
        Field(aps: #""sound":{"name":"","critical":1}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"name":7,"critical":1,"volume":"1"}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"critical":1,"volume":1.5}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"critical":1,"volume":-1}"#) { $0.sound = .critical(name: nil, volume: 0) },
        Field(aps: #""sound":{"critical":1,"volume":1e400}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"name":"a","critical":true}"#) { $0.sound = .critical(name: "a", volume: 1) },
        Field(aps: #""sound":{"name":"a","critical":1.0}"#) { $0.sound = .critical(name: "a", volume: 1) },
        Field(aps: #""sound":{"name":"a","critical":false}"#) { $0.sound = .named("a") },
        Field(aps: #""sound":{"name":"a","critical":null}"#) { $0.sound = .named("a") }, Field(aps: #""sound":null"#),
        Field(aps: #""sound":{"name":"a","critical":"1"}"#) { $0.sound = .named("a") },
        Field(aps: #""sound":{"name":"a","critical":2}"#) { $0.sound = .named("a") },
        Field(aps: #""sound":"""#), Field(aps: #""sound":{}"#), Field(aps: #""sound":{"name":""}"#),
        Field(aps: #""sound":{"volume":1}"#), Field(aps: #""sound":1"#), Field(aps: #""sound":null"#),
        Field(aps: #""sound":["default"]"#),
    ]

    // MARK: Numbers and words

    static let numbers: [Field] = [
        Field(aps: #""badge":0"#) { $0.badge = 0 }, Field(aps: #""badge":-0"#) { $0.badge = 0 },
        Field(aps: #""badge":3.0"#) { $0.badge = 3 }, Field(aps: #""badge":3e0"#) { $0.badge = 3 },
        Field(aps: #""badge":null"#), Field(aps: #""badge":9007199254740992.0"#),
        Field(aps: #""badge":3"#) { $0.badge = 3 },
        Field(aps: #""badge":9223372036854775807"#) { $0.badge = .max },
        Field(aps: #""badge":9223372036854775808"#), Field(aps: #""badge":-1"#), Field(aps: #""badge":1.5"#),
        Field(aps: #""badge":"3""#), Field(aps: #""badge":true"#), Field(aps: #""badge":null"#),
        Field(aps: #""relevance-score":0.25"#) { $0.relevanceScore = 0.25 },
        Field(aps: #""relevance-score":1"#) { $0.relevanceScore = 1 },
        Field(aps: #""relevance-score":7"#) { $0.relevanceScore = 1 },
        Field(aps: #""relevance-score":-0.5"#), Field(aps: #""relevance-score":1E400"#),
        Field(aps: #""relevance-score":"0.5""#), Field(aps: #""relevance-score":true"#),
        Field(aps: #""interruption-level":"passive""#) { $0.interruptionLevel = .passive },
        Field(aps: #""interruption-level":"active""#),
        Field(aps: #""interruption-level":"time-sensitive""#) { $0.interruptionLevel = .timeSensitive },
        Field(aps: #""interruption-level":"critical""#) { $0.interruptionLevel = .critical },
        Field(aps: #""interruption-level":"Passive""#), Field(aps: #""interruption-level":"timeSensitive""#),
        Field(aps: #""interruption-level":0"#),
    ]

    static let words: [Field] = [
        Field(aps: #""thread-id":"t""#) { $0.threadIdentifier = "t" },
        Field(aps: #""category":"MSG""#) { $0.categoryIdentifier = "MSG" },
        Field(aps: #""target-content-id":"w""#) { $0.targetContentIdentifier = "w" },
        Field(aps: #""filter-criteria":"f""#) { $0.filterCriteria = "f" },
        Field(aps: #""thread-id":7,"category":null,"target-content-id":[],"filter-criteria":{}"#),
        Field(aps: #""content-available":1,"mutable-content":1,"badge-count":3,"Category":"MSG""#),
        Field(#"{"aps":null}"#), Field(#"{"aps":"text"}"#), Field(#"{"aps":[{"badge":3}]}"#), Field("{}"),
    ]

    // MARK: The app's own members

    static let custom: [Field] = [
        Field(#"{"aps":{},"chat":"c41"}"#) { $0.userInfo = Bytes(#"{"chat":"c41"}"#.utf8) },
        // In their order, with the bytes of their numbers, without white space.
        Field(#"{ "b" : 1.50 , "aps" : {} , "a" : [ 1e2 , null , "x y" ] }"#) {
            $0.userInfo = Bytes(#"{"b":1.50,"a":[1e2,"x y"]}"#.utf8)
        },
        // The system takes no null, at no depth.
        Field(#"{"aps":{},"a":null}"#),
        Field(#"{"aps":{},"a":{"b":null,"c":[null,{"d":null,"e":[[null],7]}]},"null":"null"}"#) {
            $0.userInfo = Bytes(#"{"a":{"c":[{"e":[[],7]}]},"null":"null"}"#.utf8)
        },
        Field(#"{"aps":{},"ENCRYPTED_DATA":7,"pushcrypt":{"attachments":[{"key":"secret"}]},"c":1}"#) {
            $0.userInfo = Bytes(#"{"c":1}"#.utf8)
        },
        Field(#"{"\u0061ps":{},"ENCRYPTED\u005fDATA":7,"push\u0063rypt":1}"#),
        // Only at the top, and only these names.
        Field(#"{"aps":{},"Pushcrypt":1,"encrypted_data":2,"x":{"aps":1,"pushcrypt":2,"ENCRYPTED_DATA":3}}"#) {
            $0.userInfo = Bytes(
                #"{"Pushcrypt":1,"encrypted_data":2,"x":{"aps":1,"pushcrypt":2,"ENCRYPTED_DATA":3}}"#.utf8)
        },
        Field(#"{"a\"\\\n\u0001é":true,"aps":{}}"#) {
            $0.userInfo = Bytes(#"{"a\"\\\n\u0001é":true}"#.utf8)
        },
    ]

    @Test(arguments: alerts + sounds + numbers + words + custom)
    func aFieldIsReadAsItStandsAndNothingElseIsSet(_ field: Field) throws {
        #expect(try Self.content(field.payload) == field.content)
    }

    // MARK: All of it, sealed

    @Test func everySealedFieldWinsOverItsClearOne() throws {
        let sealed = #"""
            {"aps":{"alert":{"title":"T","subtitle":"S","loc-key":"K","loc-args":["a"],"launch-image":"L"},"badge":0,
            "sound":{"name":"chime.caf","critical":1,"volume":0.25},"thread-id":"t1","category":"MSG",
            "interruption-level":"time-sensitive","relevance-score":0.5,"target-content-id":"w1","filter-criteria":"f1"},
            "chat":"c41"}
            """#
        let scene = try Scene()
        let content = scene.receive(Scene.push(try scene.envelope(sealed))).delivery.content
        var expected = NotificationContent()
        expected.title = "T"
        expected.subtitle = "S"
        expected.body = .localized(key: "K", arguments: ["a"])
        expected.launchImageName = "L"
        expected.badge = 0
        expected.sound = .critical(name: "chime.caf", volume: 0.25)
        expected.threadIdentifier = "t1"
        expected.categoryIdentifier = "MSG"
        expected.interruptionLevel = .timeSensitive
        expected.relevanceScore = 0.5
        expected.targetContentIdentifier = "w1"
        expected.filterCriteria = "f1"
        expected.userInfo = Bytes(#"{"chat":"c41"}"#.utf8)
        #expect(content == expected)

        var quiet = expected
        quiet.sound = nil
        quiet.interruptionLevel = .passive
        quiet.badge = nil
        #expect(scene.receive(Scene.push(try scene.envelope(sealed))).delivery.content == expected)
        #expect(expected.quiet == quiet)
    }

    /// The relay's part sets every field; the sealed part sets none.
    @Test func whatIsNotSealedIsCleared() throws {
        let scene = try Scene()
        let content = scene.receive(Scene.push(try scene.envelope(#"{"aps":{"alert":"B"}}"#))).delivery.content
        var expected = NotificationContent()
        expected.body = "B"
        #expect(content == expected)
    }

    @Test func aLocalisedTextPrintsAsItsKeyAndArguments() {
        #expect(
            NotificationContent.Text.localized(key: "INVITE", arguments: ["Ann", "8 pm"]).description
                == "INVITE(Ann, 8 pm)")
        #expect(NotificationContent.Text.localized(key: "K", arguments: []).description == "K")
        #expect(NotificationContent.Text.plain("K").isEmpty == false && NotificationContent.Text.plain("").isEmpty)
    }
}

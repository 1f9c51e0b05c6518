import PushcryptKeyStore
import PushcryptReceiver
import Testing

@testable import Pushcrypt

/// Fields of a payload, as the notification has them.
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

    static let alerts: [Field] = [
        Field(aps: #""alert":{"subtitle":"S"}"#) { $0.subtitle = "S" },
        Field(aps: #""alert":{"body":"a\nb 🚲 \"c\" \u00e9"}"#) { $0.body = .plain("a\nb 🚲 \"c\" é") },
        Field(aps: #""alert":{"title-loc-key":"K","title-loc-args":["a","b"]}"#) {
            $0.title = .localized(key: "K", arguments: ["a", "b"])
        },
        Field(aps: #""alert":{"subtitle-loc-key":"K","subtitle-loc-args":["a"]}"#) {
            $0.subtitle = .localized(key: "K", arguments: ["a"])
        },
        // Arguments alone are nothing, and each has its place in the text.
        Field(aps: #""alert":{"title":"T","title-loc-args":["a"]}"#) { $0.title = "T" },
        Field(aps: #""alert":{"loc-key":"K","loc-args":["a",7,null,1.50,true,"b",["c"],{}]}"#) {
            $0.body = .localized(key: "K", arguments: ["a", "7", "", "1.50", "", "b", "", ""])
        },
        Field(aps: #""alert":{"loc-key":"K","loc-args":"a"}"#) { $0.body = .localized(key: "K", arguments: []) },
        // No field takes a value of another type, or of another's place.
        Field(aps: #""alert":{"title":7,"subtitle":null,"body":["B"],"launch-image":{}}"#),
        Field(aps: #""alert":7"#), Field(aps: #""alert":null"#), Field(aps: #""alert":{}"#),
        Field(aps: #""title":"T","body":"B""#),
    ]

    static let sounds: [Field] = [
        Field(aps: #""sound":"default""#) { $0.sound = .standard },
        Field(aps: #""sound":"Default""#) { $0.sound = .named("Default") },
        Field(aps: #""sound":{"name":"default","volume":0.5}"#) { $0.sound = .standard },
        Field(aps: #""sound":{"name":"default","critical":1,"volume":0}"#) {
            $0.sound = .critical(name: nil, volume: 0)
        },
        Field(aps: #""sound":{"name":"","critical":1}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"name":7,"critical":1,"volume":"1"}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"critical":1,"volume":1e400}"#) { $0.sound = .critical(name: nil, volume: 1) },
        Field(aps: #""sound":{"name":"a","critical":"1"}"#) { $0.sound = .named("a") },
        Field(aps: #""sound":{"name":"a","critical":2}"#) { $0.sound = .named("a") },
        Field(aps: #""sound":{}"#), Field(aps: #""sound":{"name":""}"#), Field(aps: #""sound":{"volume":1}"#),
        Field(aps: #""sound":["default"]"#),
    ]

    static let numbersAndWords: [Field] = [
        Field(aps: #""badge":-0"#) { $0.badge = 0 }, Field(aps: #""badge":true"#),
        Field(aps: #""relevance-score":1"#) { $0.relevanceScore = 1 },
        Field(aps: #""relevance-score":1E400"#), Field(aps: #""relevance-score":true"#),
        Field(aps: #""interruption-level":"active""#),
        Field(aps: #""interruption-level":"critical""#) { $0.interruptionLevel = .critical },
        Field(aps: #""interruption-level":"Passive""#), Field(aps: #""interruption-level":"timeSensitive""#),
        Field(aps: #""thread-id":7,"category":null,"target-content-id":[],"filter-criteria":{}"#),
        Field(aps: #""content-available":1,"mutable-content":1,"badge-count":3,"Category":"MSG""#),
        Field(#"{"aps":null}"#), Field(#"{"aps":"text"}"#), Field(#"{"aps":[{"badge":3}]}"#), Field("{}"),
    ]

    /// The app's own members.
    static let custom: [Field] = [
        // In their order, with the bytes of their numbers, without white space.
        Field(#"{ "b" : 1.50 , "aps" : {} , "a" : [ 1e2 , null , "x y" ] }"#) {
            $0.userInfo = Bytes(#"{"b":1.50,"a":[1e2,"x y"]}"#.utf8)
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

    /// What `kit/notifications` does not have.
    @Test(arguments: alerts + sounds + numbersAndWords + custom)
    func aFieldIsReadAsItStandsAndNothingElseIsSet(_ field: Field) throws {
        #expect(try Self.content(field.payload) == field.content)
    }

    /// The relay's part sets every field; the sealed part sets none.
    @Test func whatIsNotSealedIsCleared() throws {
        let scene = try Scene()
        let content = scene.receive(Scene.push(try scene.envelope(#"{"aps":{"alert":"B"}}"#))).delivery.content
        var expected = NotificationContent()
        expected.body = "B"
        #expect(content == expected)
    }
}

import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import Testing

/// The user sees of a message that opens only what follows from the sealed payload.
@Suite struct OpenedNotificationTests {
    /// A payload as it was sealed, and what is shown of it.
    struct Sealed: Sendable, CustomTestStringConvertible {
        let payload: String
        let shown: Shown
        var testDescription: String { payload }
    }

    static let sealed: [Sealed] = [
        Sealed(
            payload: #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"sound":"default"},"chat":"c41"}"#,
            shown: Shown(title: "T", subtitle: "S", body: "B", sound: true)),
        Sealed(
            payload: #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"category":"MSG","badge":3}}"#,
            shown: Shown(title: "T", subtitle: "S", body: "B")),
        Sealed(payload: #"{"aps":{"alert":{"title":"T"}}}"#, shown: Shown(title: "T")),
        Sealed(payload: #"{"aps":{"alert":{"subtitle":"S"}}}"#, shown: Shown(subtitle: "S")),
        Sealed(payload: #"{"aps":{"alert":{"body":"내일 봐 🚲"}}}"#, shown: Shown(body: "내일 봐 🚲")),
        Sealed(payload: #"{"aps":{"alert":"just a text"}}"#, shown: Shown(body: "just a text")),
        Sealed(
            payload: #"{"aps":{"alert":{"loc-key":"K"},"sound":{"name":"s","critical":1,"volume":0.5}}}"#,
            shown: Shown(body: "K", sound: true)),
        Sealed(
            payload: #"{"aps":{"alert":{"title":"(Encrypted)","body":"x"},"interruption-level":"passive"}}"#,
            shown: Shown(title: "(Encrypted)", body: "x", passive: true)),
    ]

    /// A push as a relay changes it: `E` is the envelope's text.
    static let relayed: [String] = [
        #"{"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}},"ENCRYPTED_DATA":"E"}"#,
        #"{"ENCRYPTED_DATA":"E","aps":{"alert":{"title":"Bank","subtitle":"Send","body":"money"},"sound":"alarm"}}"#,
        #"{"aps":{"alert":"Send money","sound":{"name":"x","critical":1,"volume":1}},"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":{"alert":{"title":""},"sound":""},"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":{"category":"PAY","thread-id":"t","badge":99,"target-content-id":"w"},"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":{"interruption-level":"critical","relevance-score":1,"filter-criteria":"f"},"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":{"interruption-level":"passive","content-available":1,"mutable-content":0},"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":null,"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":"text","chat":"evil","pushcrypt":{"attachments":[]},"ENCRYPTED_DATA":"E"}"#,
        #"{"aps":{"alert":{"title":"T2","ENCRYPTED_DATA":"x"}},"encrypted_data":"x","ENCRYPTED_DATA":"E"}"#,
        #" { "aps" : { } ,"# + "\n\t" + #" "\u0045NCRYPTED\u005fDATA" : "\u0041W..." } "#,
    ]

    /// The push of an envelope. Every envelope's text begins with A, which the last form writes as an escape.
    private static func push(_ relayed: String, _ envelope: Envelope) -> Bytes {
        let text = relayed.replacing("\\u0041W...", with: "\\u0041" + envelope.text.dropFirst())
            .replacing("\"E\"", with: "\"\(envelope.text)\"")
        return Bytes(text.utf8)
    }

    @Test(arguments: sealed, relayed)
    func nothingThatARelayWritesChangesWhatIsShown(_ sealed: Sealed, _ relayed: String) throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        let envelope = try ReceivedPush(provider.push(sealed.payload, at: .start)).envelope()
        let reception = phone.receive(Self.push(relayed, envelope), at: .start)
        #expect(reception.code == "opened")
        #expect(reception.shown == sealed.shown)
        #expect(reception.opened.map { String(decoding: $0.payload, as: UTF8.self) } == sealed.payload)
        #expect(reception.warnings.isEmpty)
    }

    @Test func aBackgroundPushOpensToItsPayload() throws {
        let provider = try Provider()
        let phone = try Phone(enrolledWith: provider)
        var options = Sealer.Message([])
        options.pushType = .background
        let payload = #"{"aps":{"content-available":1},"sync":[1,2]}"#
        let push = try provider.push(payload, at: .start, like: options)
        let reception = phone.receive(push, as: .background, at: .start)
        #expect(reception.shown == Shown())
        #expect(reception.opened.map { String(decoding: $0.payload, as: UTF8.self) } == payload)
    }
}

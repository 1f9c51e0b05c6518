import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// What a state keeps of the app's relay.
@Suite struct EnrolmentGrantTests {
    /// RFC 8032, section 7.1, test 1.
    private static let pushKey = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    private static let digest = "00112233445566778899aabbccddeeff"
    private static let grant =
        #"{"grant":"Gr-4_nt","push_key":"\#(pushKey)","address":"\#(digest)","issued":5,"ends":7}"#

    private static func state(_ account: String = "", _ relay: String = "") throws(EnrolmentStateError)
        -> EnrolmentState
    {
        let text =
            #"{"version":1,"accounts":[{"name":"a","device":"d","sequence":7\#(account)}],"#
            + #""ends":[]\#(relay)}"#
        return try EnrolmentState(json: ContiguousArray(text.utf8))
    }

    private func address(_ token: ContiguousArray<UInt8> = [1]) throws -> PushAddress {
        try #require(PushAddress(token: token, environment: .production, topic: .app))
    }

    @Test func grantsAreWrittenAndReadAsTheyStand() throws {
        let account = #","push_key":"\#(Self.pushKey)","grants":[\#(Self.grant)]"#
        let relay = #","relay":{"origin":"https://push.example.com","ends_all":true,"ended":[\#(Self.grant)]}"#
        let state = try Self.state(account, relay)
        #expect(state.endsAllGrants && state.pushKey(of: "a")?.text == Self.pushKey)
        #expect(state.grant(of: "a")?.text == "Gr-4_nt" && state.relay?.ended.count == 1)
        let text = String(decoding: state.json, as: UTF8.self)
        #expect(text.contains(account) && text.contains(relay))
    }

    @Test(arguments: [
        (#","push_key":"AA""#, ""), (#","push_key":5"#, ""), (#","grants":{}"#, ""), (#","grants":["Gr"]"#, ""),
        (#","grants":[\#(grant.replacing("Gr-4_nt", with: "a b"))]"#, ""),
        (#","grants":[\#(grant.replacing("\"issued\":5", with: "\"issued\":-5"))]"#, ""),
        (#","grants":[\#(grant.replacing(",\"ends\":7", with: ""))]"#, ""),
        (#","grants":[\#(grant.replacing(pushKey, with: "AAAA"))]"#, ""),
        ("", #","relay":{}"#), ("", #","relay":{"origin":"x"}"#), ("", #","relay":{"origin":"x","ends_all":1}"#),
        ("", #","relay":{"origin":"x","ends_all":true,"ended":{}}"#),
    ])
    func anythingElseIsDamage(_ account: String, _ relay: String) {
        #expect(throws: EnrolmentStateError.damaged) { try Self.state(account, relay) }
    }

    @Test func anAccountHasSoManyGrants() throws {
        let (address, pushKey) = (try address(), PushKey().publicKey)
        var state = try Self.state()
        state.use(try #require(RelayOrigin("https://push.example.com")))
        let now = Timestamp.start
        for number in 0..<40 {
            let grant = EnrolmentState.Grant(
                "g\(number)", pushKey, for: address, at: now, until: number == 0 ? now : now.adding(.days(300)))
            state.add(grant, to: "a", at: now)
        }
        // The first has expired; seven wait for their end.
        #expect(state.accounts[0].grants.map(\.text) == (8..<40).map { "g\($0)" })
        #expect(state.relay?.ended.map(\.text) == (1..<8).map { "g\($0)" })
        // Nobody believes a relay that a grant lives for longer than it may.
        #expect(state.accounts[0].grants.allSatisfy { $0.endsAt == now.adding(.days(180)) })
        var other = state
        #expect(other.nextEnded(at: try self.address([2]), at: now) == nil && other == state)
        #expect(state.nextEnded(at: address, at: now)?.text == "g1")
        #expect(state.nextEnded(at: address, at: now.adding(.days(180))) == nil && state.relay?.ended == [])
        state.use(try #require(RelayOrigin("https://other.example.com")))
        #expect(state.accounts[0].grants.isEmpty && state.relay?.origin == "https://other.example.com")
    }
}

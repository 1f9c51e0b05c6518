import Pushcrypt
import Testing

@testable import PushcryptReceiver

/// The file that an installation keeps of its registrations.
@Suite struct EnrolmentStateTests {
    private static let device = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"
    private static let provider = "pcs1rqc3xgvzk2wqcguwxtkf62wj2w8lxk2ev8rvs88qnj8zsjtftrkst37dvk"
    private static let address = "https://home.example.net/push"

    /// The end of device `y`, as its phone has signed it.
    private static func end(of device: String = "y") throws -> SignedRecord {
        SignedRecord(DeviceEnd(of: device, at: try ProviderPublicKey(text: provider)), by: SigningKey(), for: .app)
    }

    private static func full(_ posts: [SignedRecord]) -> String {
        let posts = posts.map { String(decoding: $0.body, as: UTF8.self) }
        return #"{"version":1,"accounts":[{"name":"Ann \"A\"","device":"00112233445566778899aabbccddeeff","#
            + #""sequence":9007199254740990,"address":"\#(address)","key_made":7,"#
            + #""acknowledged":{"public_key":"\#(device)","provider":"\#(provider)","#
            + #""app_version":"1.0","token":"ba7816bf8f01cfea414140de5dae2223","environment":"development","#
            + #""grant":"ba7816bf8f01cfea414140de5dae2223","alerts":true,"at":1767225600000}},"#
            + #"{"name":"b","device":"x","sequence":0}],"#
            + #""ends":[{"account":"c","post":\#(posts[0]),"address":"\#(address)"},"#
            + #"{"account":"c","post":\#(posts[1])}]}"#
    }

    private static func state(_ json: String) throws(EnrolmentStateError) -> EnrolmentState {
        try EnrolmentState(json: ContiguousArray(json.utf8))
    }

    /// Token and grant are the example of FIPS 180-4: the digest of "abc", of which the first half is kept.
    @Test func aStateIsWrittenAndReadAsItStands() throws {
        let digest = EnrolmentState.Report.digest(of: ContiguousArray("abc".utf8))
        var state = EnrolmentState()
        var account = EnrolmentState.Account(
            name: "Ann \"A\"", device: "00112233445566778899aabbccddeeff", sequence: 9_007_199_254_740_990)
        (account.address, account.keyMadeAt) = (Self.address, Timestamp(milliseconds: 7))
        account.acknowledged = EnrolmentState.Acknowledgement(
            report: EnrolmentState.Report(
                publicKey: try DevicePublicKey(text: Self.device),
                provider: try ProviderPublicKey(text: Self.provider), appVersion: AppVersion("1.0"),
                token: digest, environment: .development, grant: digest, alertsAreShown: true),
            at: .start)
        state.accounts = [account, EnrolmentState.Account(name: "b", device: "x")]
        let posts = [try Self.end(), try Self.end(of: "z")]
        state.ends = [
            EnrolmentState.End(account: "c", record: posts[0], address: Self.address),
            EnrolmentState.End(account: "c", record: posts[1], address: nil),
        ]
        #expect(String(decoding: state.json, as: UTF8.self) == Self.full(posts))
        #expect(try Self.state(Self.full(posts)) == state)
        let empty = #"{"version":1,"accounts":[],"ends":[]}"#
        #expect(String(decoding: EnrolmentState().json, as: UTF8.self) == empty)
        #expect(try Self.state(empty) == EnrolmentState())
    }

    @Test func whatIsNotKnownIsNotWritten() throws {
        let json =
            #"{"version":1,"accounts":[{"name":"a","device":"d","sequence":1,"acknowledged":{"#
            + #""public_key":"\#(Self.device)","alerts":false}}],"ends":[]}"#
        let state = try Self.state(json)
        #expect(state.account("a")?.acknowledged?.report.token == nil)
        #expect(state.account("a")?.acknowledged?.at == nil)
        #expect(String(decoding: state.json, as: UTF8.self) == json)
    }

    @Test func whatChangedOverIsWrittenUntilItIsEnrolled() throws {
        let json =
            #"{"version":1,"accounts":[{"name":"b","device":"d","sequence":1,"post_quantum":true,"#
            + #""post_quantum_refused":5}],"#
            + #""ends":[],"changed_over":[{"name":"a","refused":7},{"name":"c"}]}"#
        var state = try Self.state(json)
        #expect(String(decoding: state.json, as: UTF8.self) == json)
        _ = state.deviceID(of: "a")
        #expect(state.account("a")?.isPostQuantum == true)
        #expect(state.account("a")?.postQuantumRefusedAt?.milliseconds == 7)
        state.remove("b", end: nil, changesOver: false)
        #expect(state.changedOver.map(\.name) == ["c", "b"])
        #expect(state.changedOver.last?.refusedAt?.milliseconds == 5)
        state.remove("c", end: try Self.end())
        #expect(state.changedOver.map(\.name) == ["b"])
    }

    @Test(arguments: [#"{"version":2}"#, #"{"accounts":7,"version":9007199254740993}"#])
    func aLaterVersionIsToldFromDamage(_ json: String) {
        #expect(throws: EnrolmentStateError.newer) { try Self.state(json) }
    }

    private static func account(_ member: String) -> String {
        #"{"version":1,"accounts":[{"name":"a","device":"d","sequence":1\#(member)}],"ends":[]}"#
    }

    private static func acknowledged(_ members: String) -> String { account(#","acknowledged":{\#(members)}"#) }

    @Test(arguments: [
        "", "[]", "null", "{}", #"{"version":"1","accounts":[],"ends":[]}"#,
        #"{"version":-1,"accounts":[],"ends":[]}"#, #"{"version":1.0,"accounts":[],"ends":[]}"#,
        #"{"version":1,"accounts":{},"ends":[]}"#, #"{"version":1,"accounts":[],"ends":[1]}"#,
        #"{"version":1,"accounts":[]}"#, #"{"version":1,"accounts":["a"],"ends":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","sequence":1}],"ends":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","device":"d"}],"ends":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","device":"d","sequence":-1}],"ends":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","device":"d","sequence":9007199254740991}],"ends":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","device":"d","sequence":"1"}],"ends":[]}"#,
        #"{"version":1,"accounts":[],"ends":[{"account":"c"}]}"#,
        #"{"version":1,"accounts":[],"ends":[{"account":"c","post":{"hello":"AAAAAAAAAAAAAAAAAAAAAA"}}]}"#,
        #"{"version":1,"accounts":[],"ends":[{"account":"c","post":{"record":"e30","signature":"AA"}}]}"#,
        account(#"},{"name":"a","device":"e","sequence":1"#), account(#","address":1"#), account(#","key_made":"1""#),
        #"{"version":1,"accounts":[],"ends":[],"changed_over":{}}"#,
        #"{"version":1,"accounts":[],"ends":[],"changed_over":["a"]}"#,
        #"{"version":1,"accounts":[],"ends":[],"changed_over":[{"name":"a","refused":-1}]}"#,
        account(#","post_quantum_refused":"1""#), account(#","acknowledged":null"#), acknowledged(""),
        acknowledged(#""public_key":"pcr1","alerts":true,"at":1"#),
        acknowledged(#""public_key":"\#(provider)","alerts":true,"at":1"#),
        acknowledged(#""public_key":"\#(device)","at":1"#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":"1""#),
        acknowledged(#""public_key":"\#(device)","alerts":1,"at":1"#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":-1"#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"provider":"\#(device)""#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"environment":"test""#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"grant":1"#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"app_version":"""#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"token":1"#),
    ])
    func anythingElseIsDamage(_ json: String) {
        #expect(throws: EnrolmentStateError.damaged) { try Self.state(json) }
    }

    @Test func aStateThatWasCutIsDamage() throws {
        let full = Self.full([try Self.end(), try Self.end(of: "z")])
        #expect(throws: EnrolmentStateError.damaged) { try Self.state(String(full.dropLast())) }
        // An end whose record is a registration.
        var registration = DeviceRegistration(
            deviceID: "y", publicKey: try DevicePublicKey(text: Self.device), createdAt: nil,
            pinnedProvider: try ProviderPublicKey(text: Self.provider))
        let key = SigningKey()
        (registration.updateKey, registration.sequence, registration.nonce) = (key.publicKey, 1, RecordNonce())
        let post = SignedRecord(registration, by: key, over: .open, for: .app)
        #expect(throws: EnrolmentStateError.damaged) { try Self.state(Self.full([post, post])) }
    }

    /// A provider that is never reached must not make the file grow.
    @Test func theOldestOfTooManyEndsIsGivenUp() throws {
        var state = EnrolmentState()
        var devices: [String] = []
        for _ in 0..<65 {
            devices.append(state.deviceID(of: "a"))
            state.remove("a", end: try Self.end(of: devices.last ?? ""))
        }
        #expect(Set(devices).count == 65)
        #expect(state.ends.map(\.device) == Array(devices.dropFirst()))
        state.removeEnd(of: devices[1])
        state.removeEnd(of: devices[0])
        #expect(state.ends.map(\.device) == Array(devices.dropFirst(2)))
    }

    /// Whatever becomes of the account, the end says where it goes.
    @Test func anEndKeepsTheAddressOfItsAccount() throws {
        var state = EnrolmentState()
        _ = state.deviceID(of: "a")
        state.setAddress(Self.address, of: "a")
        state.remove("a", end: try Self.end())
        #expect(state.ends.map(\.address) == [Self.address] && state.address(of: "a") == nil)
        _ = state.deviceID(of: "a")
        #expect(state.address(of: "a") == nil)
    }

    @Test func twoSpellingsOfOneNameAreTwoAccounts() {
        var state = EnrolmentState()
        #expect(state.deviceID(of: "é") != state.deviceID(of: "e\u{301}"))
        #expect(state.deviceID(of: "é") == state.deviceID(of: "é"))
        #expect(state.accounts.allSatisfy { $0.device.utf8.count == 32 })
    }
}

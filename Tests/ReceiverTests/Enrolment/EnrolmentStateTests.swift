import Pushcrypt
import Testing

@testable import PushcryptReceiver

/// The file that an installation keeps of its registrations.
@Suite struct EnrolmentStateTests {
    private static let device = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"
    private static let provider = "pcs1rqc3xgvzk2wqcguwxtkf62wj2w8lxk2ev8rvs88qnj8zsjtftrkst37dvk"
    private static let withdrawal = "0123456789abcdef0123456789abcdef"

    private static let full =
        #"{"version":1,"accounts":[{"name":"Ann \"A\"","device":"00112233445566778899aabbccddeeff","#
        + #""withdrawal":"\#(withdrawal)","acknowledged":{"public_key":"\#(device)","provider":"\#(provider)","#
        + #""app_version":"1.0","token":"ba7816bf8f01cfea414140de5dae2223","environment":"development","#
        + #""grant":"ba7816bf8f01cfea414140de5dae2223","alerts":true,"at":1767225600000}},"#
        + #"{"name":"b","device":"x","withdrawal":"\#(withdrawal)"}],"#
        + #""withdrawals":[{"account":"c","device":"y","withdrawal":"\#(withdrawal)"},"#
        + #"{"account":"c","device":"z","withdrawal":"\#(withdrawal)"}]}"#

    private static func state(_ json: String) throws(EnrolmentStateError) -> EnrolmentState {
        try EnrolmentState(json: ContiguousArray(json.utf8))
    }

    /// Token and grant are the example of FIPS 180-4: the digest of "abc", of which the first half is kept.
    @Test func aStateIsWrittenAndReadAsItStands() throws {
        let capability = try #require(WithdrawalCapability(Self.withdrawal))
        let digest = EnrolmentState.Report.digest(of: ContiguousArray("abc".utf8))
        var state = EnrolmentState()
        state.accounts = [
            EnrolmentState.Account(
                name: "Ann \"A\"", device: "00112233445566778899aabbccddeeff", withdrawal: capability,
                acknowledged: EnrolmentState.Acknowledgement(
                    report: EnrolmentState.Report(
                        publicKey: try DevicePublicKey(text: Self.device),
                        provider: try ProviderPublicKey(text: Self.provider), appVersion: AppVersion("1.0"),
                        token: digest, environment: .development, grant: digest, alertsAreShown: true),
                    at: .start)), EnrolmentState.Account(name: "b", device: "x", withdrawal: capability),
        ]
        state.withdrawals = ["y", "z"].map {
            EnrolmentState.Withdrawal(device: $0, capability: capability, account: "c")
        }
        #expect(String(decoding: state.json, as: UTF8.self) == Self.full)
        #expect(try Self.state(Self.full) == state)
        let empty = #"{"version":1,"accounts":[],"withdrawals":[]}"#
        #expect(String(decoding: EnrolmentState().json, as: UTF8.self) == empty)
        #expect(try Self.state(empty) == EnrolmentState())
    }

    @Test func whatIsNotKnownIsNotWritten() throws {
        let json =
            #"{"version":1,"accounts":[{"name":"a","device":"d","withdrawal":"\#(Self.withdrawal)","acknowledged":{"#
            + #""public_key":"\#(Self.device)","alerts":false,"at":0}}],"withdrawals":[]}"#
        let state = try Self.state(json)
        #expect(state.account("a")?.acknowledged?.report.token == nil)
        #expect(String(decoding: state.json, as: UTF8.self) == json)
    }

    @Test func whatChangedOverIsWrittenUntilItIsEnrolled() throws {
        let json =
            #"{"version":1,"accounts":[{"name":"b","device":"d","withdrawal":"\#(Self.withdrawal)","post_quantum":true,"#
            + #""post_quantum_refused":5}],"#
            + #""withdrawals":[],"changed_over":[{"name":"a","refused":7},{"name":"c"}]}"#
        var state = try Self.state(json)
        #expect(String(decoding: state.json, as: UTF8.self) == json)
        _ = state.deviceID(of: "a")
        #expect(state.account("a")?.isPostQuantum == true)
        #expect(state.account("a")?.postQuantumRefusedAt?.milliseconds == 7)
        state.remove("b", withdrawing: false, changesOver: false)
        #expect(state.changedOver.map(\.name) == ["c", "b"])
        #expect(state.changedOver.last?.refusedAt?.milliseconds == 5)
        state.remove("c", withdrawing: true)
        #expect(state.changedOver.map(\.name) == ["b"])
    }

    @Test(arguments: [#"{"version":2}"#, #"{"accounts":7,"version":9007199254740993}"#])
    func aLaterVersionIsToldFromDamage(_ json: String) {
        #expect(throws: EnrolmentStateError.newer) { try Self.state(json) }
    }

    private static func account(_ member: String) -> String {
        #"{"version":1,"accounts":[{"name":"a","device":"d","withdrawal":"\#(withdrawal)"\#(member)}],"withdrawals":[]}"#
    }

    private static func acknowledged(_ members: String) -> String { account(#","acknowledged":{\#(members)}"#) }

    @Test(arguments: [
        "", "[]", "null", "{}", #"{"version":"1","accounts":[],"withdrawals":[]}"#,
        #"{"version":-1,"accounts":[],"withdrawals":[]}"#, #"{"version":1.0,"accounts":[],"withdrawals":[]}"#,
        #"{"version":1,"accounts":{},"withdrawals":[]}"#, #"{"version":1,"accounts":[],"withdrawals":[1]}"#,
        #"{"version":1,"accounts":[]}"#, #"{"version":1,"accounts":["a"],"withdrawals":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","withdrawal":"\#(withdrawal)"}],"withdrawals":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","device":"d"}],"withdrawals":[]}"#,
        #"{"version":1,"accounts":[{"name":"a","device":"d","withdrawal":"01"}],"withdrawals":[]}"#,
        #"{"version":1,"accounts":[],"withdrawals":[{"device":"d"}]}"#,
        #"{"version":1,"accounts":[],"withdrawals":[{"withdrawal":"\#(withdrawal)"}]}"#,
        account(#"},{"name":"a","device":"e","withdrawal":"\#(withdrawal)""#),
        #"{"version":1,"accounts":[],"withdrawals":[],"changed_over":{}}"#,
        #"{"version":1,"accounts":[],"withdrawals":[],"changed_over":["a"]}"#,
        #"{"version":1,"accounts":[],"withdrawals":[],"changed_over":[{"name":"a","refused":-1}]}"#,
        account(#","post_quantum_refused":"1""#), account(#","acknowledged":null"#), acknowledged(""),
        acknowledged(#""public_key":"pcr1","alerts":true,"at":1"#),
        acknowledged(#""public_key":"\#(provider)","alerts":true,"at":1"#),
        acknowledged(#""public_key":"\#(device)","at":1"#),
        acknowledged(#""public_key":"\#(device)","alerts":1,"at":1"#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":-1"#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"provider":"\#(device)""#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"environment":"test""#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"grant":1"#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"app_version":"""#),
        acknowledged(#""public_key":"\#(device)","alerts":true,"at":1,"token":1"#), String(full.dropLast()),
    ])
    func anythingElseIsDamage(_ json: String) {
        #expect(throws: EnrolmentStateError.damaged) { try Self.state(json) }
    }

    /// A provider that is never reached must not make the file grow.
    @Test func theOldestOfTooManyWithdrawalsIsGivenUp() {
        var state = EnrolmentState()
        var devices: [String] = []
        for _ in 0..<65 {
            devices.append(state.deviceID(of: "a"))
            state.remove("a", withdrawing: true)
        }
        #expect(Set(devices).count == 65)
        #expect(state.withdrawals.map(\.device) == Array(devices.dropFirst()))
        state.removeWithdrawal(of: devices[1])
        state.removeWithdrawal(of: devices[0])
        #expect(state.withdrawals.map(\.device) == Array(devices.dropFirst(2)))
    }

    /// What the provider compares with the record of the device.
    @Test func aWithdrawalProvesThatItIsTheDevices() throws {
        var state = EnrolmentState()
        let account = state.deviceAccount(named: "a")
        #expect(state.deviceAccount(named: "b").withdrawal != account.withdrawal)
        state.remove("a", withdrawing: true)
        let json = #"{"device":"\#(account.device)","withdrawal":"\#(account.withdrawal)"}"#
        #expect(state.withdrawals.map { String(decoding: $0.json, as: UTF8.self) } == [json])
    }

    @Test func twoSpellingsOfOneNameAreTwoAccounts() {
        var state = EnrolmentState()
        #expect(state.deviceID(of: "é") != state.deviceID(of: "e\u{301}"))
        #expect(state.deviceID(of: "é") == state.deviceID(of: "é"))
        #expect(state.accounts.allSatisfy { $0.device.utf8.count == 32 })
    }
}

import Pushcrypt
import Testing

/// A provider's reply to a registration. (`Docs/FormatRecords.md`, D-12, D-13, D-19, D-41, D-42)
@Suite struct RegistrationReplyTests {
    private static let device = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"
    private static let provider = "pcs1rqc3xgvzk2wqcguwxtkf62wj2w8lxk2ev8rvs88qnj8zsjtftrkst37dvk"

    private static func reply(_ json: String) throws(KeyError) -> RegistrationReply {
        try RegistrationReply(json: ContiguousArray(json.utf8))
    }

    @Test func anAcknowledgementIsWrittenAndReadAsItStands() throws {
        let json = #"{"version":1,"acknowledged":"\#(Self.device)","provider":"\#(Self.provider)"}"#
        let reply = RegistrationReply(
            .acknowledged(try DevicePublicKey(text: Self.device)), provider: try ProviderPublicKey(text: Self.provider))
        #expect(String(decoding: reply.json, as: UTF8.self) == json)
        #expect(try Self.reply(json) == reply)
    }

    @Test(arguments: [
        ("generation-rollback", RegistrationReply.Refusal.generationRollback),
        ("generation-too-high", .generationTooHigh), ("topic-mismatch", .topicMismatch),
        ("user-mismatch", .userMismatch), ("key-taken", .keyTaken), ("unknown-device", .unknownDevice),
        ("bad-record-signature", .badRecordSignature), ("stale-record", .staleRecord), ("over-quota-2", nil),
    ])
    func aRefusalIsWrittenAndReadAsItStands(_ name: String, _ known: RegistrationReply.Refusal?) throws {
        let json = #"{"version":1,"refused":"\#(name)"}"#
        let refusal = try #require(RegistrationReply.Refusal(name))
        #expect(known == nil || known == refusal)
        #expect(String(decoding: RegistrationReply(.refused(refusal)).json, as: UTF8.self) == json)
        #expect(try Self.reply(json) == RegistrationReply(.refused(refusal)))
    }

    @Test(arguments: [["provider"], ["later", "provider"], ["later"], (1...16).map(String.init)])
    func whatIsForeignIsWrittenAndReadAsItStands(_ foreign: [String]) throws {
        let list = foreign.map { "\"\($0)\"" }.joined(separator: ",")
        let json = #"{"version":1,"acknowledged":"\#(Self.device)","foreign":[\#(list)]}"#
        let reply = RegistrationReply(
            .acknowledged(try DevicePublicKey(text: Self.device)),
            foreign: foreign.map(RegistrationReply.ForeignMember.init))
        #expect(String(decoding: reply.json, as: UTF8.self) == json)
        #expect(try Self.reply(json) == reply)
        #expect(reply.foreign.contains(.provider) == foreign.contains("provider"))
    }

    @Test func aCertificateAndAPushKeyAreWrittenAndReadAsTheyStand() throws {
        let certificate = try Issuer().certificate(5).certificate
        let key = SigningKey().publicKey
        var reply = RegistrationReply(
            .acknowledged(try DevicePublicKey(text: Self.device)), certificate: certificate)
        reply.pushKey = key
        let json =
            #"{"version":1,"acknowledged":"\#(Self.device)","certificate":"\#(certificate)","push_key":"\#(key.text)"}"#
        #expect(String(decoding: reply.json, as: UTF8.self) == json)
        #expect(try Self.reply(json) == reply && key.text.utf8.count == 43)
    }

    @Test func whatPostsAreAnsweredIsWrittenAndReadAsItStands() throws {
        let (key, next) = (SigningKey().publicKey, SigningKey().publicKey)
        var stale = RegistrationReply(.refused(.staleRecord))
        stale.sequence = 9_007_199_254_740_991
        var renewed = RegistrationReply(.acknowledged(try DevicePublicKey(text: Self.device)))
        (renewed.pushKey, renewed.nextPushKey, renewed.isGrantEnded) = (key, next, true)
        let keys = #""push_key":"\#(key.text)","next_push_key":"\#(next.text)""#
        for (reply, json) in [
            (RegistrationReply(.ended("phone 1")), #"{"version":1,"ended":"phone 1"}"#),
            (RegistrationReply(.hello("AAECAwQFBgcICQoLDA0ODw")), #"{"version":1,"hello":"AAECAwQFBgcICQoLDA0ODw"}"#),
            (stale, #"{"version":1,"refused":"stale-record","sequence":9007199254740991}"#),
            (renewed, #"{"version":1,"acknowledged":"\#(Self.device)",\#(keys),"grant":"ended"}"#),
        ] {
            #expect(String(decoding: reply.json, as: UTF8.self) == json)
            #expect(try Self.reply(json) == reply)
        }
    }
}

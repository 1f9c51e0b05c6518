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
        let reply = RegistrationReply(
            .acknowledged(try DevicePublicKey(text: Self.device)), provider: nil, certificate: certificate, pushKey: key
        )
        let json =
            #"{"version":1,"acknowledged":"\#(Self.device)","certificate":"\#(certificate)","push_key":"\#(key.text)"}"#
        #expect(String(decoding: reply.json, as: UTF8.self) == json)
        #expect(try Self.reply(json) == reply && key.text.utf8.count == 43)
    }

    @Test func whatPostsAreAnsweredIsWrittenAndReadAsItStands() throws {
        let (key, next) = (SigningKey().publicKey, SigningKey().publicKey)
        var stale = RegistrationReply(.refused(.staleRecord))
        stale.sequence = 9_007_199_254_740_991
        var renewed = RegistrationReply(
            .acknowledged(try DevicePublicKey(text: Self.device)), provider: nil, certificate: nil, pushKey: key)
        (renewed.nextPushKey, renewed.isGrantEnded) = (next, true)
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

    @Test func whatALaterProviderSaysMoreIsPassedOver() throws {
        let reply = try Self.reply(
            #"{"later":[1],"acknowledged":"\#(Self.device)","refused":null,"provider":null,"certificate":null,"push_key":null,"foreign":null,"suite":2,"version":1}"#
        )
        #expect(reply == RegistrationReply(.acknowledged(try DevicePublicKey(text: Self.device))))
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let json: String
        let code: KeyError.Code
        let says: String

        var testDescription: String { json }

        init(_ json: String, _ code: KeyError.Code = .malformedRecord, says: String) {
            (self.json, self.code, self.says) = (json, code, says)
        }
    }

    @Test(arguments: [
        Fault("", says: "not JSON"), Fault("OK", says: "not JSON"), Fault("[]", says: "not a JSON object"),
        Fault(#"{"acknowledged":"\#(device)"}"#, says: "version is not 1"),
        Fault(#"{"version":2,"acknowledged":"\#(device)"}"#, says: "version is not 1"),
        Fault(#"{"version":"1","acknowledged":"\#(device)"}"#, says: "version"),
        Fault(#"{"version":1.0,"acknowledged":"\#(device)"}"#, says: "version"),
        Fault(#"{"version":1}"#, says: "exactly one of acknowledged"),
        Fault(#"{"version":1,"provider":"\#(provider)"}"#, says: "exactly one of acknowledged"),
        Fault(#"{"version":1,"acknowledged":"\#(device)","refused":"x"}"#, says: "exactly one of acknowledged"),
        Fault(#"{"version":1,"acknowledged":true}"#, says: "acknowledged is not a string"),
        // Four bytes name no key.
        Fault(#"{"version":1,"acknowledged":"654db668"}"#, .malformedKey, says: "not the text of a key"),
        Fault(#"{"version":1,"acknowledged":"\#(provider)"}"#, .wrongKind, says: "public key"),
        Fault(#"{"version":1,"acknowledged":"\#(device)","provider":"\#(device)"}"#, .wrongKind, says: "public key"),
        Fault(#"{"version":1,"acknowledged":"\#(device)","acknowledged":"\#(device)"}"#, says: "appears twice"),
        Fault(#"{"version":1,"acknowledged":"\#(device)","foreign":[]}"#, says: "foreign is not an array"),
        Fault(#"{"version":1,"acknowledged":"\#(device)","foreign":"provider"}"#, says: "foreign is not an array"),
        Fault(#"{"version":1,"acknowledged":"\#(device)","foreign":["provider",1]}"#, says: "foreign is not an array"),
        Fault(
            #"{"version":1,"acknowledged":"\#(device)","foreign":[\#(String(repeating: "\"x\",", count: 16))"x"]}"#,
            says: "foreign is not an array"),
        Fault(#"{"version":1,"refused":"x","certificate":1}"#, says: "certificate is not a string"),
        Fault(#"{"version":1,"refused":"x","push_key":1}"#, says: "push_key is not a string"),
        Fault(#"{"version":1,"refused":"x","push_key":"AQ"}"#, .malformedKey, says: "32 bytes"),
        Fault(
            #"{"version":1,"refused":"x","push_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"}"#, .malformedKey,
            says: "43 characters"),
        Fault(
            #"{"version":1,"refused":"x","push_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#, .weakKey,
            says: "weak"),
        Fault(#"{"version":1,"ended":""}"#, says: "ended must have 1 to 255 bytes"),
        Fault(#"{"version":1,"ended":"a","hello":"b"}"#, says: "exactly one of"),
        Fault(#"{"version":1,"refused":"stale-record","sequence":-1}"#, says: "sequence"),
        Fault(#"{"version":1,"refused":"x","grant":"revoked"}"#, says: "grant is not the word ended"),
        Fault(#"{"version":1,"refused":"x","next_push_key":"AQ"}"#, .malformedKey, says: "32 bytes"),
        Fault(#"{"version":1,"refused":""}"#, says: "refused is not a reason"),
        Fault(#"{"version":1,"refused":"No way"}"#, says: "refused is not a reason"),
        Fault(#"{"version":1,"refused":"\#(String(repeating: "x", count: 65))"}"#, says: "refused is not a reason"),
    ])
    func anythingElseIsRefused(_ fault: Fault) throws {
        let error = try #require(#expect(throws: KeyError.self) { try Self.reply(fault.json) })
        #expect(error.code == fault.code)
        #expect(error.description.contains(fault.says), "\(error)")
    }
}

import Testing

@testable import Pushcrypt

/// The JSON objects in which public keys travel between a phone and its provider. (`Docs/FormatRecords.md`, D-1 to D-14, D-20)
@Suite struct RecordTests {
    private static let device = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"
    private static let provider = "pcs1rqc3xgvzk2wqcguwxtkf62wj2w8lxk2ev8rvs88qnj8zsjtftrkst37dvk"
    private static let now = FormatFixture.now
    /// Epoch 5, floor 3, with the signing key of seed 45 (×32), by the fixture's provider.
    private static let certificate = certified.description
    private static let certified: Certificate = {
        guard let issued = try? Issuer().certificate(5, floor: 3) else { preconditionFailure("no certificate") }
        return issued.certificate
    }()

    /// The worked example's device, with everything that a record can say.
    private static let fullDevice =
        #"{"device":"phone \"1\"","public_key":"\#(device)","key_id":"654db668","suite":1,"suites":[1,2],"#
        + #""topic":"com.example.app","generation":7,"created":1767225600000,"provider":"\#(provider)","#
        + #""certificate":"\#(certificate)","app_version":"2.3.1 (\"β\")","token":"00ff","environment":"development","#
        + #""update_key":"\#(updateKey.text)","sequence":9007199254740990,"nonce":"AAECAwQFBgcICQoLDA0ODw","grant":"A-_9"}"#
    private static let updateKey = certified.signingKey
    private static let fullProvider =
        #"{"public_key":"\#(provider)","key_id":"612530ac","topic":"com.example.app","generation":3,"#
        + #""created":1767225600000,"certificate":"\#(certificate)"}"#

    private static func registration(_ json: String) throws(KeyError) -> DeviceRegistration {
        try DeviceRegistration(json: Bytes(json.utf8))
    }

    private static func providerRecord(_ json: String) throws(KeyError) -> ProviderRecord {
        try ProviderRecord(json: Bytes(json.utf8), at: now)
    }

    @Test func aDevicesRecordIsWrittenAndReadAsItStands() throws {
        var registration = DeviceRegistration(
            deviceID: "phone \"1\"", publicKey: try DevicePublicKey(text: Self.device), suites: [1, 2],
            topic: try Topic("com.example.app"), generation: 7, createdAt: Timestamp(milliseconds: 1_767_225_600_000),
            pinnedProvider: try ProviderPublicKey(text: Self.provider), certificate: Self.certified,
            appVersion: AppVersion("2.3.1 (\"β\")"))
        registration.token = "00ff"
        registration.environment = .development
        registration.updateKey = Self.updateKey
        registration.sequence = 9_007_199_254_740_990
        registration.nonce = RecordNonce("AAECAwQFBgcICQoLDA0ODw")
        registration.grant = "A-_9"
        #expect(jsonText(registration.json) == Self.fullDevice)
        #expect(try Self.registration(Self.fullDevice) == registration)
    }

    @Test func aProvidersRecordIsWrittenAndReadAsItStands() throws {
        let record = ProviderRecord(
            publicKey: try ProviderPublicKey(text: Self.provider), topic: try Topic("com.example.app"), generation: 3,
            createdAt: Timestamp(milliseconds: 1_767_225_600_000), certificate: Self.certified)
        #expect(jsonText(record.json) == Self.fullProvider)
        #expect(try Self.providerRecord(Self.fullProvider) == record)
    }

    /// The key alone is enough; the rest is as new, from now, for no app and from no device in particular.
    @Test(arguments: [
        "", #","device":null,"topic":null,"key_id":null,"generation":null,"created":null,"provider":null"#,
        #","suites":null,"app_version":null,"certificate":null,"token":null,"environment":null,"grant":null"#,
        #","update_key":null,"sequence":null,"nonce":null,"ended":null"#,
        #","later":{"x":[1]},"Suite":9"#,
    ])
    func onlyTheKeyMustBeThere(_ more: String) throws {
        let registration = try Self.registration(#"{"public_key":"\#(Self.device)""# + more + "}")
        #expect(
            registration
                == DeviceRegistration(
                    publicKey: try DevicePublicKey(text: Self.device), suites: [1], createdAt: nil))
        #expect(registration.generation == 1)
        #expect(registration.suites == [1])
        #expect(registration.appVersion == nil)
        let record = try Self.providerRecord(#"{"public_key":"\#(Self.provider)""# + more + "}")
        #expect(
            record
                == ProviderRecord(
                    publicKey: try ProviderPublicKey(text: Self.provider), topic: nil, generation: 1,
                    createdAt: Self.now))
    }

    /// A device id that no store accepts is refused with the record, not only when the device is added.
    @Test(arguments: [
        "", " ", "pcr1phone", "phone\u{85}", "phone\u{ad}", "pho\u{200b}ne", "\u{feff}phone", "phone\u{2028}",
        "phone\u{2029}", "phone\u{202e}", "phone\u{e0041}", String(repeating: "é", count: 128),
    ])
    func aDeviceIDThatNoDeviceHasIsRefused(_ id: String) {
        var json = JSONWriter()
        json.object { json in
            json.string(id, for: "device")
            json.string(Self.device, for: "public_key")
        }
        let record = json.bytes
        let error = #expect(throws: KeyError.self) { try DeviceRegistration(json: record) }
        #expect(error?.code == .malformedRecord && error?.description.contains("the record's device") == true)
    }

    @Test func whatIsNotSaidIsNotWritten() throws {
        let registration = DeviceRegistration(
            publicKey: try DevicePublicKey(text: Self.device), suites: [1], createdAt: Timestamp(milliseconds: 5))
        #expect(
            jsonText(registration.json)
                == #"{"public_key":"\#(Self.device)","key_id":"654db668","suite":1,"suites":[1],"generation":1,"created":5}"#
        )
        let undated = DeviceRegistration(
            publicKey: try DevicePublicKey(text: Self.device), suites: [1], createdAt: nil)
        #expect(
            jsonText(undated.json)
                == #"{"public_key":"\#(Self.device)","key_id":"654db668","suite":1,"suites":[1],"generation":1}"#)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let member: String
        let code: KeyError.Code
        let says: String

        var testDescription: String { member }

        init(_ member: String, _ code: KeyError.Code = .malformedRecord, says: String) {
            (self.member, self.code, self.says) = (member, code, says)
        }
    }

    /// Members that both records have.
    static let sharedFaults = [
        Fault(#""key_id":"654db669""#, says: "key_id does not belong"),
        Fault(#""key_id":"654DB668""#, says: "key_id does not belong"), Fault(#""key_id":"""#, says: "key_id"),
        Fault(#""key_id":1700640360"#, says: "key_id is not a string"),
        Fault(#""topic":"com example""#, says: "topic is not a bundle id"), Fault(#""topic":"""#, says: "topic"),
        Fault(#""topic":["com.example.app"]"#, says: "topic is not a string"),
        Fault(#""generation":-1"#, says: "generation is not a whole number"),
        Fault(#""generation":1.5"#, says: "generation"),
        Fault(#""generation":"1""#, says: "generation"), Fault(#""generation":true"#, says: "generation"),
        Fault(#""generation":9007199254740992"#, says: "generation"),
        Fault(#""created":"2026-01-01""#, says: "created is not a whole number"),
        Fault(#""created":1e3"#, says: "created"),
        Fault(#""created":99999999999999999999"#, says: "created"), Fault(#""suite":2"#, says: "suite"),
        Fault(#""suite":"1""#, says: "suite"),
        Fault(#""suite":257"#, says: "suite"),
        Fault(#""certificate":1"#, says: "certificate is not a string"),
    ]

    @Test("A certificate that cannot be read counts as absent, and the reader is told", arguments: unreadable)
    func aCertificateThatCannotBeRead(_ text: String, _ code: TrustError.Code) throws {
        let members = #""certificate":"\#(text)"}"#
        let record = try DeviceRegistration(json: Bytes(#"{"public_key":"\#(Self.device)",\#(members)"#.utf8))
        #expect(record.certificate == nil && record.certificateFault?.code == code)
        let provider = try ProviderRecord(
            json: Bytes(#"{"public_key":"\#(Self.provider)",\#(members)"#.utf8), at: Timestamp(milliseconds: 0))
        #expect(provider.certificate == nil && provider.certificateFault?.code == code)
        let reply = try RegistrationReply(json: Bytes(#"{"version":1,"refused":"x",\#(members)"#.utf8))
        #expect(reply.certificate == nil && reply.certificateFault?.code == code)
    }

    private static let unreadable: [(String, TrustError.Code)] = [
        ("", .malformedCertificate), (String(certificate.dropLast()), .malformedCertificate),
        ("\(certificate)=", .malformedCertificate), (weak, .weakKey),
    ]

    /// A certificate whose signing key is the neutral point.
    private static let weak: String = {
        var bytes = certified.bytes
        bytes.replaceSubrange(25..<57, with: [1] + Bytes(repeating: 0, count: 31))
        return Base64URL.string(bytes.span)
    }()

    static let deviceFaults = [
        Fault(#""device":1"#, says: "device is not a string"),
        Fault(#""provider":{}"#, says: "provider is not a string"),
        Fault(#""provider":"\#(device)""#, .wrongKind, says: "a provider's public key"),
        Fault(#""provider":"\#(provider.dropLast())q""#, .wrongChecksum, says: "checksum"),
        Fault(#""provider":"""#, .malformedKey, says: "a provider's public key"),
        Fault(#""token":1"#, says: "token is not a string"), Fault(#""token":"""#, says: "token is not an even"),
        Fault(#""token":"0""#, says: "token"), Fault(#""token":"000""#, says: "token"),
        Fault(#""token":"0A""#, says: "token"),
        Fault(#""token":"0g""#, says: "token"),
        Fault(#""token":"\#(String(repeating: "00", count: 101))""#, says: "token"),
        Fault(#""environment":"sandbox""#, says: "production or development"),
        Fault(#""environment":1"#, says: "string"),
        Fault(#""update_key":1"#, says: "update_key is not a string"),
        Fault(#""update_key":"AQ""#, .malformedKey, says: "32 bytes"),
        Fault(#""update_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#, .weakKey, says: "weak"),
        Fault(#""sequence":0"#, says: "sequence is not a number from 1"),
        Fault(#""sequence":9007199254740991"#, says: "sequence"), Fault(#""sequence":"1""#, says: "sequence"),
        Fault(#""nonce":"AAECAwQFBgcICQoLDA0OD""#, says: "nonce is not 22"),
        Fault(#""nonce":"AAECAwQFBgcICQoLDA0OD-""#, says: "nonce"), Fault(#""nonce":1"#, says: "nonce is not a string"),
        Fault(#""grant":"""#, says: "grant is not 1 to 1024"), Fault(#""grant":"a=""#, says: "grant"),
        Fault(#""grant":"\#(String(repeating: "a", count: 1025))""#, says: "grant"),
        Fault(#""suites":1"#, says: "suites are not"), Fault(#""suites":[]"#, says: "suites"),
        Fault(#""suites":["1"]"#, says: "suites"), Fault(#""suites":[2]"#, says: "not those of its public_key"),
        Fault(#""suites":[2,1]"#, says: "ascending"), Fault(#""suites":[1,1]"#, says: "ascending"),
        Fault(#""suites":[0,1]"#, says: "from 1 to 255"), Fault(#""suites":[1,256]"#, says: "from 1 to 255"),
        Fault(#""suites":[1,null]"#, says: "suites"), Fault(#""suites":[1,2.0]"#, says: "suites"),
        Fault(#""suites":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"#, says: "1 to 16"),
        Fault(#""app_version":2"#, says: "app_version is not a string"),
        Fault(#""app_version":"""#, says: "1 to 64 bytes"), Fault(#""app_version":"1\n2""#, says: "control characters"),
        Fault(#""app_version":"1\u009b2""#, says: "control characters"),
        Fault(#""app_version":"\#(String(repeating: "é", count: 32))1""#, says: "1 to 64 bytes"),
    ]

    @Test func sixteenSuitesAndAVersionOfSixtyFourBytesAreTheMost() throws {
        let version = String(repeating: "é", count: 32)
        let registration = try Self.registration(
            #"{"public_key":"\#(Self.device)","suites":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,255],"app_version":"\#(version)"}"#
        )
        #expect(registration.suites == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255])
        #expect(registration.appVersion?.description == version)
        #expect(Set([AppVersion("e\u{301}"), AppVersion("é"), AppVersion("é")]).count == 2)
        #expect(AppVersion("e\u{301}") != AppVersion("é"))
    }

    @Test func theLongestTokenAndGrantAreTaken() throws {
        let (token, grant) = (String(repeating: "0f", count: 100), String(repeating: "_", count: 1024))
        let registration = try Self.registration(
            #"{"public_key":"\#(Self.device)","token":"\#(token)","grant":"\#(grant)"}"#)
        #expect(registration.token == token && registration.grant == grant)
        #expect(RecordNonce().description.utf8.count == 22 && RecordNonce() != RecordNonce())
    }

    @Test(arguments: sharedFaults + deviceFaults) func aMistypedMemberOfADevicesRecordIsNamed(_ fault: Fault) throws {
        let error = try #require(
            #expect(throws: KeyError.self) {
                try Self.registration(#"{"public_key":"\#(Self.device)","# + fault.member + "}")
            })
        #expect(error.code == fault.code)
        #expect(error.description.contains(fault.says), "\(error)")
    }

    @Test(arguments: sharedFaults) func aMistypedMemberOfAProvidersRecordIsNamed(_ fault: Fault) throws {
        let error = try #require(
            #expect(throws: KeyError.self) {
                try Self.providerRecord(#"{"public_key":"\#(Self.provider)","# + fault.member + "}")
            })
        #expect(error.code == fault.code)
        #expect(error.description.contains(fault.says), "\(error)")
    }

    @Test(arguments: [
        Fault("", says: "not JSON"), Fault("[]", says: "not a JSON object"), Fault("pcr1", says: "not JSON"),
        Fault("{}", says: "no public_key"), Fault(#"{"public_key":null}"#, says: "no public_key"),
        Fault(#"{"publicKey":"\#(device)"}"#, says: "no public_key"), Fault(#"{"public_key":1}"#, says: "not a string"),
        Fault(#"{"public_key":"\#(device)","public_key":"\#(device)"}"#, says: "appears twice"),
        Fault(#"{"public_key":"zebra"}"#, .malformedKey, says: "not the text of a key"),
        Fault(
            #"{"public_key":"pcr1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj6vzlz"}"#, .weakKey,
            says: "public key"),
    ])
    func aRecordWithoutItsKeyIsRefused(_ fault: Fault) throws {
        for refused in [
            #expect(throws: KeyError.self) { try Self.registration(fault.member) },
            #expect(throws: KeyError.self) { try Self.providerRecord(fault.member) },
        ] {
            let error = try #require(refused)
            #expect(!error.description.contains("zebra"))
        }
        let error = try #require(#expect(throws: KeyError.self) { try Self.registration(fault.member) })
        #expect(error.code == fault.code)
        #expect(error.description.contains(fault.says), "\(error)")
    }

    /// A phone's record is not taken for a provider's, nor the other way round.
    @Test func theTwoRecordsAreNotConfused() {
        let provider = #expect(throws: KeyError.self) { try Self.providerRecord(Self.fullDevice) }
        #expect(provider?.code == .wrongKind)
        let device = #expect(throws: KeyError.self) { try Self.registration(Self.fullProvider) }
        #expect(device?.code == .wrongKind)
    }

    /// 2^53 - 1 is the last integer that every JSON reader keeps.
    @Test func numbersGoUpToTheLastThatEveryReaderKeeps() throws {
        let record = #"{"public_key":"\#(Self.device)","generation":9007199254740991,"created":9007199254740991}"#
        let registration = try Self.registration(record)
        #expect(registration.generation == 9_007_199_254_740_991)
        #expect(registration.createdAt == .maximum)
        #expect(try Self.registration(#"{"public_key":"\#(Self.device)","generation":0,"created":0}"#).generation == 0)
    }
}

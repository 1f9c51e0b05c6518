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

    /// Other faults, and their codes, are in the kit's `records`.
    @Test(arguments: [
        (#""key_id":"654db669""#, "key_id does not belong"), (#""topic":1"#, "topic is not a string"),
        (#""device":"""#, "the record's device"), (#""sequence":0"#, "sequence is not a number from 1"),
        (#""suites":[2,1]"#, "ascending"), (#""app_version":"1\n2""#, "control characters"),
    ])
    func aMistypedMemberIsNamed(_ member: String, _ says: String) throws {
        let json = #"{"public_key":"\#(Self.device)","# + member + "}"
        let error = try #require(#expect(throws: KeyError.self) { try Self.registration(json) })
        #expect(error.code == .malformedRecord && error.description.contains(says), "\(error)")
    }

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
}

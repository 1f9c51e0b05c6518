/// A phone's report of its key to the provider, over the app's own authenticated channel.
///
/// (`Docs/FormatRecords.md`, Registration record)
public struct DeviceRegistration: Hashable, Sendable {
    /// The suites that a device with this version of the library opens.
    package static let supportedSuites = CipherSuite.supported.map(\.rawValue)

    /// The provider's name for the device; nil if the provider chooses it.
    ///
    /// 1 to 255 bytes without control characters, not only spaces, and not beginning with `pcr1` or `pcrx1`. Reading a record with
    /// any other name fails.
    public var deviceID: String?
    /// The key to seal to.
    public var publicKey: DevicePublicKey
    /// The suites that the device opens, in ascending order, including that of `publicKey`.
    public var suites: [UInt8]
    /// The app that the key is for; nil if the key is not bound to one.
    public var topic: Topic?
    /// The number of the key among the device's keys; a provider refuses a lower one than it has.
    public var generation: UInt64
    /// When the key was generated; nil if unknown.
    public var createdAt: Timestamp?
    /// The provider key that the device has pinned.
    public var pinnedProvider: ProviderPublicKey?
    /// The highest certificate that the device knows of that key: proof, if the provider never issued it.
    public var certificate: Certificate?
    /// Why the record's certificate was left out when the record was read; nil if it was not.
    package var certificateFault: TrustError?
    /// The version of the app on the device.
    public var appVersion: AppVersion?
    /// Where Apple delivers to: 2 to 200 lower-case hexadecimal digits, for 1 to 100 bytes.
    package var token: String?
    /// The environment of the token.
    package var environment: PushEnvironment?
    /// The key under which the device signs its records.
    package var updateKey: SigningPublicKey?
    /// The record's place among the device's, 1 to 2^53 − 2.
    package var sequence: UInt64?
    /// Makes the record differ from every other; stores do not keep it.
    package var nonce: RecordNonce?
    /// Lets the provider reach the device through a relay: 1 to 1,024 characters of base64url.
    package var grant: String?

    /// Creates a registration; without `suites`, with those that this build opens, and the key's.
    public init(
        deviceID: String? = nil, publicKey: DevicePublicKey, suites: [UInt8]? = nil, topic: Topic? = nil,
        generation: UInt64 = 1, createdAt: Timestamp?, pinnedProvider: ProviderPublicKey? = nil,
        certificate: Certificate? = nil, appVersion: AppVersion? = nil
    ) {
        self.deviceID = deviceID
        self.publicKey = publicKey
        self.suites = suites ?? Set(Self.supportedSuites + [publicKey.suite.rawValue]).sorted()
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
        self.pinnedProvider = pinnedProvider
        self.certificate = certificate
        self.appVersion = appVersion
    }
}

extension DeviceRegistration {
    /// Parses a device's record; `generation` is 1 if it is missing.
    ///
    /// - Throws: `malformedRecord`, or the error of a key in the record.
    public init(json: ContiguousArray<UInt8>) throws(KeyError) {
        try self.init(KeyRecord(json))
    }

    /// Reads a record that may have more members than a registration.
    package init(_ record: KeyRecord) throws(KeyError) {
        guard try !record.isEnd() else {
            throw KeyError(.malformedRecord, "the record ends its device: only a signed post does that")
        }
        // First what is no text of a key, then those, last what follows from the keys.
        let (keyText, providerText, id) = (try record.publicKey(), try record.text("provider"), try record.deviceID())
        let (suites, topic, appVersion) = (try record.suites(), try record.topic(), try record.appVersion())
        let suite = try record.suite()
        let (token, environment) = (try record.token(), try record.environment())
        let (sequence, nonce, grant) = (try record.sequence(), try record.nonce(), try record.grant())
        let (certificate, fault) = try record.certificate()
        let (generation, createdAt) = (try record.number("generation") ?? 1, try record.time("created"))
        let keyID = try record.text("key_id")
        let keySuite = DevicePublicKey.suite(ofText: keyText).rawValue
        guard suite ?? keySuite == keySuite, suites?.contains(keySuite) ?? true else {
            throw KeyError(.malformedRecord, "the record's suite or suites are not those of its public_key")
        }
        let publicKey = try DevicePublicKey(text: keyText)
        let provider = try providerText.map(ProviderPublicKey.init(text:))
        let updateKey = try record.updateKey()
        try KeyRecord.check(keyID, isOf: publicKey.id)
        self.init(
            deviceID: id, publicKey: publicKey, suites: suites ?? [keySuite], topic: topic, generation: generation,
            createdAt: createdAt, pinnedProvider: provider, certificate: certificate, appVersion: appVersion)
        certificateFault = fault
        // An environment is that of its token. [D-33]
        (self.token, self.environment, self.grant) = (token, token == nil ? nil : environment, grant)
        (self.updateKey, self.sequence, self.nonce) = (updateKey, sequence, nonce)
    }

    /// The record as minified JSON.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object(write)
        return json.bytes
    }

    /// Writes the members of the record.
    package func write(to json: inout JSONWriter) {
        if let deviceID { json.string(deviceID, for: "device") }
        json.string(publicKey.description, for: "public_key")
        json.string(publicKey.id.description, for: "key_id")
        json.integer(publicKey.suite.rawValue, for: "suite")
        json.array(for: "suites") { json in for suite in suites { json.integer(suite) } }
        if let topic { json.string(topic.bundleID, for: "topic") }
        json.integer(generation, for: "generation")
        if let createdAt { json.integer(createdAt.milliseconds, for: "created") }
        if let pinnedProvider { json.string(pinnedProvider.description, for: "provider") }
        if let certificate { json.string(certificate.description, for: "certificate") }
        if let appVersion { json.string(appVersion.description, for: "app_version") }
        if let token { json.string(token, for: "token") }
        if let environment { json.string(environment.rawValue, for: "environment") }
        if let updateKey { json.string(updateKey.text, for: "update_key") }
        if let sequence { json.integer(sequence, for: "sequence") }
        if let nonce { json.string(nonce.description, for: "nonce") }
        if let grant { json.string(grant, for: "grant") }
    }
}

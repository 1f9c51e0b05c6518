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
    /// The sender key that the device trusts, so that the provider can stop announcing a rotation to it.
    public var pinnedProvider: ProviderPublicKey?
    /// The recovery keys that the device has of that sender, at most two.
    public var recoveryKeys: [RecoveryPublicKey]
    /// The version of the app on the device.
    public var appVersion: AppVersion?

    /// Creates a registration; without `suites`, with those that this build opens, and the key's.
    public init(
        deviceID: String? = nil, publicKey: DevicePublicKey, suites: [UInt8]? = nil, topic: Topic? = nil,
        generation: UInt64 = 1, createdAt: Timestamp?, pinnedProvider: ProviderPublicKey? = nil,
        recoveryKeys: [RecoveryPublicKey] = [], appVersion: AppVersion? = nil
    ) {
        self.deviceID = deviceID
        self.publicKey = publicKey
        self.suites = suites ?? Set(Self.supportedSuites + [publicKey.suite.rawValue]).sorted()
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
        self.pinnedProvider = pinnedProvider
        self.recoveryKeys = recoveryKeys
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
        // First what is no text of a key, then those, last what follows from the keys.
        let (keyText, providerText, id) = (try record.publicKey(), try record.text("sender"), try record.deviceID())
        let (suites, topic, appVersion) = (try record.suites(), try record.topic(), try record.appVersion())
        let suite = try record.suite()
        let recoveryTexts = try record.recovery()
        let (generation, createdAt) = (try record.number("generation") ?? 1, try record.time("created"))
        let keyID = try record.text("key_id")
        let keySuite = DevicePublicKey.suite(ofText: keyText).rawValue
        guard suite ?? keySuite == keySuite, suites?.contains(keySuite) ?? true else {
            throw KeyError(.malformedRecord, "the record's suite or suites are not those of its public_key")
        }
        let publicKey = try DevicePublicKey(text: keyText)
        let sender = try providerText.map(ProviderPublicKey.init(text:))
        let recoveryKeys = try KeyRecord.recoveryKeys(recoveryTexts)
        try KeyRecord.check(keyID, isOf: publicKey.id)
        try KeyRecord.check(recoveryKeys, against: sender)
        self.init(
            deviceID: id, publicKey: publicKey, suites: suites ?? [keySuite], topic: topic, generation: generation,
            createdAt: createdAt, pinnedProvider: sender, recoveryKeys: recoveryKeys, appVersion: appVersion)
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
        if let pinnedProvider { json.string(pinnedProvider.description, for: "sender") }
        json.write(recoveryKeys)
        if let appVersion { json.string(appVersion.description, for: "app_version") }
    }
}

extension JSONWriter {
    /// Writes the member `recovery`, if there are recovery keys.
    mutating func write(_ recoveryKeys: [RecoveryPublicKey]) {
        guard !recoveryKeys.isEmpty else { return }
        array(for: "recovery") { json in for key in recoveryKeys { json.string(key.description) } }
    }
}

/// The rules for a provider's name for a device, in records and in stores. (`Docs/FormatRecords.md`, D-14)
package enum DeviceID {
    /// The maximum length of a device id in bytes of UTF-8.
    package static let maximumLength = 255

    /// Whether `id` is a valid device id.
    package static func isAllowed(_ id: String) -> Bool {
        (1...maximumLength).contains(id.utf8.count) && !id.unicodeScalars.contains(where: \.isControl)
            && !isKeyLike(id) && !isBlank(id)
    }

    /// Whether `id` could be mistaken for a public key.
    package static func isKeyLike(_ id: String) -> Bool { DevicePublicKey.isBeginning(of: id) }

    /// Whether `id` could be mistaken for an empty line.
    package static func isBlank(_ id: String) -> Bool { id.utf8.allSatisfy { $0 == UInt8(ascii: " ") } }
}

/// The version of the app on a device, as reported by the app, for example `2.3.1`.
///
/// For the provider's statistics and for support only: it proves nothing, and no decision depends on it. Two versions
/// are equal if their bytes are; they have no order. (`Docs/FormatRecords.md`, Registration record)
public struct AppVersion: Hashable, Sendable, LosslessStringConvertible {
    /// The maximum length of a version in bytes of UTF-8.
    package static let maximumLength = 64

    /// The version as given.
    public let description: String

    /// Creates a version from 1 to 64 bytes without control characters; returns nil for anything else.
    public init?(_ description: String) {
        guard (1...Self.maximumLength).contains(description.utf8.count),
            !description.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        self.description = description
    }

    /// Compares bytes; a string comparison would treat two spellings of an accented letter as equal.
    public static func == (a: AppVersion, b: AppVersion) -> Bool {
        a.description.utf8.elementsEqual(b.description.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}

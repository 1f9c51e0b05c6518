/// What a phone tells its provider about its key, over the app's own authenticated channel.
///
/// (`Docs/Format.md`, Registration record)
public struct DeviceRegistration: Hashable, Sendable {
    /// The suites that a device with this version of the library opens.
    public static let supportedSuites = [Suite.current]

    /// The name under which the provider keeps the device; the phone may leave it to the provider. 1 to 255 bytes without
    /// control characters, not spaces alone, not beginning with `pcr1`: a record with another one is refused where it is read.
    public var deviceID: String?
    /// What to seal to.
    public var publicKey: DevicePublicKey
    /// Every suite that the device opens, in ascending order; the one of `publicKey` is among them.
    public var suites: [UInt8]
    /// The app the key is for; nil when the key is not bound to one.
    public var topic: Topic?
    /// Counts the device's keys; a provider refuses a lower one than it has.
    public var generation: UInt64
    /// When the key was made; nil when nobody has said.
    public var createdAt: Timestamp?
    /// The sender key that the device believes, so that the provider can stop announcing a rotation to it.
    public var pinnedSender: SenderPublicKey?
    /// The version of the app on the device.
    public var appVersion: AppVersion?

    /// Makes a record.
    public init(
        deviceID: String? = nil, publicKey: DevicePublicKey, suites: [UInt8] = supportedSuites, topic: Topic? = nil,
        generation: UInt64 = 1, createdAt: Timestamp?, pinnedSender: SenderPublicKey? = nil,
        appVersion: AppVersion? = nil
    ) {
        self.deviceID = deviceID
        self.publicKey = publicKey
        self.suites = suites
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
        self.pinnedSender = pinnedSender
        self.appVersion = appVersion
    }
}

extension DeviceRegistration {
    /// Reads a device's record; `generation` is 1 when it has none.
    ///
    /// Throws `malformedRecord`, or what reading the text of its keys throws.
    public init(json: ContiguousArray<UInt8>) throws(KeyError) {
        try self.init(KeyRecord(json))
    }

    /// Reads a record that may say more than a registration does.
    package init(_ record: KeyRecord) throws(KeyError) {
        let publicKey = try DevicePublicKey(text: record.publicKey())
        try record.checkID(publicKey.id)
        self.init(
            deviceID: try record.deviceID(), publicKey: publicKey, suites: try record.suites(),
            topic: try record.topic(), generation: try record.number("generation") ?? 1,
            createdAt: try record.time("created"), pinnedSender: try record.sender(),
            appVersion: try record.appVersion())
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
        json.integer(Suite.current, for: "suite")
        json.array(for: "suites") { json in for suite in suites { json.integer(suite) } }
        if let topic { json.string(topic.bundleID, for: "topic") }
        json.integer(generation, for: "generation")
        if let createdAt { json.integer(createdAt.milliseconds, for: "created") }
        if let pinnedSender { json.string(pinnedSender.description, for: "sender") }
        if let appVersion { json.string(appVersion.description, for: "app_version") }
    }
}

/// The name under which a provider keeps a device: what a record may say, and what a store takes.
///
/// (`Docs/Format.md`, D-14)
package enum DeviceID {
    /// The most bytes of UTF-8 that a device id has.
    package static let maximumLength = 255

    /// Whether a device may be called so.
    package static func isAllowed(_ id: String) -> Bool {
        (1...maximumLength).contains(id.utf8.count) && !id.unicodeScalars.contains(where: \.isControl)
            && !isKeyLike(id) && !isBlank(id)
    }

    /// Whether it would pass for a public key.
    package static func isKeyLike(_ id: String) -> Bool { id.utf8.starts(with: DevicePublicKey.textPrefix.utf8) }

    /// Whether it would pass for an empty line.
    package static func isBlank(_ id: String) -> Bool { id.utf8.allSatisfy { $0 == UInt8(ascii: " ") } }
}

/// The version of the app that a device runs, as the app itself says it, for example `2.3.1`.
///
/// For the provider's statistics and for support: it proves nothing, and nothing is decided by it. Two are equal when
/// their bytes are, and none is older than another. (`Docs/Format.md`, Registration record)
public struct AppVersion: Hashable, Sendable, LosslessStringConvertible {
    /// The most bytes of UTF-8 that a version has.
    public static let maximumLength = 64

    /// The version as it was given.
    public let description: String

    /// Takes 1 to 64 bytes without control characters; nil for anything else.
    public init?(_ description: String) {
        guard (1...Self.maximumLength).contains(description.utf8.count),
            !description.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        self.description = description
    }

    /// Compares bytes, where a string would take two spellings of one accented letter for the same.
    public static func == (a: AppVersion, b: AppVersion) -> Bool {
        a.description.utf8.elementsEqual(b.description.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}

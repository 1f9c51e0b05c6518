/// The JSON objects in which public keys travel between a phone and its provider. (`Docs/Format.md`, Records)
///
///     device   {"device","public_key","key_id","suite","suites","topic","generation","created","sender","app_version"}
///     sender   {"public_key","key_id","topic","generation","created"}
///     reply    {"version","acknowledged" or "refused","sender"}
///
/// Of the first two only `public_key` must be there. Unknown members are passed over, so that a later version may say more.
package struct KeyRecord {
    /// The most suites that a record names.
    private static let maximumSuites = 16

    private let root: JSONValue

    package init(_ bytes: ContiguousArray<UInt8>) throws(KeyError) {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: bytes).root
        } catch {
            throw KeyError(.malformedRecord, "the record is not JSON: \(error)")
        }
        try self.init(root)
    }

    /// Takes a record that is part of something larger.
    package init(_ value: JSONValue) throws(KeyError) {
        guard value.kind == .object else { throw KeyError(.malformedRecord, "the record is not a JSON object") }
        root = value
    }

    /// The text of `public_key`, of the suite that this version knows.
    func publicKey() throws(KeyError) -> String {
        if let suite = root["suite"], suite.kind != .null, suite.integer != Int64(Envelope.suite) {
            throw KeyError(.malformedRecord, "the record's suite is not \(Envelope.suite), the one this version knows")
        }
        guard let text = try text("public_key") else {
            throw KeyError(.malformedRecord, "the record has no public_key")
        }
        return text
    }

    /// Refuses a `key_id` that names another key.
    func checkID(_ id: KeyID) throws(KeyError) {
        guard let text = try text("key_id"), text != id.description else { return }
        throw KeyError(.malformedRecord, "the record's key_id does not belong to its public_key")
    }

    /// Every suite that the device opens: in ascending order, and the key's own among them.
    func suites() throws(KeyError) -> [UInt8] {
        guard let value = root["suites"], value.kind != .null else { return [Envelope.suite] }
        let suites = value.elements.compactMap { $0.integer.flatMap(UInt8.init(exactly:)) }
        let isAscending = zip(suites, suites.dropFirst()).allSatisfy { $0 < $1 }
        guard (1...Self.maximumSuites).contains(suites.count), suites.count == value.elements.count, isAscending,
            !suites.contains(0), suites.contains(Envelope.suite)
        else {
            throw KeyError(
                .malformedRecord,
                "the record's suites are not 1 to \(Self.maximumSuites) ascending numbers from 1 to 255, the key's own among them"
            )
        }
        return suites
    }

    func deviceID() throws(KeyError) -> String? {
        guard let id = try text("device") else { return nil }
        guard DeviceID.isAllowed(id) else {
            throw KeyError(
                .malformedRecord,
                "the record's device has not 1 to \(DeviceID.maximumLength) bytes, is blank, has control characters or begins as a key does"
            )
        }
        return id
    }

    func appVersion() throws(KeyError) -> AppVersion? {
        guard let text = try text("app_version") else { return nil }
        guard let version = AppVersion(text) else {
            throw KeyError(
                .malformedRecord,
                "the record's app_version has not 1 to \(AppVersion.maximumLength) bytes without control characters")
        }
        return version
    }

    func sender() throws(KeyError) -> SenderPublicKey? {
        guard let text = try text("sender") else { return nil }
        return try SenderPublicKey(text: text)
    }

    /// Whether the record says that it has no such thing, which is more than saying nothing.
    package func isNull(_ name: String) -> Bool { root[name]?.kind == .null }

    package func text(_ name: String) throws(KeyError) -> String? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let text = value.string else { throw KeyError(.malformedRecord, "the record's \(name) is not a string") }
        return text
    }

    func topic() throws(KeyError) -> Topic? {
        guard let text = try text("topic") else { return nil }
        guard let topic = try? Topic(text) else {
            throw KeyError(.malformedRecord, "the record's topic is no bundle id")
        }
        return topic
    }

    package func time(_ name: String) throws(KeyError) -> Timestamp? {
        try number(name).map(Timestamp.init(milliseconds:))
    }

    func number(_ name: String) throws(KeyError) -> UInt64? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let number = value.integer.flatMap(UInt64.init(exactly:)), number <= Timestamp.maximum.milliseconds else {
            throw KeyError(.malformedRecord, "the record's \(name) is not a whole number, 0 or more")
        }
        return number
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
        json.integer(Envelope.suite, for: "suite")
        json.array(for: "suites") { json in for suite in suites { json.integer(suite) } }
        if let topic { json.string(topic.bundleID, for: "topic") }
        json.integer(generation, for: "generation")
        if let createdAt { json.integer(createdAt.milliseconds, for: "created") }
        if let pinnedSender { json.string(pinnedSender.description, for: "sender") }
        if let appVersion { json.string(appVersion.description, for: "app_version") }
    }
}

/// What a provider tells its app's phones about its signing key, built into the app or in the reply to a registration.
public struct SenderAnnouncement: Hashable, Sendable {
    /// What to trust.
    public let publicKey: SenderPublicKey
    /// The app that the key is for; nil when the key is not bound to one.
    public let topic: Topic?
    /// Counts the sender's keys.
    public let generation: UInt64
    /// When the key was made.
    public let createdAt: Timestamp

    /// Makes a record.
    public init(publicKey: SenderPublicKey, topic: Topic?, generation: UInt64, createdAt: Timestamp) {
        self.publicKey = publicKey
        self.topic = topic
        self.generation = generation
        self.createdAt = createdAt
    }

    /// Reads a sender's record; `generation` is 1 and `created` is `now` when it has none.
    ///
    /// Throws `malformedRecord`, or what reading the text of its key throws.
    public init(json: ContiguousArray<UInt8>, at now: Timestamp) throws(KeyError) {
        let record = try KeyRecord(json)
        let publicKey = try SenderPublicKey(text: record.publicKey())
        try record.checkID(publicKey.id)
        self.init(
            publicKey: publicKey, topic: try record.topic(), generation: try record.number("generation") ?? 1,
            createdAt: try record.time("created") ?? now)
    }

    /// The record as minified JSON.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.string(publicKey.description, for: "public_key")
            json.string(publicKey.id.description, for: "key_id")
            if let topic { json.string(topic.bundleID, for: "topic") }
            json.integer(generation, for: "generation")
            json.integer(createdAt.milliseconds, for: "created")
        }
        return json.bytes
    }
}

/// A parsed record: one of the JSON objects in which public keys travel between a phone and its provider.
/// (`Docs/FormatRecords.md`)
///
///     device    {"device","public_key","key_id","suite","suites","topic","generation","created","provider",
///                "certificate","app_version","token","environment","update_key","sequence","nonce","grant"}
///     end       {"device","provider","nonce","sequence","ended"}
///     provider  {"public_key","key_id","topic","generation","created","certificate"}
///     reply     {"version","acknowledged", "refused", "ended" or "hello","provider","certificate","foreign","suites",
///                "sequence","push_key","next_push_key","grant"}
///
/// In the first two, only `public_key` is required. Unknown members are ignored, so that a later version may add some, and null
/// counts as absent.
package struct KeyRecord {
    /// The maximum number of suites in a record.
    static let maximumSuites = 16
    static let maximumForeign = 16

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

    /// Reads a record that is part of a larger document.
    package init(_ value: JSONValue) throws(KeyError) {
        guard value.kind == .object else { throw KeyError(.malformedRecord, "the record is not a JSON object") }
        root = value
    }

    /// Returns the suite; throws if it is unknown.
    package func suite() throws(KeyError) -> UInt8? {
        guard let value = root["suite"], value.kind != .null else { return nil }
        guard let suite = value.integer.flatMap(UInt8.init(exactly:)).flatMap(CipherSuite.init(rawValue:)) else {
            throw KeyError(.malformedRecord, "the record's suite is neither 1 nor 2, those that this version knows")
        }
        return suite.rawValue
    }

    /// Returns the text of `public_key`.
    func publicKey() throws(KeyError) -> String {
        guard let text = try text("public_key") else {
            throw KeyError(.malformedRecord, "the record has no public_key")
        }
        return text
    }

    /// Returns the certificate; one that breaks T-1 counts as absent, and is told with the reason. (D-12)
    func certificate() throws(KeyError) -> (certificate: Certificate?, fault: TrustError?) {
        guard let text = try text("certificate") else { return (nil, nil) }
        do throws(TrustError) {
            return (try Certificate(text: text), nil)
        } catch {
            return (nil, error)
        }
    }

    /// Throws if a `key_id` names another key.
    static func check(_ text: String?, isOf id: KeyID) throws(KeyError) {
        guard let text, text != id.description else { return }
        throw KeyError(.malformedRecord, "the record's key_id does not belong to its public_key")
    }

    /// Returns the suites in a record or reply, in ascending order; nil if it does not say.
    func suites() throws(KeyError) -> [UInt8]? {
        guard let value = root["suites"], value.kind != .null else { return nil }
        let suites = value.elements.compactMap { $0.integer.flatMap(UInt8.init(exactly:)) }
        let isAscending = zip(suites, suites.dropFirst()).allSatisfy { $0 < $1 }
        guard (1...Self.maximumSuites).contains(suites.count), suites.count == value.elements.count, isAscending,
            !suites.contains(0)
        else {
            throw KeyError(
                .malformedRecord,
                "the record's suites are not 1 to \(Self.maximumSuites) ascending numbers from 1 to 255"
            )
        }
        return suites
    }

    func deviceID(_ name: String = "device") throws(KeyError) -> String? {
        guard let id = try text(name) else { return nil }
        guard DeviceID.isAllowed(id) else {
            throw KeyError(
                .malformedRecord,
                "the record's \(name) must have 1 to \(DeviceID.maximumLength) bytes and must not be blank, have control or invisible characters or begin like a key"
            )
        }
        return id
    }

    func appVersion() throws(KeyError) -> AppVersion? {
        guard let text = try text("app_version") else { return nil }
        guard let version = AppVersion(text) else {
            throw KeyError(
                .malformedRecord,
                "the record's app_version must have 1 to \(AppVersion.maximumLength) bytes and no control characters")
        }
        return version
    }

    /// Returns a text that fulfils a rule; throws if it does not.
    func text(_ name: String, _ rule: String, _ isAllowed: (String) -> Bool) throws(KeyError) -> String? {
        guard let text = try text(name) else { return nil }
        guard isAllowed(text) else { throw KeyError(.malformedRecord, "the record's \(name) is not \(rule)") }
        return text
    }

    /// Whether there is such a member, and it is not null.
    package func has(_ name: String) -> Bool { root[name].map { $0.kind != .null } ?? false }

    /// Whether the member is null, which is different from missing.
    package func isNull(_ name: String) -> Bool { root[name]?.kind == .null }

    package func text(_ name: String) throws(KeyError) -> String? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let text = value.string else { throw KeyError(.malformedRecord, "the record's \(name) is not a string") }
        return text
    }

    package func flag(_ name: String) throws(KeyError) -> Bool? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let flag = value.bool else {
            throw KeyError(.malformedRecord, "the record's \(name) is not true or false")
        }
        return flag
    }

    package func topic() throws(KeyError) -> Topic? {
        guard let text = try text("topic") else { return nil }
        guard let topic = try? Topic(text) else {
            throw KeyError(.malformedRecord, "the record's topic is not a bundle id")
        }
        return topic
    }

    package func time(_ name: String) throws(KeyError) -> Timestamp? {
        try number(name).map(Timestamp.init(milliseconds:))
    }

    /// Returns the members of a registration that name foreign keys.
    func foreign() throws(KeyError) -> [RegistrationReply.ForeignMember] {
        guard let value = root["foreign"], value.kind != .null else { return [] }
        let members = value.elements.compactMap(\.string)
        guard value.kind == .array, (1...Self.maximumForeign).contains(members.count),
            members.count == value.elements.count
        else {
            throw KeyError(
                .malformedRecord, "the reply's foreign is not an array of 1 to \(Self.maximumForeign) strings")
        }
        return members.map(RegistrationReply.ForeignMember.init)
    }

    package func number(_ name: String) throws(KeyError) -> UInt64? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let number = value.integer.flatMap(UInt64.init(exactly:)), number <= Timestamp.maximum.milliseconds else {
            throw KeyError(.malformedRecord, "the record's \(name) is not a whole number, 0 or more")
        }
        return number
    }
}

/// A push taken apart, before any rule is applied to it.
struct LintedPush {
    /// What `simctl push` reads and nobody sends: the app that a `.apns` file is for.
    static let simulatorKey = "Simulator Target Bundle"

    /// The payload: a JSON object.
    let root: JSONValue
    let headers: PayloadLint.Headers
    /// What stands in `ENCRYPTED_DATA`.
    let envelope: JSONValue?
    let aps: JSONValue?
    let fields: APSFields?

    /// What was given, or what the push looks like.
    let typeName: String
    let isTypeAssumed: Bool
    /// Nil for a name that is none of Apple's.
    let type: APNsPushType?

    /// The service extension would be started for it as it is.
    var startsExtension: Bool {
        type == .alert && fields.map { $0.hasText && $0.isMutableContent } ?? false
    }

    /// Parses a payload, or a request with one inside; finds `malformedPayload` and gives nil otherwise.
    init?(_ bytes: ContiguousArray<UInt8>, _ given: PayloadLint.Headers, _ findings: inout LintFindings) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            findings.add(
                .error, .malformedPayload, at: "", "not JSON as this format takes it, at byte \(error.offset)",
                fix: error.description)
            return nil
        }
        guard document.root.kind == .object else {
            findings.add(
                .error, .malformedPayload, at: "", "not a JSON object",
                fix: "give the whole payload; it begins with { and has an aps object")
            return nil
        }
        let request = LintedRequest(document.root)
        root = request?.payload ?? document.root
        headers = request.map { given.completed(by: $0.headers) } ?? given
        envelope = root[PayloadKeys.encryptedData]
        aps = root[PayloadKeys.aps].flatMap { $0.kind == .object ? $0 : nil }
        isTypeAssumed = headers.pushType == nil
        typeName =
            headers.pushType
            ?? (headers.topic.flatMap(APNsPushType.init(topic:))
            ?? Self.type(of: aps, isSealed: envelope != nil)).rawValue
        type = APNsPushType(rawValue: typeName)
        let isLiveActivity = type == .liveactivity
        fields = aps.map { APSFields($0, ofLiveActivity: isLiveActivity) }
    }

    /// The type that a push without one looks like.
    private static func type(of aps: JSONValue?, isSealed: Bool) -> APNsPushType {
        guard let aps else { return .alert }
        func has(_ names: String...) -> Bool { names.contains { aps[$0] != nil } }
        if has("content-state", "attributes-type") { return .liveactivity }
        if has("content-changed") { return .widgets }
        if has("alert", "badge", "sound") { return .alert }
        if aps["content-available"]?.integer == 1 { return .background }
        return isSealed && aps.members.isEmpty ? .voip : .alert
    }
}

/// The object that `seal --emit request` writes: a payload among what becomes its headers.
private struct LintedRequest {
    let payload: JSONValue
    let headers: PayloadLint.Headers

    /// Nil for what is no request; a payload has `aps`, and a request has not.
    init?(_ root: JSONValue) {
        guard root[PayloadKeys.aps] == nil, let payload = root["payload"], payload.kind == .object,
            ["to", "topic", "push_type", "push-type", "priority", "expiration", "collapse_id"].contains(where: {
                root[$0] != nil
            })
        else { return nil }
        self.payload = payload
        func text(_ name: String) -> String? {
            guard let value = root[name], value.kind != .null else { return nil }
            return value.string ?? String(decoding: value.minified(), as: UTF8.self)
        }
        headers = PayloadLint.Headers(
            topic: text("topic"), pushType: text("push_type") ?? text("push-type"), priority: text("priority"),
            expiration: text("expiration"), collapseID: text("collapse_id"))
    }
}

extension PayloadLint.Headers {
    /// These, and from the others what these do not say.
    fileprivate func completed(by others: Self) -> Self {
        Self(
            topic: topic ?? others.topic, pushType: pushType ?? others.pushType,
            priority: priority ?? others.priority, expiration: expiration ?? others.expiration,
            collapseID: collapseID ?? others.collapseID, id: id ?? others.id)
    }
}

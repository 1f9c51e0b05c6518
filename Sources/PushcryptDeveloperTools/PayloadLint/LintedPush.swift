internal import Pushcrypt

extension Topic {
    /// The end that makes this look like an APNs topic of one push type, such as `.voip`; nil for most bundle ids.
    package var typeSuffix: String? {
        [
            ".voip", ".complication", ".push-type.controls", ".pushkit.fileprovider", ".push-type.liveactivity",
            ".location-query", ".voip-ptt", ".push-type.widgets",
        ].first { bundleID.utf8.count > $0.utf8.count && bundleID.hasSuffix($0) }
    }
}

/// A parsed push, before any rule is applied.
struct LintedPush {
    /// The key that names the app in an `.apns` file; `simctl push` reads it, and nobody sends it.
    static let simulatorKey = "Simulator Target Bundle"

    /// The payload: a JSON object.
    let root: JSONValue
    let headers: PayloadLint.Headers
    /// The value of `ENCRYPTED_DATA`.
    let envelope: JSONValue?
    let aps: JSONValue?
    let fields: APSFields?

    /// The push type of the request, or the one that the push looks like.
    let typeName: String
    let isTypeAssumed: Bool
    /// Nil if it cannot be sealed.
    let type: PushType?
    var isReadByTheSystem: Bool { PushType.readByTheSystem.contains(typeName) }

    /// Whether the system would start the service extension for the push as it is.
    var startsExtension: Bool {
        type == .alert && fields.map { $0.hasText && $0.isMutableContent } ?? false
    }

    /// Parses a payload, or a request that contains one; otherwise adds a `malformedPayload` finding and returns nil.
    init?(_ bytes: ContiguousArray<UInt8>, _ findings: inout LintFindings) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            findings.add(
                .error, .malformedPayload, at: "", "not JSON that the format accepts, at byte \(error.offset)",
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
        headers = request?.headers ?? PayloadLint.Headers()
        envelope = root[PayloadKeys.encryptedData]
        aps = root[PayloadKeys.aps].flatMap { $0.kind == .object ? $0 : nil }
        isTypeAssumed = headers.pushType == nil
        let isCall = headers.topic?.hasSuffix(PushType.voip.topicSuffix) ?? false
        typeName = headers.pushType ?? (isCall ? "voip" : Self.type(of: aps, isSealed: envelope != nil))
        let named = try? PushType(typeName)
        type = (try? named?.sealableClass()) == nil ? nil : named
        fields = aps.map { APSFields($0) }
    }

    /// The type that a push looks like.
    private static func type(of aps: JSONValue?, isSealed: Bool) -> String {
        guard let aps else { return "alert" }
        func has(_ names: String...) -> Bool { names.contains { aps.member($0) != nil } }
        if has("content-state", "attributes-type") { return "liveactivity" }
        if has("content-changed") { return "widgets" }
        if has("alert", "badge", "sound") { return "alert" }
        if aps["content-available"]?.flag == true { return "background" }
        return isSealed && aps.members.isEmpty ? "voip" : "alert"
    }
}

/// A request object, such as `PushRequest.json`: a payload and the values of its headers.
private struct LintedRequest {
    let payload: JSONValue
    private(set) var headers = PayloadLint.Headers()

    /// Returns nil if `root` is not a request. A payload has `aps` at its top level, and a request does not.
    init?(_ root: JSONValue) {
        guard root[PayloadKeys.aps] == nil, let payload = root["payload"], payload.kind == .object,
            ["to", "topic", "push_type", "push-type", "priority", "expiration", "collapse_id", "apns_id"]
                .contains(where: { root[$0] != nil })
        else { return nil }
        self.payload = payload
        func text(_ name: String) -> String? {
            guard let value = root[name], value.kind != .null else { return nil }
            return value.string ?? String(decoding: value.minified(), as: UTF8.self)
        }
        (headers.topic, headers.pushType) = (text("topic"), text("push_type") ?? text("push-type"))
        (headers.priority, headers.expiration) = (text("priority"), text("expiration"))
        (headers.collapseID, headers.id) = (text("collapse_id"), text("apns_id"))
    }
}

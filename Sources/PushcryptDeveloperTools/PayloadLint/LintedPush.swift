internal import Pushcrypt

/// Apple's `apns-push-type` values, and Apple's rules for each. (Apple's "Sending notification requests to APNs")
enum APNsPushType: String, CaseIterable {
    case alert, background, complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, voip, widgets

    /// The part of the topic after the bundle id; nil if the topic is not a bundle id at all.
    var topicSuffix: String? {
        switch self {
        case .alert, .background, .voip: sealable?.topicSuffix
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .mdm: nil
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The type as a sealer knows it; nil if the system reads the push before any of the app's code runs.
    var sealable: PushType? { try? PushType(rawValue) }

    /// The longest push that Apple accepts, in bytes of JSON.
    var maximumPushLength: Int { (sealable ?? .alert).maximumPushLength }

    /// Whether a push of this type needs an `aps` object.
    var needsAPS: Bool {
        switch self {
        case .alert, .background, .controls, .liveactivity, .voip, .widgets: true
        case .complication, .fileprovider, .location, .mdm, .pushtotalk: false
        }
    }

    /// Finds the type whose topics have the suffix of `topic`.
    init?(topic: String) {
        let type = Self.allCases.first { type in
            type.topicSuffix.map { !$0.isEmpty && topic.utf8.count > $0.utf8.count && topic.hasSuffix($0) } ?? false
        }
        guard let type else { return nil }
        self = type
    }
}

extension Topic {
    /// The end that makes this look like an APNs topic of one push type, such as `.voip`; nil for most bundle ids.
    package var typeSuffix: String? { APNsPushType(topic: bundleID)?.topicSuffix }
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

    /// The given push type, or the one that the push looks like.
    let typeName: String
    let isTypeAssumed: Bool
    /// Nil if Apple defines no type of this name.
    let type: APNsPushType?

    /// Whether the system would start the service extension for the push as it is.
    var startsExtension: Bool {
        type == .alert && fields.map { $0.hasText && $0.isMutableContent } ?? false
    }

    /// Parses a payload, or a request that contains one; otherwise adds a `malformedPayload` finding and returns nil.
    init?(_ bytes: ContiguousArray<UInt8>, _ given: PayloadLint.Headers, _ findings: inout LintFindings) {
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

    /// The type that a push without a given type looks like.
    private static func type(of aps: JSONValue?, isSealed: Bool) -> APNsPushType {
        guard let aps else { return .alert }
        func has(_ names: String...) -> Bool { names.contains { aps.member($0) != nil } }
        if has("content-state", "attributes-type") { return .liveactivity }
        if has("content-changed") { return .widgets }
        if has("alert", "badge", "sound") { return .alert }
        if aps["content-available"]?.flag == true { return .background }
        return isSealed && aps.members.isEmpty ? .voip : .alert
    }
}

/// A request object, such as `PushRequest.json`: a payload and the values of its headers.
private struct LintedRequest {
    let payload: JSONValue
    let headers: PayloadLint.Headers

    /// Returns nil if `root` is not a request. A payload has `aps` at its top level, and a request does not.
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
    /// Returns these headers, with missing ones taken from `others`.
    fileprivate func completed(by others: Self) -> Self {
        Self(
            topic: topic ?? others.topic, pushType: pushType ?? others.pushType,
            priority: priority ?? others.priority, expiration: expiration ?? others.expiration,
            collapseID: collapseID ?? others.collapseID, id: id ?? others.id)
    }
}

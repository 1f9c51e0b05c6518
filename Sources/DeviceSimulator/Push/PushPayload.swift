internal import Foundation

/// The JSON of a push, as the system reads it: a field of another type than Apple's documents give it is not there.
struct PushPayload {
    let root: [String: Any]
    let aps: [String: Any]

    init?(_ data: Data) {
        guard let root = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] else { return nil }
        self.root = root
        aps = root["aps"] as? [String: Any] ?? [:]
    }

    /// A line of the alert, and the key and arguments that the app may bring it under.
    struct Line {
        let text: String
        let key: String?
        let arguments: [String]

        var isEmpty: Bool { text.isEmpty && key == nil }
    }

    var title: Line { line("title", key: "title-loc-key", arguments: "title-loc-args") }
    var subtitle: Line { line("subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args") }
    var body: Line {
        if let text = aps["alert"] as? String { return Line(text: text, key: nil, arguments: []) }
        return line("body", key: "loc-key", arguments: "loc-args")
    }

    private func line(_ text: String, key: String, arguments: String) -> Line {
        let alert = aps["alert"] as? [String: Any] ?? [:]
        let key = alert[key] as? String
        return Line(
            text: alert[text] as? String ?? "", key: key?.isEmpty == false ? key : nil,
            arguments: (alert[arguments] as? [Any] ?? []).compactMap { $0 as? String })
    }

    var hasAlert: Bool { aps["alert"] is String || aps["alert"] is [String: Any] }
    var hasAlertText: Bool { ![title, subtitle, body].allSatisfy(\.isEmpty) }
    /// Only the number counts, neither `"1"` nor `true`.
    var isMutable: Bool { number("mutable-content")?.doubleValue == 1 }

    func text(_ name: String) -> String? { aps[name] as? String }

    func number(_ name: String) -> NSNumber? { Self.number(aps[name]) }

    static func number(_ value: Any?) -> NSNumber? {
        // JSON's true and false are numbers too, of the type of C's char.
        guard let number = value as? NSNumber, unsafe String(cString: number.objCType) != "c" else { return nil }
        return number
    }
}

extension APNsPush {
    /// Why Apple's servers refuse the push.
    var refusal: SkipReason? {
        let limit = type == "voip" ? Self.maximumVoIPPayloadLength : Self.maximumPayloadLength
        if payload.count > limit { return .payloadTooLarge }
        if PushPayload(payload) == nil { return .notJSON }
        if let collapseID, !(1...Self.maximumCollapseIDLength).contains(collapseID.utf8.count) { return .badCollapseID }
        return nil
    }
}

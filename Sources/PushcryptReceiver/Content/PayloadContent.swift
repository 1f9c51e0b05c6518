internal import Pushcrypt

extension NotificationContent {
    /// Reads every field of a payload that a receiver can set.
    ///
    /// Total: a field that is absent or of another type than Apple's documents give it is as if it were not there. A key
    /// for a localised text wins over the text beside it, as in a push that the system shows itself.
    init(payload root: JSONValue) {
        self.init()
        if let aps = root[PayloadKeys.aps] {
            readAlert(aps["alert"])
            badge = aps["badge"]?.integer.flatMap { $0 >= 0 ? $0 : nil }
            sound = aps["sound"].flatMap(Sound.init(field:))
            threadIdentifier = aps["thread-id"]?.string ?? ""
            categoryIdentifier = aps["category"]?.string ?? ""
            interruptionLevel = aps["interruption-level"]?.string.flatMap(InterruptionLevel.init(rawValue:)) ?? .active
            relevanceScore = aps["relevance-score"]?.fraction ?? 0
            targetContentIdentifier = aps["target-content-id"]?.string
            filterCriteria = aps["filter-criteria"]?.string
        }
        var json = JSONWriter()
        json.object { json in
            for member in root.members where !PayloadKeys.all.contains(member.name) {
                json.raw(member.value, for: member.name)
            }
        }
        userInfo = json.bytes
    }

    private mutating func readAlert(_ alert: JSONValue?) {
        guard let alert else { return }
        if let text = alert.string {
            body = .plain(text)
            return
        }
        title = Text(alert, plain: "title", key: "title-loc-key", arguments: "title-loc-args")
        subtitle = Text(alert, plain: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
        body = Text(alert, plain: "body", key: "loc-key", arguments: "loc-args")
        launchImageName = alert["launch-image"]?.string ?? ""
    }
}

extension NotificationContent.Text {
    fileprivate init(_ alert: JSONValue, plain: String, key: String, arguments: String) {
        if let key = alert[key]?.string, !key.isEmpty {
            self = .localized(key: key, arguments: alert[arguments]?.elements.map(Self.argument) ?? [])
        } else {
            self = .plain(alert[plain]?.string ?? "")
        }
    }

    /// Every element has its place, so one that is no text is none that is left out.
    private static func argument(_ element: JSONValue) -> String {
        switch element.kind {
        case .string: element.string ?? ""
        case .number: String(decoding: element.minified(), as: UTF8.self)
        default: ""
        }
    }
}

extension NotificationContent.Sound {
    fileprivate init?(field: JSONValue) {
        if let name = field.string {
            self.init(name: name)
        } else if field["critical"]?.integer == 1 {
            let name = field["name"]?.string
            self = .critical(
                name: name.flatMap { $0.isEmpty || $0 == "default" ? nil : $0 }, volume: field["volume"]?.fraction ?? 1)
        } else if let name = field["name"]?.string {
            self.init(name: name)
        } else {
            return nil
        }
    }

    private init?(name: String) {
        if name.isEmpty { return nil }
        self = name == "default" ? .standard : .named(name)
    }
}

extension JSONValue {
    /// A number from 0 to 1; what lies outside becomes the nearer end.
    fileprivate var fraction: Double? { double.map { min(max($0, 0), 1) } }
}

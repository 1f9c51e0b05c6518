/// The types and ranges of the fields of `aps` in Apple's documentation; unknown fields are ignored there and here.
///
/// Both sealing and payload lint use this table, so that they cannot disagree.
package enum APSRules {
    /// The rule for a field of `aps`; nil for a field that the system does not know.
    static func field(_ name: String) -> APSRule? {
        switch name {
        case "alert": .objectOrText
        case "sound": .textOrObject
        case "badge": .count
        case "thread-id", "category", "target-content-id", "filter-criteria": .text
        case "content-available", "mutable-content": .flag
        case "interruption-level": .interruptionLevel
        case "relevance-score": .fraction
        case "url-args": .texts
        // Live Activities.
        case "event": .activityEvent
        case "content-state", "attributes": .object
        case "attributes-type", "input-push-channel": .text
        case "timestamp", "stale-date", "dismissal-date": .time
        case "input-push-token": .flag
        // Widgets and controls.
        case "content-changed": .flag
        default: nil
        }
    }

    /// The rule for a field of `aps.alert`.
    package static func alertField(_ name: String) -> APSRule? {
        switch name {
        case "title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key": .text
        case "title-loc-args", "subtitle-loc-args", "loc-args": .texts
        default: nil
        }
    }

    /// The rule for a field of `aps.sound`.
    static func soundField(_ name: String) -> APSRule? {
        switch name {
        case "name": .text
        case "critical": .flag
        case "volume": .fraction
        default: nil
        }
    }

    /// Whether an alert has a text that the user reads, or the key of one.
    static func hasText(_ alert: JSONValue) -> Bool {
        isText(alert["title"]) || isText(alert["subtitle"]) || isText(alert["body"]) || isText(alert["title-loc-key"])
            || isText(alert["subtitle-loc-key"]) || isText(alert["loc-key"])
    }

    /// Whether a value is a string with something between its quotes.
    static func isText(_ value: JSONValue?) -> Bool { value.map { $0.kind == .string && $0.range.count > 2 } ?? false }
}

/// The values that a field may have.
package enum APSRule {
    case text, texts, textOrObject, objectOrText, object, flag, count, fraction, time
    case interruptionLevel, activityEvent

    /// The allowed values in words, after "must be".
    var expectation: String {
        switch self {
        case .text: "a string"
        case .texts: "an array of strings and numbers"
        case .textOrObject: "a string or an object"
        case .objectOrText: "an object or a string"
        case .object: "an object"
        case .flag: "1 or 0, or true or false, and not a string"
        case .count: "a whole number, 0 or more"
        case .fraction: "a number from 0 to 1"
        case .time: "a time in seconds since 1970, not in milliseconds"
        case .interruptionLevel: "passive, active, time-sensitive or critical"
        case .activityEvent: "start, update or end"
        }
    }

    func accepts(_ value: JSONValue) -> Bool {
        switch self {
        case .text: value.kind == .string
        case .texts: value.kind == .array && value.elements.allSatisfy { [.string, .number, .null].contains($0.kind) }
        case .textOrObject, .objectOrText: value.kind == .object || value.kind == .string
        case .object: value.kind == .object
        case .flag: value.flag != nil
        case .count: value.wholeNumber.map { $0 >= 0 } ?? false
        case .fraction: value.double.map { (0...1).contains($0) } ?? false
        // Up to the year 5138: a larger number is in milliseconds.
        case .time: value.double.map { (0..<1e11).contains($0) } ?? false
        case .interruptionLevel:
            switch value.string {
            case "passive", "active", "time-sensitive", "critical": true
            default: false
            }
        case .activityEvent:
            switch value.string {
            case "start", "update", "end": true
            default: false
            }
        }
    }
}

/// The contents of an `aps` object, and the fields that break a rule; used by both sealing and payload lint.
package struct APSFields {
    /// A field with a value that Apple's documentation does not allow.
    package struct Fault {
        /// The path of the field, for example `aps.sound.volume`.
        package let place: String
        package let expectation: String
    }

    /// A field that the system does not know.
    package struct Unknown {
        package let parent: String
        package let name: String
    }

    /// In the order of the text.
    package private(set) var faults: [Fault] = []
    package private(set) var unknown: [Unknown] = []

    /// Whether the alert has a text that the user reads, or the key of one.
    package private(set) var hasText = false
    package private(set) var hasSound = false
    package private(set) var isContentAvailable = false
    /// Whether it is written as the number 1: for anything else the system starts no extension.
    package private(set) var isMutableContent = false

    package init(_ aps: JSONValue) {
        check(aps, against: APSRules.field, in: "aps") { (fields, name, value) in
            switch name {
            case "alert":
                fields.check(value, against: APSRules.alertField, in: "aps.alert")
                fields.hasText = APSRules.isText(value) || APSRules.hasText(value)
            case "sound":
                // An empty name means no sound.
                fields.hasSound = value.kind == .object || APSRules.isText(value)
                fields.check(value, against: APSRules.soundField, in: "aps.sound")
            case "content-available": fields.isContentAvailable = value.flag == true
            case "mutable-content": fields.isMutableContent = value.integer == 1
            default: break
            }
        }
    }

    /// Checks the members of an object, and passes the valid ones to `accept`; null counts as absent. (J-8)
    private mutating func check(
        _ object: JSONValue, against rules: (String) -> APSRule?, in place: String,
        _ accept: (inout APSFields, String, JSONValue) -> Void = { _, _, _ in }
    ) {
        for (name, value) in object.members {
            guard let rule = rules(name) else {
                unknown.append(Unknown(parent: place, name: name))
                continue
            }
            if value.kind == .null { continue }
            if rule.accepts(value) {
                accept(&self, name, value)
            } else {
                faults.append(Fault(place: "\(place).\(name)", expectation: rule.expectation))
            }
        }
    }
}

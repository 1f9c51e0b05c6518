/// The types and ranges of the fields of `aps` in Apple's documentation; unknown fields are ignored there and here.
///
/// Both sealing and payload lint use this table, so that they cannot disagree.
package enum APSRules {
    /// The values that a field may have.
    package struct Rule: Sendable {
        let expectation: String
        let accepts: @Sendable (JSONValue) -> Bool
    }

    static let fields: [String: Rule] = [
        "alert": Rule(expectation: "an object or a string") { $0.kind == .object || $0.kind == .string },
        "badge": Rule(expectation: "a whole number, 0 or more") { $0.integer.map { $0 >= 0 } ?? false },
        "sound": Rule(expectation: "a string or an object") { $0.kind == .object || $0.kind == .string },
        "thread-id": text, "category": text, "target-content-id": text, "filter-criteria": text,
        "content-available": flag, "mutable-content": flag,
        "interruption-level": oneOf("passive", "active", "time-sensitive", "critical"),
        "relevance-score": fraction, "url-args": texts,
        // Live Activities.
        "event": oneOf("start", "update", "end"), "content-state": object, "attributes": object,
        "attributes-type": text, "timestamp": time, "stale-date": time, "dismissal-date": time,
        "input-push-token": flag, "input-push-channel": text,
        // Widgets and controls.
        "content-changed": Rule(expectation: "true or false") { $0.kind == .bool },
    ]

    package static let alert: [String: Rule] = [
        "title": text, "subtitle": text, "body": text, "launch-image": text,
        "title-loc-key": text, "subtitle-loc-key": text, "loc-key": text,
        "title-loc-args": texts, "subtitle-loc-args": texts, "loc-args": texts,
    ]

    static let sound: [String: Rule] = ["name": text, "critical": flag, "volume": fraction]

    /// The fields of a Live Activity push, which only ActivityKit reads.
    static let liveActivityFields = fields.merging([
        "relevance-score": Rule(expectation: "a number") { $0.double != nil }
    ]) { $1 }

    static let liveActivityAlert = alert.merging([
        "title": textOrKey, "body": textOrKey, "sound": text,
    ]) { $1 }

    /// The fields of an alert that the user reads.
    static let alertText = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]

    private static let text = Rule(expectation: "a string") { $0.kind == .string }
    private static let texts = Rule(expectation: "an array of strings") { value in
        value.kind == .array && value.elements.allSatisfy { $0.kind == .string }
    }
    private static let textOrKey = Rule(expectation: "a string, or an object with loc-key") {
        $0.kind == .string || $0["loc-key"]?.kind == .string
    }
    private static let object = Rule(expectation: "an object") { $0.kind == .object }
    private static let flag = Rule(expectation: "the number 1 or 0, not a string and not true or false") { value in
        value.integer.map { $0 == 0 || $0 == 1 } ?? false
    }
    private static let fraction = Rule(expectation: "a number from 0 to 1") { value in
        value.double.map { (0...1).contains($0) } ?? false
    }
    /// Up to the year 5138: a larger number is in milliseconds.
    private static let time = Rule(expectation: "a time in seconds since 1970, not in milliseconds") { value in
        value.double.map { (0..<1e11).contains($0) } ?? false
    }

    private static func oneOf(_ words: String...) -> Rule {
        Rule(expectation: words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]) { value in
            value.string.map(words.contains) ?? false
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
    package private(set) var isMutableContent = false

    package init(_ aps: JSONValue, ofLiveActivity isLiveActivity: Bool = false) {
        check(aps, against: isLiveActivity ? APSRules.liveActivityFields : APSRules.fields, in: "aps") {
            (fields, name, value) in
            switch name {
            case "alert":
                let rules = isLiveActivity ? APSRules.liveActivityAlert : APSRules.alert
                fields.check(value, against: rules, in: "aps.alert")
                fields.hasText =
                    value.string.map { !$0.isEmpty }
                    ?? APSRules.alertText.contains { value[$0]?.string?.isEmpty == false }
            case "sound":
                fields.hasSound = true
                fields.check(value, against: APSRules.sound, in: "aps.sound")
            case "content-available": fields.isContentAvailable = value.integer == 1
            case "mutable-content": fields.isMutableContent = value.integer == 1
            default: break
            }
        }
    }

    /// Checks the members of an object, and passes the valid ones to `accept`.
    private mutating func check(
        _ object: JSONValue, against rules: [String: APSRules.Rule], in place: String,
        _ accept: (inout APSFields, String, JSONValue) -> Void = { _, _, _ in }
    ) {
        for (name, value) in object.members {
            guard let rule = rules[name] else {
                unknown.append(Unknown(parent: place, name: name))
                continue
            }
            if rule.accepts(value) {
                accept(&self, name, value)
            } else {
                faults.append(Fault(place: "\(place).\(name)", expectation: rule.expectation))
            }
        }
    }
}

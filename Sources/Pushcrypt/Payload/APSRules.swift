/// The types and ranges of the fields of `aps`, as Apple's documents give them; unknown fields are ignored there and here.
///
/// The one table of what a sealer refuses and what `PayloadLint` finds, so that they cannot disagree.
enum APSRules {
    /// What a field may be.
    struct Rule: Sendable {
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

    static let alert: [String: Rule] = [
        "title": text, "subtitle": text, "body": text, "launch-image": text,
        "title-loc-key": text, "subtitle-loc-key": text, "loc-key": text,
        "title-loc-args": texts, "subtitle-loc-args": texts, "loc-args": texts,
    ]

    static let sound: [String: Rule] = ["name": text, "critical": flag, "volume": fraction]

    /// What differs in the push of a Live Activity: `ActivityKit` reads it, and no one else.
    static let liveActivityFields = fields.merging([
        "relevance-score": Rule(expectation: "a number") { $0.double != nil }
    ]) { $1 }

    static let liveActivityAlert = alert.merging([
        "title": textOrKey, "body": textOrKey, "sound": text,
    ]) { $1 }

    /// The fields of an alert that a person reads.
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
    /// Up to the year 5138: what is more counts milliseconds.
    private static let time = Rule(expectation: "a time in seconds since 1970, not in milliseconds") { value in
        value.double.map { (0..<1e11).contains($0) } ?? false
    }

    private static func oneOf(_ words: String...) -> Rule {
        Rule(expectation: words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]) { value in
            value.string.map(words.contains) ?? false
        }
    }
}

/// A payload that has passed every rule, so that what is sealed can be opened and shown.
///
/// (`Docs/Format.md`, Body; Apple's "Generating a remote notification" for the fields)
struct CheckedPayload {
    let document: JSONDocument
    let aps: JSONValue
    let hasSound: Bool
    let isContentAvailable: Bool

    /// Checks a payload; throws `malformedPayload`, `missingAPS`, `invalidField`, `nothingToShow` or `reservedKey`.
    init(_ bytes: ContiguousArray<UInt8>, for pushType: PushType) throws(SealError) {
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            throw SealError(.malformedPayload, "the payload is not JSON as this format takes it: \(error)")
        }
        let root = document.root
        guard root.kind == .object else {
            throw SealError(
                .malformedPayload, "the payload is not a JSON object; it begins with { and has an aps object")
        }
        for name in [PayloadKeys.encryptedData, PayloadKeys.reserved] where root[name] != nil {
            throw SealError(
                .reservedKey,
                name == PayloadKeys.reserved
                    ? "the key \(name) at the top level is kept for the format; rename yours, and give attachments to the sealer apart from the payload (--attachment)"
                    : "the payload has \(name) already: seal the payload as it was before sealing")
        }
        guard let aps = root[PayloadKeys.aps], aps.kind == .object else {
            throw SealError(.missingAPS, "the payload has no aps object; a push without one is never shown")
        }
        self.aps = aps
        var hasText = false
        var hasSound = false
        var isContentAvailable = false
        for (name, value) in aps.members {
            guard let rule = APSRules.fields[name] else { continue }
            guard rule.accepts(value) else {
                throw SealError(.invalidField, "aps.\(name) must be \(rule.expectation)")
            }
            switch name {
            case "alert": hasText = try Self.checkAlert(value)
            case "sound":
                hasSound = true
                try Self.check(value, against: APSRules.sound, in: "aps.sound")
            case "content-available": isContentAvailable = value.integer == 1
            default: break
            }
        }
        guard hasText || pushType != .alert else {
            throw SealError(
                .nothingToShow,
                "aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or seal it as a background push"
            )
        }
        self.hasSound = hasSound
        self.isContentAvailable = isContentAvailable
    }

    /// Checks the fields of an alert; tells whether it has text to show.
    private static func checkAlert(_ alert: JSONValue) throws(SealError) -> Bool {
        if let text = alert.string { return !text.isEmpty }
        try check(alert, against: APSRules.alert, in: "aps.alert")
        return APSRules.alertText.contains { alert[$0]?.string?.isEmpty == false }
    }

    private static func check(
        _ object: JSONValue, against rules: [String: APSRules.Rule], in place: String
    ) throws(SealError) {
        for (name, value) in object.members {
            guard let rule = rules[name], !rule.accepts(value) else { continue }
            throw SealError(.invalidField, "\(place).\(name) must be \(rule.expectation)")
        }
    }
}

/// The types and ranges of the fields of `aps`, as Apple's documents give them; unknown fields are ignored there and here.
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
        "interruption-level": Rule(expectation: "passive, active, time-sensitive or critical") {
            ["passive", "active", "time-sensitive", "critical"].contains($0.string)
        },
        "relevance-score": fraction,
    ]

    static let alert: [String: Rule] = [
        "title": text, "subtitle": text, "body": text, "launch-image": text,
        "title-loc-key": text, "subtitle-loc-key": text, "loc-key": text,
        "title-loc-args": texts, "subtitle-loc-args": texts, "loc-args": texts,
    ]

    static let sound: [String: Rule] = ["name": text, "critical": flag, "volume": fraction]

    /// The fields of an alert that a person reads.
    static let alertText = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]

    private static let text = Rule(expectation: "a string") { $0.kind == .string }
    private static let texts = Rule(expectation: "an array of strings") { value in
        value.kind == .array && value.elements.allSatisfy { $0.kind == .string }
    }
    private static let flag = Rule(expectation: "the number 1 or 0, not a string and not true or false") { value in
        value.integer.map { $0 == 0 || $0 == 1 } ?? false
    }
    private static let fraction = Rule(expectation: "a number from 0 to 1") { value in
        value.double.map { (0...1).contains($0) } ?? false
    }
}

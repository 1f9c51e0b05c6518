/// What the fields of an `aps` say, and which of them break a rule: the one reading that sealing and `PayloadLint` share.
struct APSFields {
    /// A field that is not what Apple's documents allow.
    struct Fault {
        /// For example `aps.sound.volume`.
        let place: String
        let expectation: String
    }

    /// A field that the system does not know.
    struct Unknown {
        let parent: String
        let name: String
    }

    /// In the order of the text.
    private(set) var faults: [Fault] = []
    private(set) var unknown: [Unknown] = []

    /// The alert has a text that a person reads, or the key of one.
    private(set) var hasText = false
    private(set) var hasSound = false
    private(set) var isContentAvailable = false
    private(set) var isMutableContent = false

    init(_ aps: JSONValue, ofLiveActivity isLiveActivity: Bool = false) {
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

    /// Checks the members of an object, and passes on those that are as they should be.
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

extension LintFindings {
    private static let longestCollapseID = 64

    /// Finds headers that Apple refuses, that do not fit the push, or that tell the relay what they need not.
    mutating func checkHeaders(_ push: LintedPush) {
        if push.type == nil {
            add(
                .error, .unknownPushType, at: "apns-push-type", "Apple has no push type of this name",
                fix: "write one of: " + APNsPushType.allCases.map(\.rawValue).joined(separator: ", "))
        }
        if let topic = push.headers.topic { check(topic: topic, for: push.type) }
        if let priority = push.headers.priority { check(priority: priority, for: push.type) }
        if let expiration = push.headers.expiration { check(expiration: expiration) }
        if let id = push.headers.collapseID { check(collapseID: id) }
        if let id = push.headers.id { check(id: id) }
    }

    private mutating func check(topic: String, for type: APNsPushType?) {
        guard let type, let suffix = type.topicSuffix else { return }
        let bundleID = topic.dropLast(suffix.count)
        let other = APNsPushType(topic: topic)
        guard topic.hasSuffix(suffix), other == nil || other == type, (try? Topic(String(bundleID))) != nil else {
            add(
                .error, .wrongTopic, at: "apns-topic",
                suffix.isEmpty
                    ? "is not a bundle id, as \(type) pushes have it"
                    : "is not a bundle id with \(suffix) behind it, as \(type) pushes have it",
                fix: suffix.isEmpty
                    ? "write the app's bundle id, for example com.example.app"
                    : "write for example com.example.app\(suffix)")
            return
        }
    }

    private mutating func check(priority: String, for type: APNsPushType?) {
        guard ["10", "5", "1"].contains(priority) else {
            add(
                .error, .wrongPriority, at: "apns-priority", "is none of Apple's priorities",
                fix: "write 10 for at once, 5 with regard to the battery, or 1 for whenever it costs nothing")
            return
        }
        if type == .background, priority != "5" {
            add(
                priority == "10" ? .error : .warning, .wrongPriority, at: "apns-priority",
                "a background push has priority 5, and Apple calls 10 an error", fix: "write 5")
        }
    }

    private mutating func check(expiration: String) {
        guard let seconds = UInt64(expiration), expiration.utf8.first != UInt8(ascii: "+") else {
            add(
                .error, .wrongExpiration, at: "apns-expiration", "is not a whole number",
                fix: "write a time in seconds since 1970, or 0 for one attempt")
            return
        }
        // The year 5138 in seconds, or 1973 in milliseconds.
        if seconds >= 100_000_000_000 {
            add(
                .warning, .wrongExpiration, at: "apns-expiration",
                "is in milliseconds, as it seems, so the push never expires",
                fix: "write seconds since 1970")
        }
    }

    private mutating func check(collapseID id: String) {
        guard (1...Self.longestCollapseID).contains(id.utf8.count) else {
            add(
                .error, .wrongCollapseID, at: "apns-collapse-id",
                "has \(id.utf8.count) bytes, and Apple takes 1 to \(Self.longestCollapseID)",
                fix: "take a hash of it, under a key; 'pushcrypt seal --emit request' does")
            return
        }
        if !CollapseIDShape(id).isOpaque {
            add(
                .warning, .readableCollapseID, at: "apns-collapse-id",
                "does not look like a keyed hash, so the relay may read what the message is about",
                fix: "take a hash of it, under a key; 'pushcrypt seal --emit request' does")
        }
    }

    private mutating func check(id: String) {
        let lengths = id.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        let isUUID =
            lengths == [8, 4, 4, 4, 12] && id.allSatisfy { $0 == "-" || $0.isASCII && $0.isHexDigit }
        guard isUUID, id == id.lowercased() else {
            add(
                isUUID ? .warning : .error, .wrongID, at: "apns-id", "is not a UUID in small letters",
                fix: "write 32 hexadecimal digits in small letters, in groups of 8-4-4-4-12, or leave it out")
            return
        }
    }
}

/// Whether a collapse id looks like something that nobody can read.
///
/// A guess from the shape, and no proof: a hash of 16 bytes or more, as hexadecimal digits or as base64, or a random UUID. It
/// does not see whether the hash has a key; whoever knows all names there are can try each of them on one that has none.
struct CollapseIDShape {
    let isOpaque: Bool

    init(_ id: String) {
        isOpaque = Self.isHexadecimal(id) || Self.isBase64(id)
    }

    /// 32 digits or more, perhaps with the hyphens of a UUID; so many different ones as chance has, and letters among them.
    private static func isHexadecimal(_ id: String) -> Bool {
        let digits = id.utf8.filter { $0 != UInt8(ascii: "-") }
        let isDecimal = digits.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return digits.count >= 32 && id.utf8.count - digits.count <= 4 && !isDecimal && Set(digits).count >= 8
            && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// 22 characters or more, in which capitals, small letters, digits and signs follow each other as if by chance: of 100
    /// neighbours that chance brings, 64 are of different kinds. With 30 one hash of 32 characters in 20,000 looks like
    /// words, and words in capitals and small letters have some 20.
    private static func isBase64(_ id: String) -> Bool {
        let kinds = id.utf8.map(kind)
        guard kinds.count >= 22, kinds.contains(.capital), kinds.contains(.small), !kinds.contains(.other) else {
            return false
        }
        let changes = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        return changes * 10 >= (kinds.count - 1) * 3
    }

    private enum Kind { case capital, small, digit, sign, other }

    private static func kind(_ byte: UInt8) -> Kind {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): .capital
        case UInt8(ascii: "a")...UInt8(ascii: "z"): .small
        case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): .sign
        default: .other
        }
    }
}

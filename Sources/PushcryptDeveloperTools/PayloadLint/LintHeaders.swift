internal import Pushcrypt

extension LintFindings {
    private static let longestCollapseID = 64

    /// Checks for headers that Apple refuses, that do not fit the push, or that tell the relay more than necessary.
    mutating func checkHeaders(_ push: LintedPush) {
        if push.type == nil {
            add(
                .error, .unknownPushType, at: "apns-push-type", "is not a push type that Apple defines",
                fix: "use one of: " + APNsPushType.allCases.map(\.rawValue).joined(separator: ", "))
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
                    ? "is not a bundle id, which \(type) pushes need"
                    : "is not a bundle id followed by \(suffix), which \(type) pushes need",
                fix: suffix.isEmpty
                    ? "use the app's bundle id, for example com.example.app"
                    : "use for example com.example.app\(suffix)")
            return
        }
        if let twice = (try? Topic(String(bundleID)))?.typeSuffix {
            add(
                .warning, .wrongTopic, at: "apns-topic", "has two suffixes, \(twice)\(suffix)",
                fix: "give the app's bundle id alone as the topic: requests get the suffix")
        }
    }

    private mutating func check(priority: String, for type: APNsPushType?) {
        guard ["10", "5", "1"].contains(priority) else {
            add(
                .error, .wrongPriority, at: "apns-priority", "is not one of Apple's priorities",
                fix: "use 10 to deliver at once, 5 to save battery, or 1 to put battery life first")
            return
        }
        if type == .background, priority != "5" {
            add(
                priority == "10" ? .error : .warning, .wrongPriority, at: "apns-priority",
                "a background push needs priority 5, and Apple calls 10 an error", fix: "use 5")
        }
    }

    private mutating func check(expiration: String) {
        guard let seconds = UInt64(expiration), expiration.utf8.first != UInt8(ascii: "+") else {
            add(
                .error, .wrongExpiration, at: "apns-expiration", "is not a whole number",
                fix: "use a time in seconds since 1970, or 0 for a single attempt")
            return
        }
        // The year 5138 in seconds, 1973 in milliseconds.
        if seconds >= 100_000_000_000 {
            add(
                .warning, .wrongExpiration, at: "apns-expiration",
                "seems to be in milliseconds, so the push never expires", fix: "use seconds since 1970")
        }
    }

    private mutating func check(collapseID id: String) {
        guard (1...Self.longestCollapseID).contains(id.utf8.count) else {
            add(
                .error, .wrongCollapseID, at: "apns-collapse-id",
                "has \(id.utf8.count) bytes, and Apple accepts 1 to \(Self.longestCollapseID)",
                fix: "use a keyed hash of it, or the requests of 'pushcrypt seal'")
            return
        }
        if !CollapseIDShape(id).isOpaque {
            add(
                .warning, .readableCollapseID, at: "apns-collapse-id",
                "does not look like a keyed hash, so the relay may learn what the message is about",
                fix: "use a keyed hash of it, or the requests of 'pushcrypt seal'")
        }
    }

    private mutating func check(id: String) {
        let lengths = id.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        let isUUID =
            lengths == [8, 4, 4, 4, 12] && id.allSatisfy { $0 == "-" || $0.isASCII && $0.isHexDigit }
        guard isUUID, id == id.lowercased() else {
            add(
                isUUID ? .warning : .error, .wrongID, at: "apns-id", "is not a lower-case UUID",
                fix: "use 32 lower-case hexadecimal digits in groups of 8-4-4-4-12, or leave it out")
            return
        }
    }
}

/// A guess, from its shape, whether a collapse id is unreadable.
///
/// Not a proof. Hashes of at least 16 bytes, in hexadecimal or base64, and random UUIDs count as opaque. The shape does not
/// show whether a hash has a key: a hash without one is found by trying every possible name.
struct CollapseIDShape {
    let isOpaque: Bool

    init(_ id: String) {
        isOpaque = Self.isHexadecimal(id) || Self.isBase64(id)
    }

    /// At least 32 digits, with or without the hyphens of a UUID; as many different ones as in random data, including letters.
    private static func isHexadecimal(_ id: String) -> Bool {
        let digits = id.utf8.filter { $0 != UInt8(ascii: "-") }
        let isDecimal = digits.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return digits.count >= 32 && id.utf8.count - digits.count <= 4 && !isDecimal && Set(digits).count >= 8
            && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// At least 22 characters, in which capitals, small letters, digits and signs are mixed as in random data: there, 64 of
    /// 100 neighbours are of different kinds. With a limit of 30, one hash of 32 characters in 20,000 looks like words;
    /// words in mixed case have about 20.
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

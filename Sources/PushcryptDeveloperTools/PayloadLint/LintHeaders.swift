internal import Pushcrypt

extension LintFindings {
    private static let longestCollapseID = 64

    /// Checks for headers that Apple refuses, that do not fit the push, or that tell the relay more than necessary.
    mutating func checkHeaders(_ push: LintedPush) {
        if push.type == nil, !push.isReadByTheSystem {
            add(
                .error, .unknownPushType, at: "apns-push-type", "is not a push type that Apple defines",
                fix: "use one of: alert, background, voip, " + PushType.readByTheSystem.joined(separator: ", "))
        }
        if let topic = push.headers.topic, let type = push.type { check(topic: topic, for: type) }
        if let priority = push.headers.priority { check(priority: priority, for: push.type) }
        if let expiration = push.headers.expiration { check(expiration: expiration) }
        if let id = push.headers.collapseID { check(collapseID: id) }
        if let id = push.headers.id { check(id: id) }
    }

    private mutating func check(topic: String, for type: PushType) {
        let suffix = type.topicSuffix
        let bundleID = topic.hasSuffix(suffix) ? try? Topic(String(topic.dropLast(suffix.count))) : nil
        guard let bundleID, !suffix.isEmpty || bundleID.typeSuffix == nil else {
            add(
                .error, .wrongTopic, at: "apns-topic",
                "is not a bundle id\(suffix.isEmpty ? "" : " followed by \(suffix)"), which \(type) pushes need",
                fix: "use for example com.example.app\(suffix)")
            return
        }
        if let twice = bundleID.typeSuffix {
            add(
                .warning, .wrongTopic, at: "apns-topic", "has two suffixes, \(twice)\(suffix)",
                fix: "give the app's bundle id alone as the topic: requests get the suffix")
        }
    }

    private mutating func check(priority: String, for type: PushType?) {
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
        if (1...Self.longestCollapseID).contains(id.utf8.count) { return }
        add(
            .error, .wrongCollapseID, at: "apns-collapse-id",
            "has \(id.utf8.count) bytes, and Apple accepts 1 to \(Self.longestCollapseID)",
            fix: "use a keyed hash of it, or the requests of 'pushcrypt seal'")
    }

    private mutating func check(id: String) {
        let lengths = id.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        let isUUID =
            lengths == [8, 4, 4, 4, 12] && id.allSatisfy { $0 == "-" || $0.isASCII && $0.isHexDigit }
        if isUUID, id == id.lowercased() { return }
        add(
            isUUID ? .warning : .error, .wrongID, at: "apns-id", "is not a lower-case UUID",
            fix: "use 32 lower-case hexadecimal digits in groups of 8-4-4-4-12, or leave it out")
    }
}

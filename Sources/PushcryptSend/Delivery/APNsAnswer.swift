internal import Pushcrypt

/// The answer of APNs to a request, or a relay's.
struct APNsAnswer: Equatable, Sendable {
    var status: Int
    /// Apple's word, such as `BadDeviceToken`.
    var reason: String?
    /// With status 410: the time at which the device token was no longer valid, in milliseconds since 1970-01-01 UTC.
    var timestamp: Int64?
    /// The `apns-id` header.
    var apnsID: String?
    /// The `retry-after` header, in milliseconds.
    var retryAfter: UInt64?
    /// The `date` header, in milliseconds since 1970-01-01 UTC.
    var time: UInt64?
    /// Whether the reason is a relay's own code: APNs was not asked, or did not answer.
    var isRelays = false
    /// When the grant expires with which a relay has sent the message, in milliseconds since 1970-01-01 UTC.
    var grantExpires: UInt64?

    init(status: Int, reason: String? = nil, timestamp: Int64? = nil, apnsID: String? = nil, retryAfter: UInt64? = nil)
    {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.apnsID = apnsID
        self.retryAfter = retryAfter
    }
}

extension APNsAnswer {
    /// The maximum length of a body that is read; Apple's are below 100 bytes.
    static let maximumBody = 4096
    /// The maximum length of words that are repeated in an answer.
    private static let maximumWord = 100
    /// The statuses and reasons that Apple documents.
    private static let statuses: Set = [200, 400, 403, 404, 405, 410, 413, 429, 500, 503]
    private static let reasons: Set = [
        "BadCertificate", "BadCertificateEnvironment", "BadCollapseId", "BadDeviceToken", "BadEnvironmentKeyIdInToken",
        "BadExpirationDate", "BadMessageId", "BadPath", "BadPriority", "BadTopic", "DeviceTokenNotForTopic",
        "DuplicateHeaders", "ExpiredProviderToken", "ExpiredToken", "Forbidden", "IdleTimeout", "InternalServerError",
        "InvalidProviderToken", "InvalidPushType", "MethodNotAllowed", "MissingDeviceToken", "MissingProviderToken",
        "MissingTopic", "PayloadEmpty", "PayloadTooLarge", "ServiceUnavailable", "Shutdown",
        "TooManyProviderTokenUpdates", "TooManyRequests", "TopicDisallowed", "Unregistered",
        "UnrelatedKeyIdInToken",
    ]

    /// Reads the parts of a response. Whatever they are, only the status counts if the rest is not as Apple documents it.
    init(status: Int, apnsID: String?, retryAfter: String?, body: ContiguousArray<UInt8>) {
        self.init(status: status)
        self.apnsID = apnsID.flatMap { Self.isWord($0) ? $0 : nil }
        // The other form, a date, is ignored.
        self.retryAfter = retryAfter.flatMap { UInt32($0) }.map { UInt64($0) * 1000 }
        guard !body.isEmpty, let root = try? JSONDocument(parsing: body, maximumBytes: Self.maximumBody).root else {
            return
        }
        reason = root["reason"]?.string.flatMap { Self.isWord($0) ? $0 : nil }
        timestamp = root["timestamp"]?.integer
    }

    /// Whether a text is of letters, digits and hyphens, as reasons and message ids are.
    static func isWord(_ text: String) -> Bool {
        (1...maximumWord).contains(text.utf8.count)
            && text.utf8.allSatisfy(isWordByte)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x2D, 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension APNsAnswer {
    /// What an answer means for its message.
    enum Verdict: Equatable {
        case accepted
        /// The provider token is too old: the message was not read.
        case expiredToken
        /// The provider token or the certificate is refused: the message was not read.
        case loginRefused
        /// The connection had another provider token less than 20 minutes ago: the message was not read.
        case tokenTooSoon
        /// Again, after a pause for this device token.
        case deviceBusy
        /// Again, after a pause of this message.
        case busy
        /// No answer that APNs gives: again, but not often.
        case strange
        /// Never again.
        case refused
    }

    var verdict: Verdict {
        switch (status, reason) {
        case (200, _): .accepted
        case (403, _) where isRelays: .refused
        case (403, "ExpiredProviderToken"): .expiredToken
        case (403, _): .loginRefused
        case (429, "TooManyProviderTokenUpdates"): .tokenTooSoon
        case (429, _): .deviceBusy
        case (500...599, _): .busy
        case (400...499, _): .refused
        default: .strange
        }
    }

    /// Whether APNs has decided on the message, or says something of its device.
    var isUseful: Bool {
        switch verdict {
        case .accepted, .refused, .deviceBusy: true
        default: false
        }
    }

    /// Whether APNs refuses the provider token or the certificate.
    var concernsLogin: Bool { isRelays ? status == 401 : status == 403 }

    /// Whether another device token may get another answer.
    var concernsDevice: Bool { reason == "BadDeviceToken" || reason == "DeviceTokenNotForTopic" }

    /// Whether the same answer for every message means that the set-up is wrong, and not the messages.
    var concernsSetup: Bool {
        switch reason {
        case "BadDeviceToken", "DeviceTokenNotForTopic", "TopicDisallowed", "BadTopic", "MissingTopic": true
        default: concernsLogin
        }
    }
    /// One of few names: what Apple does not document is `other`.
    var kind: String {
        let status = Self.statuses.contains(status) ? "\(status)" : "other"
        guard let reason else { return status }
        return "\(status) \(Self.reasons.contains(reason) ? reason : "other")"
    }
}

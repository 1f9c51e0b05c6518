internal import Pushcrypt

/// The answer of APNs to a message, or a relay's.
struct PushAnswer: Equatable, Sendable {
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
    /// Whether a relay has sent nothing of the whole request.
    var isWhole = false
    /// Whether it leaves open if APNs has the message.
    var isUnknown = false
    /// Whether it is no relay that answers.
    var isForeign = false
    /// When the grant expires with which a relay has sent the message, in milliseconds since 1970-01-01 UTC.
    var grantExpires: UInt64?
}

extension PushAnswer {
    /// The maximum length of a body that is read; Apple's are below 100 bytes.
    static let maximumBody = 4096
    /// The maximum length of words that are repeated in an answer.
    private static let maximumWord = 100

    /// Reads APNs' response. Whatever the rest is, the status counts.
    init(_ response: Response) {
        self.init(status: response.status)
        time = response.time
        apnsID = response.apnsID.flatMap { Self.isWord($0) ? $0 : nil }
        retryAfter = Self.seconds(response.retryAfter)
        guard !response.body.isEmpty,
            let root = try? JSONDocument(parsing: response.body, maximumBytes: Self.maximumBody).root
        else { return }
        reason = root["reason"]?.string.flatMap { Self.isWord($0) ? $0 : nil }
        timestamp = root["timestamp"]?.integer
        dateEnd()
    }

    /// The end of a device token without a time of its own holds from now on.
    mutating func dateEnd() {
        guard timestamp == nil, !isRelays, reason == "ExpiredToken" || status == 410 else { return }
        timestamp = time.map { Int64($0) }
    }

    /// Reads a `retry-after` header, as milliseconds. Its other form, a date, is ignored.
    static func seconds(_ text: String?) -> UInt64? { text.flatMap { UInt32($0) }.map { UInt64($0) * 1000 } }

    /// Whether a text is of letters, digits and hyphens, as reasons and message ids are.
    static func isWord(_ text: String) -> Bool {
        (1...maximumWord).contains(text.utf8.count) && text.utf8.allSatisfy(isWordByte)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x2D, 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension PushAnswer {
    /// The subject of an answer, which decides who waits for it.
    enum Scope: Equatable {
        /// APNs has the message.
        case accepted
        /// It never takes it.
        case refused
        /// It refuses the provider token, the certificate or the signature: the message was not read.
        case login
        /// Another connection may take the message, which was not read.
        case link
        /// Again, after a pause for this device token.
        case device
        /// Whoever answers is busy.
        case route
        /// No answer that APNs gives: again, but not often.
        case strange
        /// The relay does not know whether APNs has the message.
        case unknown
    }

    var scope: Scope {
        if isUnknown { return .unknown }
        if isForeign { return .strange }
        return switch (status, reason) {
        case (200, _): .accepted
        case (_, "ExpiredToken"): .refused
        case (429, "TooManyProviderTokenUpdates"), (400, "IdleTimeout"): .link
        case (401, _) where isRelays: .login
        case (403, _): isRelays ? .refused : .login
        case (429, _): .device
        case (500...599, _): .route
        case (400...499, _): .refused
        default: .strange
        }
    }

    /// Whether APNs has decided on the message, or says something of its device.
    var isDecision: Bool {
        switch scope {
        case .accepted, .refused, .device: true
        default: false
        }
    }

    /// Whether the login is refused, or the provider token is too new.
    var concernsLogin: Bool { scope == .login || reason == "TooManyProviderTokenUpdates" }

    /// Whether a relay says that the grant is for another push key than the one that signed.
    var isOtherKey: Bool { isRelays && reason == "wrong-key" }

    /// Whether another device token may get another answer.
    var concernsDevice: Bool { reason == "BadDeviceToken" || reason == "DeviceTokenNotForTopic" }

    /// Whether the same answer for every message means that the set-up is wrong, and not the messages.
    var concernsSetup: Bool {
        switch reason {
        case "BadDeviceToken", "DeviceTokenNotForTopic", "TopicDisallowed", "BadTopic", "MissingTopic": true
        default: false
        }
    }

    /// A name for counts: what a relay says has few.
    var kind: String { isRelays ? isUnknown ? "none" : "relay" : text }
}

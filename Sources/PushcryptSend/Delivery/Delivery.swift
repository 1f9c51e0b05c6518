/// A message between its input and its answer.
final class Delivery {
    /// The number of the message, in the order of the input.
    let number: Int
    let request: PushToSend
    /// The uptime after which the message is not tried again.
    let end: UInt64

    /// Whether it is sent again if APNs may have it: a phone rings twice for what is not encrypted.
    var mayRepeat = true
    /// About the bytes that are kept until its answer.
    var byteCount = 0
    /// How often a request was sent that APNs may have read.
    var attempts = 0
    /// How often a request was certainly not read.
    var unread = 0
    /// The provider token of the last request.
    var tokenGeneration = 0
    var sentAt: UInt64 = 0
    /// Whether its last request is a repeated one.
    var isRepeated = false
    /// The uptime of the first failure.
    var failedAt: UInt64?
    /// Why it waits for its topic or the login.
    var hold: APNsAnswer?
    /// The uptime before which it is not sent again.
    var due: UInt64 = 0
    /// Why no request has succeeded; nil before one has ended.
    private(set) var setback: Setback?

    init(number: Int, request: PushToSend, end: UInt64) {
        self.number = number
        self.request = request
        self.end = end
    }

    /// Notes why a request did not succeed. What may have arrived with an earlier one remains unknown.
    func note(_ reason: Setback) {
        guard setback != .unknown, reason != .unread || setback == nil else { return }
        setback = reason
    }

    /// An expiration of 0 asks APNs for one attempt, and is no time.
    func hasExpired(at now: Moment) -> Bool {
        request.expiration > 0 && now.wall / 1000 >= request.expiration
    }

    /// The milliseconds until its expiration, or at most some days.
    func timeLeft(at now: Moment) -> UInt64 {
        let seconds = request.expiration == 0 ? .max : request.expiration - min(request.expiration, now.wall / 1000)
        return min(seconds, 1_000_000) * 1000
    }
}

/// The reason why a message is tried again.
enum Setback: Equatable, Sendable {
    case answer(APNsAnswer)
    /// It is not known whether APNs has the message.
    case unknown
    /// APNs did not read it.
    case unread
}

/// How a message ended.
enum Outcome: Equatable, Sendable {
    case accepted(APNsAnswer)
    /// APNs will never accept it as it is.
    case refused(APNsAnswer)
    /// Its time ended; nil if it was never sent.
    case expired(Setback?)
    /// Its time for retries ended; APNs did not accept it.
    case gaveUp(APNsAnswer)
    /// Its time for retries ended while this clock was wrong, by so many milliseconds.
    case clockWrong(Int64)
    /// The run ended; APNs did not accept it.
    case stopped(APNsAnswer)
    /// Its time for retries ended while APNs refused every message of its topic, or the login.
    case held(APNsAnswer)
    /// It is not known whether APNs has the message. The answer, if any, is how APNs refuses another copy.
    case unknown(APNsAnswer?)
    /// The same, and it may not be sent again.
    case unrepeated
    /// The run ended; APNs does not have it.
    case notSent
    /// Its time for retries ended before it had a stream; APNs does not have it.
    case notTried
    /// There was no connection, for the reason given.
    case unreachable(String)
    /// The same of a relay.
    case relayUnreachable(String)
}

/// The parts of a request that determine when and where it is sent, and its bytes.
struct PushToSend: Sendable {
    /// Hexadecimal.
    var deviceToken: String
    var topic = ""
    /// The headers without the provider token, in the order in which they are sent; checked to be printable.
    var headers: [(name: String, value: String)] = []
    /// Seconds since 1970-01-01 UTC; 0 for none.
    var expiration: UInt64 = 0
    var payload: ContiguousArray<UInt8> = []
    /// Whether it is meant to be sent without encryption.
    var isClear = false

    /// A request to a device that cannot exist, which shows APNs' time and what it says of the login.
    static func harmless(topic: String?) -> PushToSend {
        var request = PushToSend(deviceToken: String(repeating: "0", count: 64), topic: topic ?? "")
        if let topic, !topic.isEmpty { request.headers.append(("apns-topic", topic)) }
        request.headers.append(("apns-push-type", "alert"))
        request.payload = ContiguousArray(#"{"aps":{}}"#.utf8)
        return request
    }
}

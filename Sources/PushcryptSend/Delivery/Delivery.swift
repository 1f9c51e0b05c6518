/// A message between its input and its answer.
final class Delivery {
    /// The number of the message, in the order of the input.
    let number: Int
    let request: PushToSend
    /// The uptime after which the message is not tried again.
    let end: UInt64

    /// How often a request was sent that APNs may have read.
    var attempts = 0
    /// How often a request was certainly not read.
    var unread = 0
    /// The provider token of the last request.
    var tokenGeneration = 0
    var hadExpiredToken = false
    var sentAt: UInt64 = 0
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

    /// Whether the message, which says when it ends, or its time for retries has ended.
    func hasEnded(at now: Moment) -> Bool { now.uptime >= end || hasExpired(at: now) }

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
    /// The run ended; APNs did not accept it.
    case stopped(APNsAnswer)
    /// It was not sent, because APNs refuses every message of its topic, or the login to its environment.
    case held(APNsAnswer)
    /// It is not known whether APNs has the message. The answer, if any, is how APNs refuses another copy.
    case unknown(APNsAnswer?)
    /// The run ended; APNs does not have it.
    case notSent
    /// Its time for retries ended before it had a stream; APNs does not have it.
    case notTried
    /// There was no connection, for the reason given.
    case unreachable(String)
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
}

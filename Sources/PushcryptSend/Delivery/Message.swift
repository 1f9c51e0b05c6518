/// The uptime and the time of day at one moment, in milliseconds.
struct Moment: Sendable {
    /// Of the time in which this process ran: it never goes back.
    var uptime: UInt64
    /// The time since 1970-01-01 UTC by this machine's clock.
    var wall: UInt64
}

/// A message between its input and its answer.
final class Message {
    /// The number of the message, in the order of the input; 0 for a question of our own.
    let number: Int
    let push: PushToSend
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
    /// Whether the provider token was renewed for it.
    var hasRenewed = false
    /// Whether its grant is not for the present push key, but perhaps for the previous or the next one.
    var usesOtherKey = false
    /// Why it waits for its topic or the login.
    var hold: PushAnswer?
    /// The uptime before which it is not sent again.
    var due: UInt64 = 0
    /// Why no request has succeeded; nil before one has ended.
    private(set) var setback: Setback?

    init(number: Int, push: PushToSend, end: UInt64) {
        self.number = number
        self.push = push
        self.end = end
    }

    var mayHaveArrived: Bool { setback == .unknown }

    /// Notes why a request did not succeed. What may have arrived with an earlier one remains unknown.
    func note(_ reason: Setback) {
        guard setback != .unknown, reason != .unread || setback == nil else { return }
        setback = reason
    }

    /// Whether it has expired at a time since 1970-01-01 UTC. An expiration of 0 asks APNs for one attempt, and is no time.
    func hasExpired(at time: UInt64) -> Bool { push.expiration > 0 && time / 1000 >= push.expiration }

    /// The milliseconds until its expiration, or at most some days.
    func timeLeft(at time: UInt64) -> UInt64 {
        let seconds = push.expiration == 0 ? .max : push.expiration - min(push.expiration, time / 1000)
        return min(seconds, 1_000_000) * 1000
    }
}

/// Messages that go out together, and what was known then.
final class Sent {
    let messages: [Message]
    /// The number of the provider token; 0 for none.
    let token: Int
    let at: UInt64

    init(_ messages: [Message], token: Int, at: UInt64) {
        (self.messages, self.token, self.at) = (messages, token, at)
    }

    var number: Int { messages[0].number }
}

/// The reason why a message is tried again.
enum Setback: Equatable, Sendable {
    case answer(PushAnswer)
    /// It is not known whether APNs has the message.
    case unknown
    /// APNs did not read it.
    case unread
}

/// How a message ended.
enum Outcome: Equatable, Sendable {
    case accepted(PushAnswer)
    /// APNs will never accept it as it is.
    case refused(PushAnswer)
    /// Its time ended; nil if it was never sent.
    case expired(Setback?)
    /// Its time for retries ended; APNs did not accept it.
    case gaveUp(PushAnswer)
    /// The run ended; APNs did not accept it.
    case stopped(PushAnswer)
    /// Its time for retries ended while APNs refused every message of its topic, or the login.
    case held(PushAnswer)
    /// It is not known whether APNs has the message. The answer, if any, is how APNs refuses another copy.
    case unknown(PushAnswer?)
    /// The same, and it may not be sent again.
    case unrepeated
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

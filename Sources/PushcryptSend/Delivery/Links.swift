/// A connection, as the dispatcher sees it.
struct Link {
    /// How long a connection may be silent with requests open before it gets no more, in milliseconds.
    static let patience: UInt64 = 10_000

    let number: Int
    let startedAt: UInt64
    /// Whether an answer has shown that the provider token is accepted.
    var isProven: Bool
    var isConnected = false
    /// Requests that may be open; nil until the other side has said how many.
    var capacity: Int?
    /// Whether everything that was handed to it has gone out: HTTP/2's windows and the socket have room.
    var isWritable = true
    /// Whether nothing new goes into it.
    var isDraining = false
    /// Whether its last answer decided something; nil before any.
    var isUseful: Bool?
    /// How many did.
    var decisions = 0
    /// When it last answered, or got a request while it had none.
    var heardAt: UInt64 = 0
    /// Since when it is connected and has no request, because none is allowed.
    var blockedSince: UInt64?
    /// Whether a request is older than the time that an answer may take.
    var isLate = false
    /// The provider token of its first request.
    var token: Int?
    var requests: [Int: Sent] = [:]

    init(number: Int, isProven: Bool, at now: Moment) {
        self.number = number
        self.isProven = isProven
        startedAt = now.uptime
    }

    var isBlocked: Bool { isConnected && (capacity ?? 0) == 0 && requests.isEmpty }
    var isOpen: Bool { isConnected && !isDraining }

    /// - Parameter share: The most requests that are wanted on it.
    func isFull(_ share: Int) -> Bool { !isWritable || requests.count >= min(capacity ?? 0, isProven ? share : 1) }

    /// Whether it answers nothing any more: others are used meanwhile.
    func isStalled(_ now: Moment) -> Bool { !requests.isEmpty && now.uptime > heardAt + Self.patience }
}

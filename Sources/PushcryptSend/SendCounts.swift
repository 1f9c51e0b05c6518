internal import PushcryptCommandKit

/// The counts of a run.
struct SendCounts: Equatable {
    /// The lines read, without empty ones.
    var lines = 0
    var accepted = 0
    /// The messages that were not accepted, by code.
    var failed: [String: Int] = [:]
    /// The requests, with those that were sent again.
    var requests = 0
    /// The answers that did not accept a message, by status and reason; also of messages that were sent again.
    var answers: [String: Int] = [:]
    /// The time from a request to its answer.
    var latency = DurationHistogram()

    mutating func fail(_ code: String) { failed[code, default: 0] += 1 }
}

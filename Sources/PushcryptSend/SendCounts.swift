internal import PushcryptCommandKit

/// The counts of a run.
struct SendCounts: Equatable {
    /// The lines read, without empty ones.
    var lines = 0
    var accepted = 0
    /// The messages that were not accepted, by code.
    var failed: [String: Int] = [:]
    /// Whether one of these may be accepted later.
    private(set) var mayRetry = false
    /// The requests, with those that were sent again.
    var requests = 0
    /// The answers that did not accept a message, by status and reason; also of messages that were sent again.
    var answers: [String: Int] = [:]
    /// The time from a request to its answer.
    var latency = DurationHistogram()

    mutating func fail(_ code: String, mayRetry: Bool) {
        failed[code, default: 0] += 1
        if mayRetry { self.mayRetry = true }
    }

    /// The exit code of the run.
    var exit: ExitCode { failed.isEmpty ? .done : mayRetry ? .failed : .refused }
}

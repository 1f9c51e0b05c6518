internal import PushcryptCommandKit

/// The counts of a run.
struct SendCounts: Equatable {
    private static let mostAnswers = 50

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
    private(set) var answers: [String: Int] = [:]
    /// The time from a request to its answer.
    var latency = DurationHistogram()

    /// Counts an answer. Whatever is said, there are few counters.
    mutating func count(_ answer: String) {
        answers[answers[answer] != nil || answers.count < Self.mostAnswers ? answer : "other", default: 0] += 1
    }

    mutating func fail(_ code: String, mayRetry: Bool) {
        failed[code, default: 0] += 1
        if mayRetry { self.mayRetry = true }
    }

    /// The exit code of the run.
    var exit: ExitCode { failed.isEmpty ? .done : mayRetry ? .failed : .refused }
}

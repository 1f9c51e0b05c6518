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
    var inFlight = 0
    var connections = 0
    /// The time from a request to its answer.
    var latency = DurationHistogram()

    mutating func fail(_ code: String, mayRetry: Bool) {
        failed[code, default: 0] += 1
        if mayRetry { self.mayRetry = true }
    }

    /// The exit code of the run.
    var exit: ExitCode { failed.isEmpty ? .done : mayRetry ? .failed : .refused }
}

/// The counts for the text file collector of Prometheus.
struct SendMetrics {
    /// The time between writes, in milliseconds.
    static let interval: UInt64 = 5000

    let counts: SendCounts

    /// The text exposition format, version 0.0.4.
    var text: String {
        family("send_lines_total", "Lines read.", [("", counts.lines)])
            + family("send_accepted_total", "Messages that APNs accepted.", [("", counts.accepted)])
            + family("send_failed_total", "Messages that were not accepted, by code.", labelled("code", counts.failed))
            + family("send_requests_total", "Requests, with repeated ones.", [("", counts.requests)])
            + family(
                "send_answers_total", "Answers that did not accept a message, by status and reason.",
                labelled("answer", counts.answers))
            + family("send_connections_total", "Connections opened.", [("", counts.connections)])
            + family("send_requests_open", "Requests without an answer.", [("", counts.inFlight)], "gauge")
            + counts.latency.text("send_answer_seconds", "Seconds from a request to its answer.")
    }

    private func labelled(_ label: String, _ counts: [String: Int]) -> [(String, Int)] {
        counts.sorted { $0.key < $1.key }.map { ("{\(label)=\"\($0.key)\"}", $0.value) }
    }

    private func family(
        _ name: String, _ help: String, _ samples: [(labels: String, value: Int)], _ type: String = "counter"
    ) -> String {
        samples.reduce("# HELP pushcrypt_\(name) \(help)\n# TYPE pushcrypt_\(name) \(type)\n") {
            "\($0)pushcrypt_\(name)\($1.labels) \($1.value)\n"
        }
    }

    /// Replaces the file.
    func write(to path: String) throws(CommandFailure) {
        try OutputFile.write(ContiguousArray(text.utf8).span, to: path, mode: 0o666, force: true)
    }
}

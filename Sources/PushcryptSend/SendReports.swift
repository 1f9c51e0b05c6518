internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// The state of a run, for operators.
struct SendState {
    var isConnected = false
    var troubles: [Trouble] = []
    var waiting = 0
    var deferred = 0
    var inFlight = 0
    var connections = 0
    /// The seconds for which the oldest message waits.
    var oldest = 0
    /// In milliseconds since 1970-01-01 UTC; nil for never.
    var acceptedAt: UInt64?
    /// Whether a message was accepted, or none was waiting, in the last minutes.
    var isReady = true
}

extension SendState {
    /// The time without an accepted message after which a run with waiting messages is not ready, in milliseconds.
    static let patience: UInt64 = 5 * 60 * 1000
}

extension Sender {
    var state: SendState {
        var state = lines.state
        for line in routes.values {
            let dispatcher = line.dispatcher
            state.isConnected = state.isConnected || dispatcher.isConnected
            state.inFlight += dispatcher.inFlight
            state.connections += dispatcher.connectionsOpened
            state.troubles += dispatcher.troubles
        }
        state.deferred = deferred.count
        return state
    }
}

/// The files that a run replaces every few seconds. A full disk is no reason to send nothing.
struct SendReports {
    /// The time between writes, in milliseconds.
    private static let interval: UInt64 = 5000

    let metrics: String?
    let health: String?
    private var writtenAt: UInt64 = 0
    private var hasFailed: Set<String> = []

    init(metrics: String?, health: String?) {
        self.metrics = metrics
        self.health = health
    }

    mutating func writeIfDue(_ sender: Sender) {
        guard metrics != nil || health != nil, sender.lines.now.uptime >= writtenAt + Self.interval else { return }
        write(sender)
    }

    mutating func write(_ sender: Sender, isEnd: Bool = false) {
        guard metrics != nil || health != nil else { return }
        writtenAt = sender.lines.now.uptime
        let state = sender.state
        if let metrics {
            write(
                ContiguousArray(SendMetrics(counts: sender.lines.counts, state: state).text.utf8), to: metrics, sender)
        }
        if let health { write(state.json(at: sender.lines.now.wall, isAlive: !isEnd), to: health, sender) }
    }

    private mutating func write(_ text: ContiguousArray<UInt8>, to path: String, _ sender: Sender) {
        do {
            try OutputFile.write(text.span, to: path, mode: 0o666, force: true)
            hasFailed.remove(path)
        } catch {
            let error = Failure(error)
            if hasFailed.insert(path).inserted { sender.lines.console.warning(error.message) }
        }
    }
}

extension SendState {
    /// The file of `--health-file`.
    func json(at time: UInt64, isAlive: Bool) -> ContiguousArray<UInt8> {
        jsonObject { json in
            json.integer(time / 1000, for: "time")
            json.bool(isAlive, for: "alive")
            json.bool(isAlive && isReady, for: "ready")
            json.bool(isConnected, for: "connected")
            json.integer(waiting, for: "waiting")
            json.integer(deferred, for: "deferred")
            json.integer(oldest, for: "oldest_seconds")
            if let acceptedAt { json.integer(acceptedAt / 1000, for: "last_success") }
            json.array(for: "outages") { json in
                for trouble in troubles {
                    json.object { json in
                        json.string(trouble.kind.rawValue, for: "kind")
                        if !trouble.subject.isEmpty { json.string(trouble.subject, for: "topic") }
                        json.string(trouble.text, for: "message")
                    }
                }
            }
        } + [newline]
    }
}

/// The counts for the text file collector of Prometheus.
struct SendMetrics {
    let counts: SendCounts
    var state = SendState()

    var text: String {
        metrics("send_build_info", "The version.", [("{version=\"\(CommandTable.programVersion)\"}", 1)], type: "gauge")
            + metrics("send_lines_total", "Lines read.", [("", counts.lines)])
            + metrics("send_accepted_total", "Messages that APNs accepted.", [("", counts.accepted)])
            + metrics(
                "send_failed_total", "Messages that were not accepted, by code.",
                labelled("code", counts.failed, always: SendCode.allCases.map(\.rawValue)))
            + metrics("send_requests_total", "Requests, with repeated ones.", [("", counts.requests)])
            + metrics(
                "send_answers_total", "Answers that did not accept a message, by status and reason.",
                labelled(
                    "answer", counts.answers,
                    always: ["429 TooManyRequests", "503 ServiceUnavailable", "none", "unread"]))
            + metrics("send_connections_total", "Connections opened.", [("", state.connections)])
            + metrics("send_requests_open", "Requests without an answer.", [("", state.inFlight)], type: "gauge")
            + metrics(
                "send_connected", "Whether there is a connection.", [("", state.isConnected ? 1 : 0)], type: "gauge")
            + metrics(
                "send_paused", "What keeps messages from APNs, by kind.",
                labelled(
                    "kind", Dictionary(grouping: state.troubles, by: \.kind.rawValue).mapValues(\.count),
                    always: Trouble.Kind.allCases.map(\.rawValue)), type: "gauge")
            + metrics("send_waiting", "Messages without an answer.", [("", state.waiting)], type: "gauge")
            + metrics("send_deferred", "Those that wait for another attempt.", [("", state.deferred)], type: "gauge")
            + metrics("send_oldest_seconds", "How long the oldest message waits.", [("", state.oldest)], type: "gauge")
            + metrics(
                "send_last_success_seconds", "When a message was last accepted, since 1970; 0 for never.",
                [("", Int((state.acceptedAt ?? 0) / 1000))], type: "gauge")
            + counts.latency.text("send_answer_seconds", "Seconds from a request to its answer.")
    }

    private func labelled(_ label: String, _ counts: [String: Int], always names: [String]) -> [(String, Int)] {
        Dictionary(names.map { ($0, 0) }, uniquingKeysWith: { $1 }).merging(counts) { $1 }
            .sorted { $0.key < $1.key }.map { ("{\(label)=\"\($0.key)\"}", $0.value) }
    }
}

internal import PushcryptCommandKit

/// The status line of a batch: its progress and speed, and the time left if the input's length is known.
struct BatchProgress: ~Copyable {
    private let size: Int?
    private let start = SystemEnvironment.uptime()
    private var line: StatusLine

    /// - Parameter size: The length of the input in bytes, if known.
    init(size: Int?, _ console: Console, isShown: Bool) {
        self.size = size
        line = StatusLine(console, isShown: isShown)
    }

    mutating func show(_ tally: BatchTally) {
        line.show { [size, start] in
            Self.text(tally, size: size, milliseconds: Int(clamping: SystemEnvironment.uptime() - start))
        }
    }

    /// Returns the text after so many milliseconds.
    static func text(_ tally: BatchTally, size: Int?, milliseconds: Int) -> String {
        var text = "\(tally.lines) lines"
        if tally.refusals > 0 { text += ", \(tally.refusals) refused" }
        text += ", \(Int(clamping: Double(tally.lines) * 1000 / Double(max(1, milliseconds)))) a second"
        guard let size, tally.input > 0 else { return text }
        let part = min(1, Double(tally.input) / Double(max(1, size)))
        let seconds = Int(clamping: Double(milliseconds) / 1000 * (1 / part - 1))
        return "\(Int(part * 100)) %, \(text), \(clock(seconds)) left"
    }

    private static func clock(_ seconds: Int) -> String {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = "\(digits(seconds / 60 % 60)):\(digits(seconds % 60))"
        return seconds < 3600 ? minutes : "\(seconds / 3600):\(minutes)"
    }
}

extension Int {
    /// Rounds down a number that is not negative; greater numbers become the greatest integer.
    init(clamping number: Double) { self = number < Double(Int.max) ? Int(number) : .max }
}

/// The work of a batch on its lines.
enum BatchVerb: String, CustomStringConvertible {
    case sealed, opened, registered, answered

    var description: String { rawValue }

    /// Whether the lines are messages, which have payloads.
    var hasPayloads: Bool { self == .sealed || self == .opened }
}

/// The counts of a batch, for a log and for Prometheus.
struct BatchReport {
    let verb: BatchVerb
    let tally: BatchTally
    /// The time since the batch began, in nanoseconds.
    let nanoseconds: UInt64

    /// The fields of the last line.
    var summary: [MessageFormat.Field] {
        let payloads: [MessageFormat.Field] =
            verb.hasPayloads
            ? [("unencrypted", .number(tally.unencrypted)), ("bytes", .number(tally.bytes.values.reduce(0, +)))] : []
        let rate = Int(clamping: Double(tally.lines) * 1e9 / Double(max(1, nanoseconds)))
        return [
            ("lines", .number(tally.lines)), ("\(verb)", .number(tally.done)), ("refused", .number(tally.refusals)),
            ("refused_by", .counts(tally.refused)),
        ] + payloads + [("seconds", .seconds(nanoseconds)), ("rate", .number(rate))]
    }

    /// The counts, for Prometheus.
    var text: String {
        let things = verb == .registered ? "Devices" : verb == .answered ? "Answers" : "Messages"
        return metrics("lines_total", "Lines answered.", [("", "\(tally.lines)")])
            + metrics("\(verb)_total", "\(things) that were \(verb).", [("", "\(tally.done)")])
            + metrics(
                "refused_total", "\(things) refused, by error code.",
                tally.refused.sorted { $0.key < $1.key }.map { ("{code=\"\($0.key)\"}", "\($0.value)") })
            + (verb.hasPayloads ? payloadMetrics : "")
            + metrics(
                "work_seconds_total", "Working seconds of all threads.",
                [("", decimalText(nanoseconds: tally.nanoseconds))])
            + metrics(
                "run_seconds_total", "Seconds since the batch began.", [("", decimalText(nanoseconds: nanoseconds))])
            + tally.latency.text("line_seconds", "Seconds from the reading of a line to its answer.")
    }

    /// Replaces the file as a whole, so that it is never read half written.
    func writeMetrics(to path: String) throws {
        try OutputFile.write(ContiguousArray(text.utf8).span, to: path, mode: 0o666, force: true)
    }

    private var payloadMetrics: String {
        metrics(
            "unencrypted_total", "Messages sent unsealed because their device has no key.",
            [("", "\(tally.unencrypted)")])
            + metrics(
                "\(verb)_bytes_total", "Bytes of the payloads that were \(verb), by the size of their sealed content.",
                tally.bytes.sorted { $0.key < $1.key }.map { ("{bucket=\"\($0.key)\"}", "\($0.value)") })
    }
}

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

/// What a batch does with its lines.
enum BatchVerb: String, CustomStringConvertible {
    case sealed, opened, registered, answered

    var description: String { rawValue }

    /// Whether the lines are messages, which have payloads.
    var hasPayloads: Bool { self == .sealed || self == .opened }
}

/// The last line of a batch.
struct BatchSummary {
    let verb: BatchVerb
    let tally: BatchTally
    /// The duration in nanoseconds.
    let nanoseconds: UInt64

    var fields: [MessageFormat.Field] {
        [
            ("lines", .number(tally.lines)), ("\(verb)", .number(tally.done)), ("refused", .number(tally.refusals)),
            ("refused_by", .counts(tally.refused)),
        ] + (verb.hasPayloads ? payloads : []) + [("seconds", .seconds(nanoseconds)), ("rate", .number(rate))]
    }

    private var payloads: [MessageFormat.Field] {
        [("unencrypted", .number(tally.unencrypted)), ("bytes", .number(tally.bytes.values.reduce(0, +)))]
    }

    /// Lines per second.
    private var rate: Int { Int(clamping: Double(tally.lines) * 1e9 / Double(max(1, nanoseconds))) }
}

internal import PushcryptCommandKit

/// How far a batch is: how fast it is, and how long it will take where the length of its input is known.
struct BatchProgress: ~Copyable {
    private let size: Int?
    private let start = SystemEnvironment.uptime()
    private var line: StatusLine

    /// `size` is that of the input in bytes.
    init(size: Int?, _ console: Console, isShown: Bool) {
        self.size = size
        line = StatusLine(console, isShown: isShown)
    }

    mutating func show(_ tally: BatchTally) {
        line.show { [size, start] in
            Self.text(tally, size: size, milliseconds: Int(clamping: SystemEnvironment.uptime() - start))
        }
    }

    /// What is shown after so many milliseconds.
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
    /// The whole part of a number that is not negative; the greatest integer for all that are greater.
    init(clamping number: Double) { self = number < Double(Int.max) ? Int(number) : .max }
}

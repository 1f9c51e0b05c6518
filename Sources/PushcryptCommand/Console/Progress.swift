/// How far a long piece of work is, in one line on a terminal, which is gone again at the end.
///
/// Short work shows nothing, and so does a standard error that is no terminal.
struct Progress: ~Copyable {
    /// Work that is done by then shows nothing.
    private static let delay: UInt64 = 1000
    /// The fewest milliseconds between two lines.
    private static let interval: UInt64 = 200

    private let what: String
    private let total: Int
    private let console: Console
    private var done = 0
    private var next: UInt64
    private var isShown = false

    /// Begins work of so many bytes.
    init(_ what: String, total: Int, _ console: Console) {
        self.what = what
        self.total = total
        self.console = console
        next = console.showsProgress ? console.now() + Self.delay : .max
    }

    /// Counts bytes that were worked on.
    mutating func advance(by count: Int) {
        done += count
        guard next != .max else { return }
        let now = console.now()
        guard now >= next else { return }
        next = now + Self.interval
        isShown = true
        let percent = total > 0 ? min(100, done / max(1, total / 100)) : 100
        console.show("\r\(what): \(percent) %\u{1b}[K")
    }

    deinit {
        if isShown { console.show("\r\u{1b}[K") }
    }
}

extension Console {
    /// Whether a line can be written over again.
    fileprivate var showsProgress: Bool { messages.isTerminal && variable("TERM") != "dumb" }

    fileprivate func show(_ text: String) {
        // Nobody is left to see it when this fails.
        try? messages.writeAll(ContiguousArray(text.utf8).span)
    }
}

/// A line on a terminal that is updated repeatedly, and removed at the end.
///
/// Nothing is shown for short work, or if standard error is not a terminal.
package struct StatusLine: ~Copyable {
    /// The milliseconds before the line is first shown.
    private static let delay: UInt64 = 1000
    /// The minimum number of milliseconds between two updates.
    private static let interval: UInt64 = 200

    private let console: Console
    private var next: UInt64
    private var isShown = false

    package init(_ console: Console, isShown: Bool = true) {
        self.console = console
        next = isShown && !console.isQuiet && console.showsStatus ? console.now() + Self.delay : .max
    }

    /// Shows the text, unless the line was updated a moment ago.
    package mutating func show(_ text: () -> String) {
        guard next != .max else { return }
        let now = console.now()
        guard now >= next else { return }
        next = now + Self.interval
        isShown = true
        console.write(status: "\r\(text())\u{1b}[K")
    }

    deinit {
        if isShown { console.write(status: "\r\u{1b}[K") }
    }
}

extension Console {
    /// Whether a line can be updated.
    fileprivate var showsStatus: Bool { messages.isTerminal && variable("TERM") != "dumb" }

    fileprivate func write(status text: String) {
        // There is nowhere to report a failure.
        try? messages.writeAll(ContiguousArray(text.utf8).span)
    }
}

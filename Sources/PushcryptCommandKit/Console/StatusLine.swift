/// One line on a terminal that is written over again and again, and gone at the end.
///
/// Short work shows nothing, and so does a standard error that is no terminal.
package struct StatusLine: ~Copyable {
    /// Work that is done by then shows nothing.
    private static let delay: UInt64 = 1000
    /// The fewest milliseconds between two lines.
    private static let interval: UInt64 = 200

    private let console: Console
    private var next: UInt64
    private var isShown = false

    package init(_ console: Console, isShown: Bool = true) {
        self.console = console
        next = isShown && console.showsStatus ? console.now() + Self.delay : .max
    }

    /// Shows the text, unless the last one was shown a moment ago.
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
    /// Whether a line can be written over again.
    fileprivate var showsStatus: Bool { messages.isTerminal && variable("TERM") != "dumb" }

    fileprivate func write(status text: String) {
        // Nobody is left to see it when this fails.
        try? messages.writeAll(ContiguousArray(text.utf8).span)
    }
}

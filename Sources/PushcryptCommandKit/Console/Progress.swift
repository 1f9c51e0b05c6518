/// How far a long piece of work is, in one line on a terminal, which is gone again at the end.
package struct Progress: ~Copyable {
    private let what: String
    private let total: Int
    private var done = 0
    private var line: StatusLine

    /// Begins work of so many bytes.
    package init(_ what: String, total: Int, _ console: Console) {
        self.what = what
        self.total = total
        line = StatusLine(console)
    }

    /// Counts bytes that were worked on.
    package mutating func advance(by count: Int) {
        done += count
        line.show { [what, total, done] in "\(what): \(total > 0 ? min(100, done / max(1, total / 100)) : 100) %" }
    }
}

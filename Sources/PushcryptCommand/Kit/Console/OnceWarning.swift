/// A warning that a run gives once, whichever thread comes to it first.
package final class OnceWarning: Sendable {
    private let console: Console
    private let isGiven = Monitor(false)

    package init(_ console: Console) { self.console = console }

    package func give(_ text: @autoclosure () -> String) {
        let isFirst = isGiven.change { given in
            defer { given = true }
            return !given
        }
        if isFirst { console.warning(text()) }
    }
}

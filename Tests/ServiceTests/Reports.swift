import PushcryptKeyStore
import PushcryptService
import TestPhone

/// Keeps what an service reports.
final class Reports: Sendable {
    private final class State {
        var reports: [DeliveryReport] = []
    }

    private let state = Locked(State())

    var append: @Sendable (DeliveryReport) -> Void { { report in self.state.withLock { $0.reports.append(report) } } }

    var all: [DeliveryReport] { state.withLock { $0.reports } }
    var first: DeliveryReport? { all.first }
    var last: DeliveryReport? { all.last }

    /// Waits for a report, which comes after a delivery that was rescued.
    func next(after count: Int = 0) async -> DeliveryReport? {
        await eventually { all.count > count } ? all[count] : nil
    }
}

/// Rows of a journal, as a handler saw them.
final class Rows: Sendable {
    private final class State {
        var rows: [JournalEntry] = []
    }

    private let state = Locked(State())

    var value: [JournalEntry] { state.withLock { $0.rows } }

    func set(_ rows: [JournalEntry]) { state.withLock { $0.rows = rows } }
}

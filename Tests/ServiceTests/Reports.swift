import PushcryptKeyStore
import PushcryptService
import TestPhone
import Waiting

/// Collects the reports of a handler.
final class Reports: Sendable {
    private final class State {
        var reports: [DeliveryReport] = []
    }

    private let state = Locked(State())

    var append: @Sendable (DeliveryReport) -> Void { { report in self.state.withLock { $0.reports.append(report) } } }

    var all: [DeliveryReport] { state.withLock { $0.reports } }
    var first: DeliveryReport? { all.first }
    var last: DeliveryReport? { all.last }

    /// Waits for a report, which follows a rescued delivery.
    func next(after count: Int = 0) async -> DeliveryReport? {
        await eventually { all.count > count } ? all[count] : nil
    }
}

/// The rows of a journal at the time a content handler was called.
final class Rows: Sendable {
    private final class State {
        var rows: [JournalEntry] = []
    }

    private let state = Locked(State())

    var value: [JournalEntry] { state.withLock { $0.rows } }

    func set(_ rows: [JournalEntry]) { state.withLock { $0.rows = rows } }
}

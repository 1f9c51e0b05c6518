internal import Dispatch

/// Says how deliveries ended, to the journal and to the app, each on a thread of its own. Not run on Apple systems.
final class DeliveryLog: Sendable {
    private let files: OpenerFiles
    private let observe: (@Sendable (DeliveryReport) -> Void)?
    private let journalQueue = DispatchQueue(label: "pushcrypt.journal", qos: .userInitiated)
    private let observerQueue = DispatchQueue(label: "pushcrypt.observe", qos: .userInitiated)

    init(_ files: OpenerFiles, observe: (@Sendable (DeliveryReport) -> Void)?) {
        self.files = files
        self.observe = observe
    }

    /// Writes a report; waits for that no longer than the caller can, because a disk may hang, and so may an app.
    func write(_ report: DeliveryReport, waitingAtMost patience: DispatchTimeInterval?) {
        let group = DispatchGroup()
        journalQueue.async(group: group) { [files] in files.journal(report) }
        if let observe { observerQueue.async(group: group) { observe(report) } }
        if let patience { _ = group.wait(timeout: .now() + patience) }
    }
}

internal import Dispatch

/// Writes down how deliveries ended, one after the other, on a thread of its own.
final class DeliveryLog: Sendable {
    private let files: OpenerFiles
    private let observe: (@Sendable (DeliveryReport) -> Void)?
    private let queue = DispatchQueue(label: "pushcrypt.log", qos: .userInitiated)

    init(_ files: OpenerFiles, observe: (@Sendable (DeliveryReport) -> Void)?) {
        self.files = files
        self.observe = observe
    }

    /// Writes a report; waits for that no longer than the caller can, because a disk may hang.
    func write(_ report: DeliveryReport, waitingAtMost patience: DispatchTimeInterval?) {
        let written = DispatchSemaphore(value: 0)
        queue.async { [files, observe] in
            files.journal(report)
            observe?(report)
            written.signal()
        }
        if let patience { _ = written.wait(timeout: .now() + patience) }
    }
}

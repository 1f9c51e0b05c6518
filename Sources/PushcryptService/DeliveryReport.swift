internal import Dispatch
public import Pushcrypt
public import PushcryptKeyStore
public import PushcryptReceiver

/// The result of one delivery, for the app's log. Contains nothing of the notification. Not run on Apple systems.
public struct DeliveryReport: Hashable, Sendable, CustomStringConvertible {
    /// When the push arrived.
    public let receivedAt: Timestamp
    /// The time from arrival to delivery.
    public let milliseconds: UInt64
    /// The fingerprint of the envelope, as in the provider's log; nil if the push had no envelope.
    public let fingerprint: EnvelopeFingerprint?
    /// How the push was delivered.
    public let outcome: Delivery.Outcome
    /// The state of the device key that the push was sealed to.
    public let keyState: JournalEntry.KeyState
    /// Problems that did not prevent delivery, one sentence each, for the developer.
    public let warnings: [String]

    /// The outcome for programs, for example `opened` or `expired`.
    public var code: String { outcome.description }

    /// A line for the developer's log: fingerprint, outcome, time, warnings.
    public var description: String {
        let line = "\(fingerprint?.description ?? "-"): \(code), \(milliseconds) ms"
        return ([line] + warnings).joined(separator: "; ")
    }

    /// The row of the journal.
    var entry: JournalEntry {
        JournalEntry(
            time: receivedAt, fingerprint: fingerprint, code: code, keyState: keyState, milliseconds: milliseconds)
    }
}

/// Writes reports to the journal and to the app, each on its own thread. Not run on Apple systems.
final class DeliveryLog: Sendable {
    /// How long a delivery waits for its report, in milliseconds.
    private static let patience: UInt64 = 200

    private let files: ServiceFiles
    private let observe: (@Sendable (DeliveryReport) -> Void)?
    private let clock: any DeliveryClock
    private let journalQueue = DispatchQueue(label: "pushcrypt.journal", qos: .userInitiated)
    private let observerQueue = DispatchQueue(label: "pushcrypt.observe", qos: .userInitiated)

    init(_ files: ServiceFiles, observe: (@Sendable (DeliveryReport) -> Void)?, clock: any DeliveryClock) {
        self.files = files
        self.observe = observe
        self.clock = clock
    }

    /// The thread that completes a delivery.
    enum Caller {
        /// A thread of the handler.
        case own
        /// A thread of a clock, of the app or of the system.
        case other
        /// The system, whose time is over: it may suspend or end this process as soon as it has the content.
        case rescue
    }

    /// Writes a report, and waits for it for at most 200 ms, because a disk may hang and so may an app. On return, the
    /// journal is not being written: iOS ends an app that is suspended with a lock on a shared file. A rescue waits for
    /// nothing, and leaves no row in the journal unless the message was handed over with it.
    func write(_ report: DeliveryReport, _ caller: Caller, isJournaled: Bool) {
        let done = DispatchSemaphore(value: 0)
        let writesRow = caller != .rescue && !isJournaled
        let parts = (observe == nil ? 0 : 1) + (writesRow ? 1 : 0)
        let isWritten = Locked(Flag())
        let timer =
            caller == .own
            ? clock.schedule(afterMilliseconds: Self.patience) { for _ in 0..<parts { done.signal() } } : nil
        if let observe {
            observerQueue.async {
                observe(report)
                done.signal()
            }
        }
        if writesRow {
            journalQueue.async { [files] in
                files.journal(report)
                isWritten.withLock { $0.isSet = true }
                done.signal()
            }
        }
        switch caller {
        case .own:
            for _ in 0..<parts { done.wait() }
            timer?.cancel()
        case .other:
            let end = DispatchTime.now() + .milliseconds(Int(Self.patience))
            for _ in 0..<parts where done.wait(timeout: end) == .timedOut { break }
        case .rescue: return
        }
        if writesRow, !isWritten.withLock({ $0.isSet }) { files.stop() }
    }

    private final class Flag {
        var isSet = false
    }
}

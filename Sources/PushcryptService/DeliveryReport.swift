internal import Dispatch
public import Pushcrypt
public import PushcryptKeyStore
public import PushcryptReceiver

/// The result of one delivery, for the app's log. Contains nothing of the notification. Not run on Apple systems.
public struct DeliveryReport: Hashable, Sendable {
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

    /// Writes a report. A caller that waits does so for at most 200 ms, because a disk may hang and so may an app.
    func write(_ report: DeliveryReport, waits: Bool) {
        let done = DispatchSemaphore(value: 0)
        let parts = observe == nil ? 1 : 2
        let timer =
            waits
            ? clock.schedule(afterMilliseconds: Self.patience) { for _ in 0..<parts { done.signal() } } : nil
        journalQueue.async { [files] in
            files.journal(report)
            done.signal()
        }
        if let observe {
            observerQueue.async {
                observe(report)
                done.signal()
            }
        }
        if waits { for _ in 0..<parts { done.wait() } }
        timer?.cancel()
    }
}

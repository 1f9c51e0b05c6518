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
    private let files: ServiceFiles
    private let observe: (@Sendable (DeliveryReport) -> Void)?
    private let journalQueue = DispatchQueue(label: "pushcrypt.journal", qos: .userInitiated)
    private let observerQueue = DispatchQueue(label: "pushcrypt.observe", qos: .userInitiated)

    init(_ files: ServiceFiles, observe: (@Sendable (DeliveryReport) -> Void)?) {
        self.files = files
        self.observe = observe
    }

    /// Writes a report. The wait is limited, because a disk may hang and so may an app; nil does not wait.
    func write(_ report: DeliveryReport, waitingAtMost patience: DispatchTimeInterval?) {
        let group = DispatchGroup()
        journalQueue.async(group: group) { [files] in files.journal(report) }
        if let observe { observerQueue.async(group: group) { observe(report) } }
        if let patience { _ = group.wait(timeout: .now() + patience) }
    }
}

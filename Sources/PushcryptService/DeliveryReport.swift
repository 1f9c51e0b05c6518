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

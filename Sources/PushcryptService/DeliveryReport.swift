public import Pushcrypt
public import PushcryptKeyStore
public import PushcryptReceiver

/// How one delivery went, without anything of its content; for the app's log. Not run on Apple systems.
public struct DeliveryReport: Hashable, Sendable {
    /// When the push came.
    public let receivedAt: Timestamp
    /// From then to the delivery.
    public let milliseconds: UInt64
    /// Names the envelope, as the provider's log does; nil when the push had none.
    public let fingerprint: EnvelopeFingerprint?
    /// What was shown.
    public let outcome: Delivery.Outcome
    /// How the device key stood that the push was sealed to.
    public let keyState: JournalEntry.KeyState
    /// What the developer should know although the push was delivered, one sentence each.
    public let warnings: [String]

    /// What programs read, for example `opened` or `expired`.
    public var code: String { outcome.description }
}

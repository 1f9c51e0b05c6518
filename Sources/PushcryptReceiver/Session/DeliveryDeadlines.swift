/// How long a person waits, in milliseconds from the moment the push was received.
public struct DeliveryDeadlines: Hashable, Sendable {
    /// When the best there is then is shown; 25 seconds, because the system gives about 30.
    public var delivery: UInt64
    /// When attachments that are not there yet are given up; 15 seconds.
    public var attachments: UInt64

    /// Takes the times, in milliseconds; that of the delivery has to be below the 30 seconds of the system.
    public init(delivery: UInt64 = 25_000, attachments: UInt64 = 15_000) {
        self.delivery = delivery
        self.attachments = attachments
    }
}

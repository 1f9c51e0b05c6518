/// Turns a received payload into the notification that the app would have shown.
///
/// A pure value: it reads no file, no clock and no network, and opening changes nothing. Steps 1 to 7 of the opening
/// order; step 8, the replay check, is the receiver's, because it writes. (`Docs/Format.md`, Opening)
public struct Opener: Sendable {
    private let topic: Topic
    private let deviceKeys: [KeyID: DeviceKey]
    private let trust: SenderTrust

    /// Makes an opener.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle id, never the extension's own.
    ///   - deviceKeys: every key of the device that may still open: pending, active, and retiring until its end date.
    ///   - trust: the senders that are believed.
    public init(topic: Topic, deviceKeys: [DeviceKey], trust: SenderTrust) {
        self.topic = topic
        self.deviceKeys = Dictionary(deviceKeys.map { ($0.publicKey.id, $0) }) { first, _ in first }
        self.trust = trust
    }

    /// Opens the JSON of a received push.
    ///
    /// The result is authentic, fresh and for this device and topic. Whether it was shown before is for the caller's
    /// replay guard to say; statements in the result take effect only when that passes too.
    ///
    /// - Throws: every code of `OpenError` but `duplicate`. The person sees the fallback then; the code is the developer's.
    @inlinable
    public func open(_ push: some Sequence<UInt8>, at now: Timestamp) throws(OpenError) -> OpenedNotification {
        try open(ReceivedPush(push).envelope(), at: now)
    }

    /// Opens an envelope that was taken out of its push; guarantees and throws what the call with the whole push does.
    public func open(_ envelope: Envelope, at now: Timestamp) throws(OpenError) -> OpenedNotification {
        guard let deviceKey = deviceKeys[envelope.recipientKeyID] else {
            throw .unknownRecipientKey(envelope.recipientKeyID)
        }
        let message = try EnvelopeOpener(deviceKey: deviceKey, trust: trust, topic: topic, now: now).open(envelope)
        return try OpenedNotification(message, openedWith: deviceKey.publicKey)
    }
}

/// Opens received payloads on a device.
///
/// A pure value: it uses no file, no clock and no network, and opening changes nothing. It performs steps 1 to 7 of
/// opening; step 8, the replay check, is up to the receiver, because it writes. (`Docs/Format.md`, Opening)
public struct Opener: Sendable {
    private let topic: Topic
    private let deviceKeys: [KeyID: DeviceKey]
    private let trust: ProviderTrust

    /// Creates an opener.
    ///
    /// - Parameters:
    ///   - topic: The app's bundle id, never the extension's.
    ///   - deviceKeys: All keys of the device that may still open: pending, active, and retiring ones until their end.
    ///   - trust: The pins of the account that the keys belong to.
    public init(topic: Topic, deviceKeys: [DeviceKey], trust: ProviderTrust) {
        self.topic = topic
        self.deviceKeys = Dictionary(deviceKeys.map { ($0.publicKey.id, $0) }) { first, _ in first }
        self.trust = trust
    }

    /// Opens the JSON of a received push.
    ///
    /// The result is authentic, fresh and for this device and topic. The caller's replay guard checks whether it was
    /// shown before; a certificate in the result takes effect whatever the guard says.
    ///
    /// - Parameters:
    ///   - push: The JSON.
    ///   - now: The present time.
    ///   - pushClass: The kind of push that the system has delivered: an alert to the extension, a background push or a
    ///     call to the app.
    /// - Throws: `OpenError`, with any code except `duplicate`. The user then sees the fallback; the error is for the
    ///   developer.
    public func open(
        _ push: some Sequence<UInt8>, at now: Timestamp, as pushClass: PushClass = .alert
    ) throws(OpenError) -> OpenedNotification {
        try open(ReceivedPush(push).envelope(), at: now, as: pushClass)
    }

    /// Opens an envelope without its push; otherwise the same as opening the whole push.
    public func open(
        _ envelope: Envelope, at now: Timestamp, as pushClass: PushClass = .alert
    ) throws(OpenError) -> OpenedNotification {
        guard let deviceKey = deviceKeys[envelope.recipientKeyID], deviceKey.publicKey.suite == envelope.suite else {
            throw .unknownRecipientKey(envelope.recipientKeyID)
        }
        let message = try EnvelopeOpener(
            deviceKey: deviceKey, trust: trust, topic: topic, pushClass: pushClass, now: now
        ).open(envelope)
        return try OpenedNotification(message, openedWith: deviceKey.publicKey)
    }
}

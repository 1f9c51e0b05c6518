import Pushcrypt

/// Both ends of one push.
struct RoundTrip {
    let sent: SealedPayload
    let opened: OpenedNotification

    init(at now: Timestamp) throws {
        let topic = try Topic("com.example.app")
        let device = DeviceKey()  // on the phone
        let provider = ProviderKey()  // at the provider

        // The provider has the phone's public key, which the app has registered.
        let sealer = Sealer(provider: provider, topic: topic)
        let payload = #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}},"chat":"c41"}"#
        sent = try sealer.seal(Sealer.Message(payload.utf8), to: device.publicKey, at: now)

        // The phone has the provider's public key, which is built into the app.
        let trust = ProviderTrust(pinned: [provider.publicKey])
        let opener = Opener(topic: topic, deviceKeys: [device], trust: trust)
        opened = try opener.open(sent.json, at: now)
    }
}

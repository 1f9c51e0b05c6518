extension PushAnswer {
    /// The speaker, for people.
    var speaker: String { isRelays ? "the relay" : "APNs" }

    /// For people: `503 ServiceUnavailable`.
    var text: String { reason.map { "\(status) \($0)" } ?? "\(status)" }

    /// The meaning of an answer, and the fix.
    var advice: String {
        switch reason {
        case "BadDeviceToken": "the token is not one of this environment: a build from Xcode has one of development"
        case "DeviceTokenNotForTopic": "token and topic belong to different apps"
        case "TopicDisallowed": "the key or certificate is not for this topic"
        case "BadTopic", "MissingTopic": "the topic is not an app's bundle id"
        case "InvalidProviderToken": "key, key id and team do not belong together, or the key was revoked"
        case "ExpiredProviderToken": "the provider token is too old although it is new: the clock is wrong"
        case "TooManyProviderTokenUpdates":
            "a provider token holds for 20 minutes: all processes with this key must name one --provider-token-file"
        case "BadCertificate": "the certificate is not one for APNs, or was revoked"
        case "BadCertificateEnvironment": "the certificate is for the other environment"
        case "Unregistered", "ExpiredToken": "the token is no longer valid: remove the device"
        case "grant-expired", "grant-revoked", "grant-unknown-key":
            "the grant has ended: give the answers to 'device remove --from-apns-410', and wait for the phone's next record"
        case "wrong-key": "the grant is for another push key than the store's: wait for the phone's next record"
        case "kind-not-granted": "the relay does not pass such pushes on for this grant"
        case "malformed-grant": "it is no grant of this relay"
        case "bad-signature": "--relay is not the relay's origin, as its publisher writes it"
        case "clock": "the clock is wrong by more than an hour"
        default: "\(isRelays ? "the relay" : "APNs") refuses the request: \(text)"
        }
    }
}

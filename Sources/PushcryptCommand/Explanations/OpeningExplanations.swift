internal import Pushcrypt

extension Explanation {
    static let opening = [
        Explanation(
            OpenError.Code.malformedNotification, .opening,
            summary: "the input is not a JSON object",
            cause: """
                It is not one JSON object in UTF-8, or has more than 65,536 bytes. It comes from files, pipes or servers
                that open: a phone's system parses a push before any extension runs.
                """,
            fix: """
                Pass on the push exactly as received, whole and alone. The message names the byte where reading ended.
                """,
            shown: "If anything, the subtitle (Encrypted) without a title, because none could be read."),
        Explanation(
            OpenError.Code.notEncrypted, .opening, .lint,
            summary: "ENCRYPTED_DATA is absent or not a string",
            cause: """
                The push was not sealed, a relay or client library dropped the field or moved it into aps, or someone
                else who knows the token sent it.
                """,
            fix: """
                Send what 'pushcrypt seal' prints, with ENCRYPTED_DATA beside aps and in upper case. To keep some kinds
                of push clear for now, let the app's policy allow only those.
                """,
            shown: "The clear title and the text (Encrypted), without a subtitle."),
        Explanation(
            OpenError.Code.malformedEnvelope, .opening, .lint,
            summary: "ENCRYPTED_DATA is a string but not an envelope",
            cause: """
                A character outside base64url, padding, a line break or an impossible length: the text was cut, encoded
                twice, or never was an envelope. No key was tried.
                """,
            fix: """
                If the fingerprint is not in the provider's log, the text changed on the way: look for a column or limit
                that cuts, or code that decodes and encodes. 'pushcrypt inspect' says what is wrong with a push at hand.
                """),
        Explanation(
            OpenError.Code.unsupportedSuite, .opening, .lint,
            summary: "a suite that this version does not read",
            cause: "The provider's format is newer than the app, or the text is not an envelope.",
            fix: "Update the app. If the provider's format has not changed, see malformed-envelope."),
        Explanation(
            OpenError.Code.unknownRecipientKey, .opening,
            summary: "sealed to a key that this device does not have, or no longer has",
            cause: """
                The app was reinstalled, moved or logged out while the provider still seals to the earlier key; the key
                was replaced more than 31 days ago; or token and key belong to different installations.
                """,
            fix: """
                Compare the key id that 'pushcrypt inspect' shows with the device's. Send the registration record at
                every launch, and accept it; remove devices whose tokens APNs reports as Unregistered.
                """),
        Explanation(
            OpenError.Code.authenticationFailed, .opening,
            summary: "not sealed by a trusted sender for this device and this app, or changed",
            cause: """
                Most often the two ends name the app differently: the extension's bundle id, or a topic ending in .voip,
                instead of the app's own. Otherwise the signing key is not trusted, the text changed on the way, or
                someone else sealed it. Which of these is not said, because it would help a forger.
                """,
            fix: """
                Compare on both ends the topic, letter by letter, the sender's key ('pushcrypt export sender' and
                'pushcrypt sender list') and the device's ('pushcrypt device list' and 'pushcrypt export device'). If
                they agree and the fingerprint is not in the provider's log, this provider did not seal it.
                """),
        Explanation(
            OpenError.Code.rotationConflict, .opening, .rotation, .store,
            summary: "a superseded sender key has signed a second, different rotation",
            cause: """
                A provider rotates a key once: someone else has the key, or the provider's store was restored from a
                backup and has rotated again.
                """,
            fix: """
                If no backup was restored, the key is stolen: stop sealing with it, make a new one, and give it to the
                phones through the app's own channel ('pushcrypt sender trust NAME FILE --replace'). Do not run 'rotate
                sender'. Docs/KeyRotation.md has both cases step by step.
                """,
            shown: """
                The fallback if the key of the second statement signed the message; a message by a trusted key opens.
                Trust does not change, and the app is told.
                """),
        Explanation(
            OpenError.Code.unsupportedMessage, .opening,
            summary: "authentic, but of a type or with times that this version does not know",
            cause: """
                The sealer is newer, or breaks the format: a time to live of 0 or more than 30 days, a time beyond 2^53
                milliseconds, an unassigned content type.
                """,
            fix: "Update the app. For your own sealer, see Freshness and Inner plaintext in Docs/Format.md."),
        Explanation(
            OpenError.Code.expired, .opening,
            summary: "authentic, but its time to live has passed",
            cause: """
                The phone was out of reach for too long, the message waited in a queue after sealing, or a clock is
                wrong.
                """,
            fix: """
                Seal just before sending, with a time to live of hours or days, 30 at most, and a matching
                apns-expiration, so that APNs drops what would not be shown. If many phones report it, check the
                provider's clock ('pushcrypt doctor').
                """),
        Explanation(
            OpenError.Code.notYetValid, .opening,
            summary: "authentic, but sent more than 24 hours from now",
            cause: "One of the two clocks is wrong by more than a day.",
            fix: """
                If many phones report it, set the provider's clock. If one does, its date was set by hand; its messages
                open again when the date is right.
                """),
        Explanation(
            OpenError.Code.malformedPayload, .opening,
            summary: "authentic, but the sealed body is not a payload",
            cause: """
                It is not a JSON object with an aps object by the format's rules, or the rotation statements before it
                cannot be read. This project's sealer refuses to seal that.
                """,
            fix: "Fix the sealer: see Body in Docs/Format.md."),
        Explanation(
            OpenError.Code.duplicate, .opening,
            summary: "authentic, but shown before, and the app's policy is strict",
            cause: """
                It was sent again under another notification request, by the provider or someone on the way, or is older
                than everything that the phone remembers of this sender.
                """,
            fix: """
                Give a retry the first try's apns-collapse-id, so that it replaces it, and message name, so that the
                phone recognises it. If the fallback disturbs users, use the default policy.
                """,
            shown: """
                The fallback. Under the default policy, without this code: the same content, without sound and without
                lighting the screen.
                """),
    ]
}

internal import Pushcrypt

extension Explanation {
    static let opening = [
        Explanation(
            OpenError.Code.malformedNotification, .opening,
            summary: "what was received is not a JSON object",
            cause: """
                The bytes are not one JSON object in UTF-8, or there are more than 65,536 of them. The system of a phone has
                parsed a push before any extension runs, so this comes from files, pipes and servers that open.
                """,
            fix:
                "Pass on the push exactly as it was received, whole and alone. The message names the byte where reading ended.",
            shown:
                "Where a person is shown anything: the subtitle (Encrypted), without a title, because none could be read."
        ),
        Explanation(
            OpenError.Code.notEncrypted, .opening, .lint,
            summary: "ENCRYPTED_DATA is absent or not a string",
            cause: """
                The push was sent without sealing it; or a relay or a client library dropped the field, or moved it into aps; or
                somebody else who knows the device's token sent it.
                """,
            fix: """
                Send what 'pushcrypt seal' prints, with ENCRYPTED_DATA beside aps and in upper case. If some kinds of
                push are to stay clear for now, let the app's policy pass those and no others.
                """,
            shown: "On the phone: the clear title and the text (Encrypted), without a subtitle."),
        Explanation(
            OpenError.Code.malformedEnvelope, .opening, .lint,
            summary: "ENCRYPTED_DATA is a string, but no envelope",
            cause: """
                A character that is not base64url, padding, a line break, or a length that no envelope has: the text was cut,
                encoded a second time, or never was an envelope. No key was tried.
                """,
            fix: """
                Look for the fingerprint in the provider's log. If it is not there, the text changed on the way: look for a
                column or a limit that cuts, and for code that decodes and encodes it. 'pushcrypt inspect' says what is
                wrong with a push at hand.
                """,
            shown: fallback),
        Explanation(
            OpenError.Code.unsupportedSuite, .opening, .lint,
            summary: "a suite that this version does not read",
            cause:
                "The provider seals in a newer format than the app on this phone knows, or the text is no envelope at all.",
            fix: "Update the app. If the provider's format has not changed, see malformed-envelope.",
            shown: fallback),
        Explanation(
            OpenError.Code.unknownRecipientKey, .opening,
            summary: "sealed to a key that this device does not have, or no longer has",
            cause: """
                The app was installed anew, moved to another phone or logged out, and the provider still seals to the key from
                before; or the key was replaced more than 31 days ago; or the token now belongs to another
                installation than the key.
                """,
            fix: """
                'pushcrypt inspect' shows the key id that a push was sealed to; compare it with the id that the device has.
                Let the app send its registration record at every launch, and let the provider take it; remove devices
                whose tokens APNs reports as Unregistered.
                """,
            shown: fallback),
        Explanation(
            OpenError.Code.authenticationFailed, .opening,
            summary: "not sealed by a trusted sender for this device and this app, or changed",
            cause: """
                Most often the two ends name the app differently: the extension's bundle id, or a topic that ends in .voip, where
                the app's own is needed. Otherwise the phone does not trust the key that the provider signs with, the
                text was changed on the way, or somebody else has sealed it. Which of these it is stays unsaid on
                purpose: an answer would help whoever forges.
                """,
            fix: """
                Compare three things on both ends: the topic, letter by letter; the sender's key ('pushcrypt export sender' and
                'pushcrypt sender list'); the device's key ('pushcrypt device list' and 'pushcrypt export device'). If
                they agree, look for the fingerprint in the provider's log: one that is not there was not sealed by
                this provider.
                """,
            shown: fallback),
        Explanation(
            OpenError.Code.rotationConflict, .opening, .rotation, .store,
            summary: "a superseded sender key has signed a second, different rotation",
            cause: """
                A provider rotates a key once. Two statements by one key mean that somebody else has the key, or that the
                provider's store was restored from a backup and has rotated again.
                """,
            fix: """
                Find out whether a backup was restored. If not, the key is stolen: stop sealing with it, make a new one, and
                give it to the phones through the app's own channel ('pushcrypt sender trust NAME FILE --replace'). Do
                not run 'rotate sender'. Docs/KeyRotation.md has both cases step by step.
                """,
            shown: """
                On the phone: the fallback, where the message is signed by the key of the second statement; a message by a key
                that is still trusted opens. Trust does not change, and the app is told.
                """),
        Explanation(
            OpenError.Code.unsupportedMessage, .opening,
            summary: "authentic, but of a type or with times that this version does not know",
            cause: """
                A newer sealer, or one that does not keep to the format: a time to live of 0 or of more than 30 days, a
                time beyond 2^53 milliseconds, a content type without a meaning.
                """,
            fix:
                "Update the app. For a sealer of one's own, see the sections Freshness and Inner plaintext of Docs/Format.md.",
            shown: fallback),
        Explanation(
            OpenError.Code.expired, .opening,
            summary: "authentic, but its time to live has passed",
            cause: """
                The phone was off or out of reach for longer than the message may live, the message waited in a queue after
                it was sealed, or one of the two clocks is wrong.
                """,
            fix: """
                Seal immediately before sending, with a time to live of hours or days, 30 at most, and an apns-expiration that
                ends with it, so that APNs drops what nobody would be shown. If many phones report it, look at the
                provider's clock ('pushcrypt doctor').
                """,
            shown: fallback),
        Explanation(
            OpenError.Code.notYetValid, .opening,
            summary: "authentic, but sent more than 24 hours from now",
            cause: "One of the two clocks is wrong by more than a day.",
            fix: """
                If many phones report it, set the provider's clock. If one does, its date was set by hand; its messages open
                again when the date is right.
                """,
            shown: fallback),
        Explanation(
            OpenError.Code.malformedPayload, .opening,
            summary: "authentic, but what was sealed is not a payload",
            cause: """
                The body is not a JSON object with an aps object by the rules of the format, or the rotation statements before
                it cannot be read. This project's sealer refuses to seal that, so another one was at work.
                """,
            fix: "Fix the sealer: see the section Body of Docs/Format.md.",
            shown: fallback),
        Explanation(
            OpenError.Code.duplicate, .opening,
            summary: "authentic, but shown before, and the app's policy is strict",
            cause: """
                The provider or somebody on the way sent the message again under another notification request; or it is older
                than all that the phone remembers of this sender.
                """,
            fix: """
                Send a retry with the same apns-collapse-id as the first try: it then replaces it instead of
                standing beside it. Seal it with the same message name, so that the phone knows it. If the fallback
                disturbs people, use the default policy, which shows a copy quietly.
                """,
            shown: """
                On the phone: the fallback. Under the default policy there is no such code: the same content is shown, without
                sound and without lighting the screen.
                """),
    ]
}

internal import Pushcrypt

extension Explanation {
    static let opening = [
        Explanation(
            OpenError.Code.malformedNotification, .opening,
            summary: "the input is not a JSON object",
            cause: """
                It is not JSON in UTF-8, or exceeds 65,536 bytes. It came from a file, a pipe or a server: a phone's
                system parses a push first.
                """,
            fix: "Pass on the push as received, whole and alone. The message names the byte where reading ended.",
            shown: "If anything, the subtitle (Encrypted), without the unreadable title."),
        Explanation(
            OpenError.Code.notEncrypted, .opening, .lint,
            summary: "ENCRYPTED_DATA is absent or not a string",
            cause: """
                It was not sealed, a relay or client dropped the field or moved it into aps, or someone else sent it to
                the token.
                """,
            fix: """
                Send what 'pushcrypt seal' prints, with ENCRYPTED_DATA, in upper case, beside aps. Let the app's policy
                allow only those pushes that stay clear for now.
                """,
            shown: "The clear title and the text (Encrypted), no subtitle."),
        Explanation(
            OpenError.Code.malformedEnvelope, .opening, .lint,
            summary: "ENCRYPTED_DATA is a string but not an envelope",
            cause: """
                A character outside base64url, padding, a line break or an impossible length: the text was cut, encoded
                twice, or never an envelope. No key was tried.
                """,
            fix: """
                If the fingerprint is not in the provider's log, a column or limit cut the text, or code decoded and
                encoded it. 'pushcrypt inspect' says what is wrong.
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
                The app was reinstalled, moved or logged out, the key was replaced over 31 days ago, or token and key
                are of different installations.
                """,
            fix: """
                Compare the key id of 'pushcrypt inspect' with the device's. Send the registration record at every
                launch, accept it, and remove devices that APNs reports as Unregistered.
                """),
        Explanation(
            OpenError.Code.authenticationFailed, .opening,
            summary: "not sealed by a trusted sender for this device and this app, or changed",
            cause: """
                Most often one end uses the extension's bundle id, or a topic ending in .voip, instead of the app's own.
                Otherwise the signing key is not trusted, the text changed on the way, or someone else sealed it. Saying
                which would help a forger.
                """,
            fix: """
                Compare on both ends the topic, letter by letter, the sender's key ('pushcrypt export sender',
                'pushcrypt sender list') and the device's ('pushcrypt device list', 'pushcrypt export device'). If they
                agree and the provider's log lacks the fingerprint, another sealed it.
                """),
        Explanation(
            OpenError.Code.rotationConflict, .opening, .rotation, .store,
            summary: "a superseded sender key has signed a second, different rotation",
            cause: """
                Someone else has the key, or the provider's store was restored from a backup and has rotated again.
                """,
            fix: """
                Without a restored backup the key is stolen: stop sealing with it, and give the phones a new one through
                the app's channel ('pushcrypt sender trust NAME FILE --replace'). Do not run 'rotate sender'. See
                Docs/KeyRotation.md.
                """,
            shown: """
                The fallback for messages by the key of the second statement; those by trusted keys open. Trust does not
                change, and the app is told.
                """),
        Explanation(
            OpenError.Code.unsupportedMessage, .opening,
            summary: "authentic, but of a type or with times that this version does not know",
            cause: """
                The sealer is newer, or breaks the format: a time to live of 0 or over 30 days, a time beyond 2^53
                milliseconds, an unassigned content type.
                """,
            fix: "Update the app. For your own sealer, see Freshness and Inner plaintext in Docs/Format.md."),
        Explanation(
            OpenError.Code.expired, .opening,
            summary: "authentic, but its time to live has passed",
            cause: "The phone was out of reach, the message waited after sealing, or a clock is wrong.",
            fix: """
                Seal just before sending, for hours or up to 30 days, with a matching apns-expiration, so that APNs
                drops late pushes. If many phones report it, check the provider's clock ('pushcrypt doctor').
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
                It has no aps, breaks the rules of JSON, or the statements before it cannot be read. This project's
                sealer refuses that.
                """,
            fix: "Fix the sealer: see Body in Docs/Format.md."),
        Explanation(
            OpenError.Code.duplicate, .opening,
            summary: "authentic, but shown before, and the app's policy is strict",
            cause: """
                It was sent again, by anyone, under another request, or is older than everything the phone remembers of
                this sender.
                """,
            fix: """
                Give a retry the first try's apns-collapse-id, to replace it, and message name, to be recognised; or use
                the default policy, which has no such code.
                """,
            shown: """
                The fallback. Under the default policy the content again, without sound, badge, category and files, and
                without lighting the screen.
                """),
    ]
}

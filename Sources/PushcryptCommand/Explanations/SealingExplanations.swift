internal import Pushcrypt
internal import PushcryptCommandKit

extension Explanation {
    static let sealing = [
        Explanation(
            SealError.Code.malformedPayload, .sealing, .lint,
            summary: "the payload is not JSON as the format requires",
            cause: """
                It is not one JSON object in UTF-8, is nested deeper than 32, or readers would disagree: a name twice in
                one object, half a surrogate pair, a byte order mark.
                """,
            fix: """
                Fix the byte that the message names, or let a JSON library write it; 'pushcrypt explain' knows the code
                in brackets.
                """),
        Explanation(
            SealError.Code.missingAPS, .sealing, .lint,
            summary: "the payload has no aps object at its top level",
            cause: "Often only the custom part was given, or the payload is wrapped in another object.",
            fix: "Give the whole payload that is sent to APNs today."),
        Explanation(
            SealError.Code.invalidField, .sealing, .lint,
            summary: "a field of aps is not what Apple's documentation allows",
            cause: """
                A wrong type or range, also in alert and sound: a badge as a string, true instead of 1, a
                relevance-score above 1. APNs accepts it, and the phone ignores the field or the push.
                """,
            fix: "Write the field as the message says. Fields unknown to Apple are left alone."),
        Explanation(
            SealError.Code.nothingToShow, .sealing, .lint,
            summary: "an alert without a title, subtitle or body",
            cause: "The system starts no extension for it, as for silent, badge-only and sound-only pushes.",
            fix: """
                Add a title or body, or a localised key. To wake the app, which opens it, seal with --push-type
                background.
                """),
        Explanation(
            SealError.Code.reservedKey, .sealing, .lint,
            summary: "the payload already has ENCRYPTED_DATA or pushcrypt",
            cause: "It was sealed before, or uses a top-level key that the format reserves.",
            fix: """
                Seal the original payload, once for each device. Rename the app's own key; attachments are given to the
                sealer separately.
                """),
        Explanation(
            SealError.Code.payloadTooLarge, .sealing, .lint,
            summary: "the payload is longer than the largest bucket holds",
            cause: """
                Without white space it exceeds 2,717 bytes, 3,485 for voip. An announced rotation takes 182 of them,
                each further one 181, each attachment about 200.
                """,
            fix: """
                Shorten it as the message says: replace long content by an id that the app fetches. Characters outside
                ASCII take two to four bytes.
                """),
        Explanation(
            SealError.Code.pushTooLarge, .sealing, .lint,
            summary: "the push is longer than Apple accepts",
            cause: """
                It exceeds 4,096 bytes, 5,120 for voip, in the widest form a client may send: a space after each
                separator, characters outside ASCII as escapes.
                """,
            fix: """
                Shorten the placeholder's title, leave out clear fields, or, if the client sends the very bytes it is
                given, add --exact.
                """),
        Explanation(
            SealError.Code.pushTypeNotSealable, .sealing, .lint,
            summary: "the system reads pushes of this type before any code of the app runs",
            cause: "The system itself handles liveactivity, widgets, location and others. Or no type has this name.",
            fix: "Seal as alert, background or voip. Send the other types without secrets in them."),
        Explanation(
            SealError.Code.invalidPlaceholder, .sealing,
            summary: "the placeholder would show nothing, or fits no push",
            cause: """
                Its title, or the name of its sound, has no visible character, or more bytes than a whole push (4096).
                """,
            fix: """
                Give a title that reads well alone: a phone shows it whenever the extension does not run. For no sound
                use --sound none.
                """),
        Explanation(
            SealError.Code.invalidTime, .sealing,
            summary: "the time to live or the clock is out of range",
            cause: "The time to live is not 1 second to 30 days, or no message can carry the time.",
            fix: "Choose a time to live within the range. Set the clock; 'pushcrypt doctor' shows it."),
        Explanation(
            SealError.Code.invalidRequest, .sealing,
            summary: "the request around the push is not what Apple accepts",
            cause: """
                A background push has priority 10, which APNs refuses; the collapse name is empty, so every push would
                replace the last; the message name is empty, which would make all messages one; or the device name is
                empty or over 255 bytes.
                """,
            fix: """
                Leave the priority out, for 5; the collapse name, if only copies of a message replace each other; the
                message name, if it is not sent again.
                """),
        Explanation(
            SealError.Code.unusableKey, .sealing,
            summary: "libsodium refused the device's key",
            cause: """
                The key exchange gave zero. Import refuses every such key: it came another way, or libsodium is damaged.
                """,
            fix: "Have the device register again, and run 'pushcrypt doctor' on the machine that seals."),
        Explanation(
            SealError.Code.signingFailed, .sealing,
            summary: "a key service or hardware module holds the sender's key, and did not sign",
            cause: """
                The next code is the reason: signer-unavailable, signer-refused, signer-timed-out or wrong-signature.
                """,
            fix: "Follow that code. The payload is in order, and can be sealed again."),
    ]
}

internal import Pushcrypt
internal import PushcryptCommandKit

extension Explanation {
    static let sealing = [
        Explanation(
            SealError.Code.malformedPayload, .sealing, .lint,
            summary: "the payload is not JSON as the format takes it",
            cause: """
                The payload is not one JSON object: not JSON at all, not UTF-8, nested deeper than 32, or with what makes two
                readers disagree, which is a name twice in one object, half a surrogate pair or a byte order mark.
                """,
            fix: """
                Fix the JSON at the byte that the message names; 'pushcrypt explain' knows the code in its brackets too. Let a
                JSON library write the payload instead of putting text together.
                """,
            shown: nothingSealed),
        Explanation(
            SealError.Code.missingAPS, .sealing, .lint,
            summary: "the payload has no aps object",
            cause: """
                The payload has no aps at the top level, or aps is not an object. Often only the custom part was given, or
                the payload is wrapped in another object.
                """,
            fix: "Give the whole payload that is sent to APNs today, with aps at its top level.",
            shown: nothingSealed),
        Explanation(
            SealError.Code.invalidField, .sealing, .lint,
            summary: "a field of aps is not what Apple's documents allow",
            cause: """
                A field of aps, of its alert or of its sound has the wrong type or a value out of range: a badge as a string, a
                flag as true instead of 1, a relevance-score above 1. APNs takes such a payload, and the phone then
                ignores the field or the whole push.
                """,
            fix:
                "Write the field that the message names as the message says. Fields that Apple does not know are left alone.",
            shown: nothingSealed),
        Explanation(
            SealError.Code.nothingToShow, .sealing, .lint,
            summary: "an alert without a title, subtitle or body",
            cause: """
                The push is to be an alert and its alert has no text. The system starts no extension for it, and there would
                be nothing to show: silent, badge-only and sound-only pushes are of this kind.
                """,
            fix: """
                Add a title or a body, or the localised key of one. A push that only wakes the app is sealed with --push-type
                background, and the app opens it.
                """,
            shown: nothingSealed),
        Explanation(
            SealError.Code.reservedKey, .sealing, .lint,
            summary: "the payload has ENCRYPTED_DATA or pushcrypt already",
            cause: """
                At the top level stands ENCRYPTED_DATA, because the payload was sealed before, or pushcrypt, which the format
                keeps for itself.
                """,
            fix:
                "Seal the payload as it was before sealing, once for each device. Rename a key of the app's own; attachments are given to the sealer apart from the payload.",
            shown: nothingSealed),
        Explanation(
            SealError.Code.payloadTooLarge, .sealing, .lint,
            summary: "the payload is longer than the largest bucket holds",
            cause: """
                Without white space the payload has more than 2,717 bytes, 3,485 for voip. A rotation of the sender's key that
                is being announced takes 182 bytes of that, each further one 181, and each attachment some 200.
                """,
            fix: """
                Shorten the payload by the bytes that the message names: move long content behind an id that the app
                fetches. Characters outside ASCII take two to four bytes each.
                """,
            shown: nothingSealed),
        Explanation(
            SealError.Code.pushTooLarge, .sealing, .lint,
            summary: "the push to send is longer than Apple takes",
            cause: """
                The envelope fits, but with its clear part the push is above 4,096 bytes, 5,120 for voip. What is measured is
                the widest form in which an APNs client may write it again, with a space after each separator and every
                character outside ASCII as an escape.
                """,
            fix: """
                Shorten the placeholder's title and leave out clear fields. If the client sends the very bytes that it is
                given, say so with --exact, and they are measured as they are.
                """,
            shown: nothingSealed),
        Explanation(
            SealError.Code.pushTypeNotSealable, .sealing, .lint,
            summary: "the system reads pushes of this type before any code of the app",
            cause: """
                The push type is one that the system acts on by itself, such as liveactivity, widgets or location, or there
                is none of this name. Nothing of the app runs in time to open it.
                """,
            fix: "Seal as alert, background or voip. Send the other types without secrets in them.",
            shown: nothingSealed),
        Explanation(
            SealError.Code.invalidPlaceholder, .sealing,
            summary: "the placeholder would show nothing, or fits no push",
            cause: """
                The placeholder's title, or the name of its sound, has no visible character, or more bytes than a whole push may
                have (4096).
                """,
            fix: """
                Give a title that reads well by itself: a phone shows it whenever the extension does not run. For no sound
                write --sound none.
                """,
            shown: nothingSealed),
        Explanation(
            SealError.Code.invalidTime, .sealing,
            summary: "the time to live or the clock is out of range",
            cause: "The time to live is not 1 second to 30 days, or the clock shows a time that no message can carry.",
            fix: "Choose a time to live within the range. Set the clock; 'pushcrypt doctor' shows it.",
            shown: nothingSealed),
        Explanation(
            SealError.Code.invalidRequest, .sealing,
            summary: "the request around the push is not what Apple takes",
            cause: """
                A background push was to have priority 10, which APNs refuses; or the collapse name is empty, which would make
                every push of a device replace the one before it; or the name of the message is, which would make all of them one; or the
                device's name is empty or longer than 255 bytes.
                """,
            fix: """
                Leave the priority out: background pushes then have 5. Leave the collapse name out if only copies of one message
                are to replace each other, and the message's name if it is not sent again.
                """,
            shown: nothingSealed),
        Explanation(
            SealError.Code.unusableKey, .sealing,
            summary: "libsodium refused the device's key",
            cause: """
                The key exchange with the device's public key gave zero. Import refuses every key of which this is known, so
                the key reached the library by another way, or libsodium is damaged.
                """,
            fix: "Have the device register again, and run 'pushcrypt doctor' on the machine that seals.",
            shown: nothingSealed),
        Explanation(
            SealError.Code.signingFailed, .sealing,
            summary: "the sender's key is elsewhere, and gave no signature",
            cause: """
                A key service or a hardware module signs the messages, and it did not sign this one. The code after this one is
                the reason: signer-unavailable, signer-refused, signer-timed-out or wrong-signature.
                """,
            fix: "Follow what that code says; the payload is in order, and can be sealed again as it is.",
            shown: nothingSealed),
    ]
}

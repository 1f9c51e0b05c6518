internal import Pushcrypt
internal import PushcryptDeveloperTools

extension Explanation {
    static let lint = lintedShowing + lintedLeaks + lintedHeaders

    // MARK: Presentation

    private static let lintedShowing = [
        Explanation(
            PayloadLint.Code.missingField, .lint,
            summary: "the push of a Live Activity lacks a field",
            cause: """
                The system silently drops it. All need timestamp and event; all but an end, content-state; a start,
                attributes, attributes-type and an alert too.
                """,
            fix: "Add the field that the place names.",
            shown: "The Live Activity as it was, or none."),
        Explanation(
            PayloadLint.Code.unknownField, .lint,
            summary: "a field of aps that the system does not know",
            cause: """
                A typo, a withdrawn field, or the app's own key, which nothing reads once sealed: the app gets only the
                members beside aps.
                """,
            fix: "Correct the name, or move the app's own key beside aps.",
            shown: "The notification, as if the field were absent."),
        Explanation(
            PayloadLint.Code.extensionNotStarted, .lint,
            summary: "mutable-content is not the number 1",
            cause: """
                Without that the system starts no service extension for an alert. A client dropped it, or wrote a string
                or true. Sealing adds it.
                """,
            fix: "Send what 'pushcrypt seal' prints; check what the client really sends.",
            shown: "The placeholder, because nothing opens the push."),
        Explanation(
            PayloadLint.Code.alsoWakesApp, .lint,
            summary: "an alert that also wakes the app",
            cause: """
                With content-available the system may also start the app, a few times an hour at most. Both see the
                push.
                """,
            fix: "Leave it out, unless the app has work to do before the user opens the alert.",
            shown: "The notification; perhaps twice, if the app also shows what it opens."),
        Explanation(
            PayloadLint.Code.appNotWoken, .lint,
            summary: "a background push without content-available",
            cause: "The system wakes an app only for content-available as the number 1, in the clear.",
            fix: "Write it so; sealing a background push does.",
            shown: "Nothing happens on the phone."),
        Explanation(
            PayloadLint.Code.backgroundShows, .lint,
            summary: "a background push with an alert, a badge or a sound",
            cause: "Apple's documentation allows none of them; the system may delay or drop the push.",
            fix: "Send what the user is to see as an alert.",
            shown: "Undefined: the alert, late, or nothing."),
        Explanation(
            PayloadLint.Code.needsEntitlement, .lint,
            summary: "a field that has no effect without an entitlement",
            cause: """
                Critical alerts and time-sensitive notifications need one; Apple has to grant it for critical alerts.
                """,
            fix: "Add the entitlement to the app. Nothing is wrong with the push.",
            shown: "Without it, the notification is no louder than others."),
        Explanation(
            PayloadLint.Code.misplacedEnvelope, .lint,
            summary: "an envelope where no receiver looks for it",
            cause: """
                A client moved ENCRYPTED_DATA from the top level into aps or another object, or changed its capitals.
                """,
            fix: "Have the client put it beside aps under its name; most have a parameter for custom top-level keys.",
            shown: "The text (Encrypted), as for an unsealed push."),
        Explanation(
            PayloadLint.Code.growsWhenRewritten, .lint,
            summary: "a push that a client may make longer than Apple accepts",
            cause: """
                It fits, but not if a client adds spaces, and escapes characters outside ASCII, slashes and some signs.
                """,
            fix: "Shorten the clear part. If the client sends the very bytes it is given, add --exact.",
            shown: "Nothing, if the client's form is too long: Apple refuses the push."),
    ]

    // MARK: Leaks

    private static let lintedLeaks = [
        Explanation(
            PayloadLint.Code.notSealed, .lint,
            summary: "no part of the push is sealed",
            cause: "Without ENCRYPTED_DATA the relay reads the whole push, and can store it.",
            fix: "Send the result of 'pushcrypt seal' instead."),
        Explanation(
            PayloadLint.Code.clearText, .lint,
            summary: "a text for the user is in the clear",
            cause: """
                A title, subtitle or body, or a key or argument of a localised one, is not a placeholder: the push is
                not sealed, or someone added to its clear part.
                """,
            fix: "Seal the push, or remove the text. The phone shows what is sealed."),
        Explanation(
            PayloadLint.Code.clearField, .lint,
            summary: "a field of aps says something about the message",
            cause: """
                The conversation, category, badge, the app's own sound or another such field is clear, which sealing
                allows only for --clear or --sound.
                """,
            fix: """
                Leave it to the envelope. Keep only what the fallback needs, such as the category for its text on a
                locked screen; the relay reads it.
                """),
        Explanation(
            PayloadLint.Code.clearKey, .lint,
            summary: "the app's own key is in the clear",
            cause: "The push is not sealed, or the key was added beside the envelope.",
            fix: "Move it into the sealed payload: the app finds it in userInfo, as before."),
        Explanation(
            PayloadLint.Code.ownPlaceholder, .lint,
            summary: "the clear title is not the standard one",
            cause: "The provider chose it, and the relay reads it.",
            fix: "None needed if every message has the same one. One that depends on the message reveals it.",
            shown: "The clear title, whenever the push is not opened."),
        Explanation(
            PayloadLint.Code.readableCollapseID, .lint,
            summary: "a collapse id that does not look like a keyed hash",
            cause: """
                Apple reads it, and it does not have the shape of a hash or a random UUID. That is a guess: a hash
                without a key passes, though all names can be tried.
                """,
            fix: "Send a keyed hash of the name in base64url or hexadecimal, such as HMAC-SHA256."),
    ]

    // MARK: Headers of the request

    private static let lintedHeaders = [
        Explanation(
            PayloadLint.Code.unknownPushType, .lint,
            summary: "Apple has no push type of this name",
            cause: "A typo in apns-push-type.",
            fix: "Write one of Apple's types; alert, background and voip can be sealed."),
        Explanation(
            PayloadLint.Code.wrongTopic, .lint,
            summary: "the topic does not fit the push type",
            cause: """
                Apple refuses it: the suffix that some types add to the bundle id, such as .voip, is missing or
                unexpected, or a character is invalid.
                """,
            fix: "Write the topic as the message says. A message is sealed for the bundle id, without the suffix."),
        Explanation(
            PayloadLint.Code.wrongPriority, .lint,
            summary: "the priority does not fit the push type",
            cause: "Apple knows 10, 5 and 1, and accepts only 5 for a background push.",
            fix: "Write 5 for a background push, and 10 for what the user is to see at once."),
        Explanation(
            PayloadLint.Code.wrongExpiration, .lint,
            summary: "the expiration is not a time in seconds",
            cause: "It is not a whole number, or counts milliseconds and seems never to end.",
            fix: "Write seconds since 1970, or 0 for one attempt. A sealed message also has its time to live inside."),
        Explanation(
            PayloadLint.Code.wrongCollapseID, .lint,
            summary: "the collapse id is empty or longer than 64 bytes",
            cause: "Characters outside ASCII have two to four bytes.",
            fix: "Send a keyed hash of the name: HMAC-SHA256 in base64url has 43 bytes."),
        Explanation(
            PayloadLint.Code.wrongID, .lint,
            summary: "the apns-id is not a UUID as Apple writes it",
            cause: "Apple refuses what is not a UUID, and its answers do not match one with capitals.",
            fix: "Write a UUID in lower case, or leave it out: Apple makes one."),
    ]
}

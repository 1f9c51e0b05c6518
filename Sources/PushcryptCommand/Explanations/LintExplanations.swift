internal import Pushcrypt
internal import PushcryptDeveloperTools

extension Explanation {
    static let lint = lintedShowing + lintedLeaks + lintedHeaders

    private static let foundBeforeSending =
        "Nobody with a phone: 'pushcrypt lint' tells whoever runs it, before anything is sent."

    private static let readOnTheWay =
        "The person sees no difference. The relay, and whoever can read what it stores, sees the value."

    // MARK: What is shown

    private static let lintedShowing = [
        Explanation(
            PayloadLint.Code.missingField, .lint,
            summary: "the push of a Live Activity lacks a field",
            cause: """
                Each such push needs timestamp and event; an update needs content-state, and a start also attributes,
                attributes-type and an alert. The system drops one that lacks them, and tells nobody.
                """,
            fix: "Add the field that the place names.",
            shown: "The Live Activity stays as it was, or does not begin."),
        Explanation(
            PayloadLint.Code.unknownField, .lint,
            summary: "a field of aps that the system does not know",
            cause: """
                A slip in the name of a field, a field that Apple has withdrawn, or a key of the app's own inside aps. A receiver
                gives the app the members beside aps only, so once it is sealed nobody reads it.
                """,
            fix: "Correct the name; move a key of the app's own to the top level, beside aps.",
            shown: "The notification, as if the field were not there."),
        Explanation(
            PayloadLint.Code.extensionNotStarted, .lint,
            summary: "mutable-content is not the number 1",
            cause: """
                The system starts a service extension only for an alert with mutable-content as the number 1. A client has
                dropped it, or written it as a string or as true. A push that is not sealed needs none: sealing adds it.
                """,
            fix: "Send what 'pushcrypt seal' prints, unchanged, and look at what the client really sends.",
            shown: "On the phone: the placeholder, because nothing opens the push."),
        Explanation(
            PayloadLint.Code.alsoWakesApp, .lint,
            summary: "an alert that wakes the app as well",
            cause: """
                With content-available the system may start the app in the background besides the extension, a few times an
                hour at most. Both see the push, and an app that shows what it opens shows it twice.
                """,
            fix: "Leave content-available out of alerts, unless the app has work to do before a person opens it.",
            shown: "The notification; perhaps twice, if the app shows it too."),
        Explanation(
            PayloadLint.Code.appNotWoken, .lint,
            summary: "a background push without content-available",
            cause: "The system wakes an app only for content-available as the number 1, in the clear.",
            fix: "Write content-available as the number 1; sealing a background push does.",
            shown: "Nothing happens on the phone."),
        Explanation(
            PayloadLint.Code.backgroundShows, .lint,
            summary: "a background push with an alert, a badge or a sound",
            cause:
                "Apple's documents allow none of them in a push of the type background, and the system may delay or drop it.",
            fix: "Send what a person is to see as an alert, and leave the field out of a background push.",
            shown: "Not defined: the alert, late, or nothing."),
        Explanation(
            PayloadLint.Code.needsEntitlement, .lint,
            summary: "a field that has no effect without an entitlement",
            cause:
                "Critical alerts and time-sensitive notifications need an entitlement; for critical ones Apple has to give it.",
            fix: "Add the entitlement to the app. Nothing is wrong with the push.",
            shown: "Without the entitlement: the notification, no louder than others."),
        Explanation(
            PayloadLint.Code.misplacedEnvelope, .lint,
            summary: "an envelope where no receiver looks for it",
            cause: """
                A client has moved ENCRYPTED_DATA into aps or into another object, or has changed its capitals. Receivers look
                for ENCRYPTED_DATA at the top level.
                """,
            fix:
                "Have the client put it beside aps under its name; most have a parameter for custom keys at the top level.",
            shown: "On the phone: the text (Encrypted), as for a push that was not sealed."),
        Explanation(
            PayloadLint.Code.growsWhenRewritten, .lint,
            summary: "a push that a client may make longer than Apple takes",
            cause: """
                Clients parse a push and write it again: with spaces, with escapes for what is not ASCII, for slashes and for
                some signs. As it is the push fits, in the widest of these forms it does not.
                """,
            fix:
                "Shorten what stands in the clear. If the client sends the very bytes it is given, say so with --exact.",
            shown: "Nothing, if the client's form is too long: Apple refuses the push."),
    ]

    // MARK: What the relay reads

    private static let lintedLeaks = [
        Explanation(
            PayloadLint.Code.notSealed, .lint,
            summary: "nothing of the push is sealed",
            cause: "There is no ENCRYPTED_DATA. The relay reads the whole push, and can store it.",
            fix: "Seal it with 'pushcrypt seal', and send the result in its place.",
            shown: readOnTheWay),
        Explanation(
            PayloadLint.Code.clearText, .lint,
            summary: "a text for the person stands in the clear",
            cause: """
                A title, subtitle, body, or the key or an argument of a localised one, stands outside of the envelope and is no
                placeholder: the push is not sealed, or somebody added to its clear part.
                """,
            fix: "Seal the push, or take the text out of the clear part. The phone shows what is sealed.",
            shown: readOnTheWay),
        Explanation(
            PayloadLint.Code.clearField, .lint,
            summary: "a field of aps says something about the message",
            cause: """
                The conversation, the category, the badge, a sound of the app's own or another such field stands in the clear.
                Sealing keeps one there only when it is told to, by --clear or by --sound.
                """,
            fix: """
                Leave the field to the envelope: an opened notification takes it from there. Keep a clear one where the
                fallback needs it, such as the category for its text on a locked screen, and know that the relay reads it.
                """,
            shown: readOnTheWay),
        Explanation(
            PayloadLint.Code.clearKey, .lint,
            summary: "a key of the app's own stands in the clear",
            cause: "The push is not sealed, or the key was added beside the envelope.",
            fix:
                "Put the key into the payload that is sealed: the app finds it in userInfo of the opened notification, as before.",
            shown: readOnTheWay),
        Explanation(
            PayloadLint.Code.ownPlaceholder, .lint,
            summary: "the clear title is not the standard one",
            cause: "The push was sealed with a title of the provider's choice, which the relay reads.",
            fix: "Nothing, if every message has the same one. A title that depends on the message gives it away.",
            shown: "The clear title, whenever the push is not opened."),
        Explanation(
            PayloadLint.Code.readableCollapseID, .lint,
            summary: "a collapse id that does not look like a keyed hash",
            cause: """
                The collapse id goes to Apple as it is, outside of the envelope. This one has not the shape of a hash or of a
                random UUID. That is a guess: a hash without a key passes, though whoever knows the names can try them all.
                """,
            fix: "Send a hash of the name under a key, in base64url or hexadecimal, such as HMAC-SHA256 gives.",
            shown: readOnTheWay),
    ]

    // MARK: What is sent with it

    private static let lintedHeaders = [
        Explanation(
            PayloadLint.Code.unknownPushType, .lint,
            summary: "Apple has no push type of this name",
            cause: "A slip in apns-push-type.",
            fix: "Write one of Apple's types; alert, background and voip can be sealed.",
            shown: foundBeforeSending),
        Explanation(
            PayloadLint.Code.wrongTopic, .lint,
            summary: "the topic is not one for the push type",
            cause: """
                The topic is the app's bundle id, and some types have a suffix behind it, such as .voip. Here it is missing,
                or one too many, or the bundle id has a character that none has. Apple refuses the push.
                """,
            fix: "Write the topic as the message says. A message is sealed for the bundle id, without the suffix.",
            shown: foundBeforeSending),
        Explanation(
            PayloadLint.Code.wrongPriority, .lint,
            summary: "the priority is not one for the push type",
            cause: "Apple knows 10, 5 and 1, and takes 5 alone for a background push.",
            fix: "Write 5 for a background push, and 10 for what a person is to see at once.",
            shown: foundBeforeSending),
        Explanation(
            PayloadLint.Code.wrongExpiration, .lint,
            summary: "the expiration is no time in seconds",
            cause: "It is not a whole number, or counts milliseconds: a push that seems never to expire.",
            fix:
                "Write seconds since 1970, or 0 for one attempt. The time to live of a sealed message is inside it as well.",
            shown: foundBeforeSending),
        Explanation(
            PayloadLint.Code.wrongCollapseID, .lint,
            summary: "the collapse id is empty or longer than 64 bytes",
            cause: "Apple takes 1 to 64 bytes; characters outside ASCII have two to four.",
            fix: "Send a hash of the name under a key: HMAC-SHA256 in base64url has 43 bytes.",
            shown: foundBeforeSending),
        Explanation(
            PayloadLint.Code.wrongID, .lint,
            summary: "the apns-id is no UUID as Apple writes it",
            cause:
                "It is none at all, which Apple refuses, or has capitals, and answers about the push then do not match it.",
            fix: "Write a UUID in small letters, or leave it out: Apple makes one.",
            shown: foundBeforeSending),
    ]
}

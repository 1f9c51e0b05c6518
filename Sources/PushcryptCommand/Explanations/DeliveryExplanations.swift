internal import PushcryptReceiver

extension Explanation {
    static let delivery = [
        Explanation(
            Delivery.Outcome.opened, .delivery,
            summary: "the message opened and was shown",
            cause: "Every check passed. A copy that is shown again, quietly, has this code too.",
            fix: "None needed.",
            shown: "The sealed notification."),
        Explanation(
            Delivery.Outcome.openedWithoutAttachment, .delivery,
            summary: "the text was shown without an attachment",
            cause: """
                It took longer than 15 seconds, or the app's own limit, or was refused: a redirect that is not https,
                another length or hash than the payload's, a file that does not decrypt.
                """,
            fix: """
                Fetch the URL without a login, as a phone does, and compare the sealed file's length and SHA-256 with
                the payload's. Attach a small picture, and leave large files to the app.
                """,
            shown: "The notification without it."),
        Explanation(
            Delivery.Outcome.passed, .delivery,
            summary: "the push was not sealed, and the app's policy allowed it",
            cause: "The app has said that such pushes may stay clear.",
            fix: """
                After the roll-out let the policy mask clear pushes: until then anyone who can push to the token can
                show any text under the app's name.
                """,
            shown: "The push as it came, readable by everyone on the way."),
        Explanation(
            Delivery.Outcome.suppressed, .delivery,
            summary: "a copy of a message shown before was hidden",
            cause: """
                It came under another request, and was delivered empty because the app has said that its extension has
                the filtering entitlement.
                """,
            fix: """
                If there are many, see duplicate. If empty notifications appear, the shipped build lacks the
                entitlement.
                """,
            shown: "Nothing. The first copy stays."),
        Explanation(
            Delivery.Reason.noTopic.code, .delivery,
            summary: "nothing says which app the push must be for",
            cause: "Neither the extension nor the device key has a topic, and the push never gives one.",
            fix: """
                Give the extension the app's bundle id (no suffix, not the extension's own), bind the device key to it
                when it is made, or add --topic at the command line.
                """),
        Explanation(
            Delivery.Reason.deadline.code, .delivery,
            summary: "the message was not open by the extension's own deadline",
            cause: """
                Opening takes milliseconds and the deadline is 25 seconds, or the app's own: something waited for a
                lock, a network call or the app's key source.
                """,
            fix: """
                Remove every wait: the extension only reads keys. Compare the milliseconds of neighbouring entries.
                After a start of the phone the process itself may be slow; a retry under the same apns-collapse-id
                replaces the fallback.
                """),
        Explanation(
            Delivery.Reason.systemExpired.code, .delivery,
            summary: "the system ended the extension before its own deadline",
            cause: "That deadline is too late, or the system gave less than the usual 30 seconds.",
            fix: "Set the deadline to 25 seconds or less. Otherwise as for deadline."),
        Explanation(
            Delivery.Reason.abandoned.code, .delivery,
            summary: "the session was released before it ended",
            cause: "The object that opens was in a local variable, or the system ended the process early.",
            fix: """
                Keep it in a stored property of the extension, and call it from both methods. Otherwise look for crashes
                and memory reports near this time.
                """,
            shown: "The fallback, delivered on release."),
    ]
}

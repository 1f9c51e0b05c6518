internal import PushcryptReceiver

extension Explanation {
    static let delivery = [
        Explanation(
            Delivery.Outcome.opened, .delivery,
            summary: "the message opened and was shown",
            cause: "Every check passed. A copy shown again, quietly, has this code too.",
            fix: "None needed.",
            shown: "The sealed notification."),
        Explanation(
            Delivery.Outcome.openedWithoutAttachment, .delivery,
            summary: "the text was shown without an attachment",
            cause: """
                It took longer than 15 seconds or the app's limit, was redirected to other than https or to another
                host, has another length or hash than the payload says, or does not decrypt.
                """,
            fix: """
                Fetch the URL as a phone does, without a login, and compare the sealed file's length and SHA-256. Attach
                small pictures; leave large files to the app.
                """,
            shown: "The notification without it."),
        Explanation(
            Delivery.Outcome.passed, .delivery,
            summary: "the push was not sealed, and the app's policy allowed it",
            cause: "The app said that such pushes may stay clear.",
            fix: """
                After the roll-out let the policy mask clear pushes: until then anyone with the token can show text
                under the app's name.
                """,
            shown: "The push as it came, readable by everyone on the way."),
        Explanation(
            Delivery.Outcome.suppressed, .delivery,
            summary: "a copy of a message shown before was hidden",
            cause: """
                It came under another request; the app said that its extension has the filtering entitlement, so it was
                delivered empty.
                """,
            fix: "For many, see duplicate. If empty notifications appear, the shipped build lacks the entitlement.",
            shown: "Nothing. The first copy stays."),
        Explanation(
            Delivery.Reason.noTopic.code, .delivery,
            summary: "nothing says which app the push must be for",
            cause: "Neither the extension nor the device key has a topic, and the push never gives one.",
            fix: """
                Give the extension the app's bundle id (no suffix, not its own), bind the device key to it when it is
                made, or add --topic.
                """),
        Explanation(
            Delivery.Reason.deadline.code, .delivery,
            summary: "the message was not open by the extension's own deadline",
            cause: """
                It is 25 seconds, or the app's own; opening takes milliseconds. Something waited: a lock, a network
                call, the app's key source.
                """,
            fix: """
                Remove every wait: opening only reads keys. Compare the milliseconds of neighbouring entries: after a
                start of the phone the process itself is slow. A retry under the same apns-collapse-id replaces the
                fallback.
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
                Keep it in a stored property of the extension, and call it from both methods. Or look for crashes and
                memory reports.
                """,
            shown: "The fallback, delivered on release."),
    ]
}

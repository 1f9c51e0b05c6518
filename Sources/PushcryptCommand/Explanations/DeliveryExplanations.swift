internal import PushcryptReceiver

extension Explanation {
    static let delivery = [
        Explanation(
            Delivery.Outcome.opened, .delivery,
            summary: "the message opened and was shown",
            cause: """
                Every check passed. A message that was shown before is shown again, quietly, and has this code too.
                """,
            fix: "Nothing.",
            shown: "On the phone: the notification that was sealed."),
        Explanation(
            Delivery.Outcome.openedWithoutAttachment, .delivery,
            summary: "the text was shown, an attachment was not",
            cause: """
                The message opened, but an attachment did not arrive in its time, 15 seconds unless the app sets another, or
                was refused: a redirect that is not https, a length or hash other than the payload says, a file that
                does not decrypt.
                """,
            fix: """
                Fetch the URL without a login, as a phone does, and compare length and SHA-256 with the payload's: they
                are of the sealed file. What is too large for a slow network in 15 seconds belongs into the app; attach a
                small picture.
                """,
            shown: "On the phone: the notification that was sealed, without the attachment."),
        Explanation(
            Delivery.Outcome.passed, .delivery,
            summary: "the push was not sealed, and the app's policy let it through",
            cause: "There is no envelope in the push, and the app has said that pushes like this one may stay clear.",
            fix: """
                Nothing while the roll-out lasts. When every provider seals, let the policy mask clear pushes: until then
                whoever can push to the device's token can show any text under the app's name.
                """,
            shown: "On the phone: the push as it came, readable by everybody on the way."),
        Explanation(
            Delivery.Outcome.suppressed, .delivery,
            summary: "a copy of a message that was shown before was hidden",
            cause: """
                The message was shown before under another notification request, and the app has said that its extension has
                the filtering entitlement, so the copy was delivered with nothing in it.
                """,
            fix: """
                Nothing for single ones. If there are many, see duplicate: somebody sends everything twice. If copies do
                appear as empty notifications, the entitlement is not in the build that was shipped.
                """,
            shown: "On the phone: nothing. The first copy stays."),
        Explanation(
            Delivery.Reason.noTopic.code, .delivery,
            summary: "nothing says which app the push must be for",
            cause: """
                Neither the extension nor the device key has a topic, so there was nothing to check the message against. The
                push itself never says it.
                """,
            fix: """
                Give the extension the app's bundle id, without a suffix and not the extension's own, or bind the device key to it
                when it is made. At the command line add --topic.
                """,
            shown: fallback),
        Explanation(
            Delivery.Reason.deadline.code, .delivery,
            summary: "the extension's own deadline passed before the message was open",
            cause: """
                25 seconds passed, or what the app has set, and the message was not open. Opening takes milliseconds, so
                something waited: a lock that the app holds, a network call, a key source of the app's own.
                """,
            fix: """
                Look at the milliseconds of this entry and of those around it. Take every wait out of the extension: it only
                reads keys, and needs no network to open. If it happens after a start of the phone, the process itself
                was slow; a retry under the same apns-collapse-id replaces the fallback.
                """,
            shown: fallback),
        Explanation(
            Delivery.Reason.systemExpired.code, .delivery,
            summary: "the system ended the extension's time before the own deadline",
            cause: """
                The system said that the time is over, about 30 seconds after it called, and the own deadline had not yet
                passed: it is set too late, or the system gave less time than usual.
                """,
            fix: "Set the own deadline to 25 seconds or less. Otherwise as for deadline.",
            shown: fallback),
        Explanation(
            Delivery.Reason.abandoned.code, .delivery,
            summary: "the session was released before it had an end",
            cause: """
                The object that opens was deallocated while a request was under way: it was kept in a local variable, or
                the system took the extension's process down early.
                """,
            fix: """
                Keep the opener in a stored property of the extension object, and call it from both methods of the
                extension. If that is so already, look for crashes and memory reports of the extension near this time.
                """,
            shown: "On the phone: the fallback, delivered on the way out."),
    ]
}

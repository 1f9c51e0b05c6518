internal import Pushcrypt

extension Explanation {
    static let answers = [
        Explanation(
            OpenError.Code.malformedEnvelope, .answers,
            summary: "not the text of an answer",
            cause: "It was cut, encoded again, or never was one.",
            fix: "Pass the app's text on unchanged."),
        Explanation(
            OpenError.Code.unsupportedMessage, .answers,
            summary: "an answer of a later version",
            fix: "Update this program."),
        Explanation(
            OpenError.Code.unknownRecipientKey, .answers,
            summary: "no device of the store has the key that answered",
            cause:
                "The device was removed, registers with another store, or has replaced the key over 32 days ago.",
            fix: "Compare with 'device list'. A removed device answers once it registers again, to later messages."),
        Explanation(
            OpenError.Code.authenticationFailed, .answers,
            summary: "changed, or not to a message of this store and app",
            cause:
                "The answer secret was replaced over 32 days ago or destroyed as stolen, another store sealed the message, or somebody forged the answer.",
            fix:
                "Open it with the store that seals the app's messages, or give --topic. After 'key rotate --stolen' send the question again."
        ),
        Explanation(
            OpenError.Code.malformedPayload, .answers,
            summary: "authentic, but not an answer's content",
            fix: "Fix the app: see Answer in Docs/FormatAnswers.md."),
        Explanation(
            OpenError.Code.expired, .answers,
            summary: "authentic, but the time for an answer has ended",
            cause: "The user answered late, a relay held the answer back, or a clock is wrong.",
            fix: "Ask again. --within sets the time; 'pushcrypt doctor' shows the clock."),
        Explanation(
            OpenError.Code.duplicate, .answers,
            summary: "authentic, but the device has answered the message otherwise before",
            cause: "The user answered twice, or the relay chose which of two answers came first.",
            fix: "The first counts. If it matters which one, send the question again under another name."),
    ]
}

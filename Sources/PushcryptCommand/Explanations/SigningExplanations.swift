internal import Pushcrypt

extension Explanation {
    static let signing = [
        Explanation(
            SigningError.Code.signerUnavailable, .signing,
            summary: "the signer cannot be reached",
            cause: """
                The process or the service that holds the sender's key does not run, listens elsewhere, does not let this
                user in, or has closed the connection before it answered.
                """,
            fix: "Start it, check the place that was given and the permissions on it, and seal again.",
            shown: nothingSealed),
        Explanation(
            SigningError.Code.signerRefused, .signing,
            summary: "the signer does not sign",
            cause: """
                The signer answered that it makes no signature: the caller has no permission, the key is gone or disabled, a
                limit is reached.
                """,
            fix: "Read what the signer says, in the message here and in its own log. Asking again does not help.",
            shown: nothingSealed),
        Explanation(
            SigningError.Code.signerTimedOut, .signing,
            summary: "the signer did not answer in time",
            cause: "The signer, or the network before it, is overloaded or stuck.",
            fix: """
                Seal again: a message that has a name keeps its id, and is shown once. If it goes on, ask for fewer
                signatures at a time or give it more time.
                """,
            shown: nothingSealed),
        Explanation(
            SigningError.Code.wrongSignature, .signing,
            summary: "the signer gave no signature by its key",
            cause: """
                What came back does not verify under the signer's public key: it signs with another key than it names, over a
                hash of the message (Ed25519ph or a digest made before), or in another algorithm, mixes up the order of its
                answers, or gives fewer than it was asked for.
                """,
            fix: """
                Have it sign the bytes as they are, with Ed25519 in its pure variant, under the key whose public half it
                names. No phone would have opened such a message.
                """,
            shown: nothingSealed),
    ]
}

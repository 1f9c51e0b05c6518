internal import Pushcrypt

extension Explanation {
    static let signing = [
        Explanation(
            SigningError.Code.signerUnavailable, .signing,
            summary: "the signer cannot be reached",
            cause: """
                The process or service with the sender's key is not running, listens elsewhere, does not admit this
                user, or closed the connection early.
                """,
            fix: "Start it, check its address and permissions, and seal again."),
        Explanation(
            SigningError.Code.signerRefused, .signing,
            summary: "the signer does not sign",
            cause: "It answered so: the caller has no permission, the key is gone or disabled, or a limit is reached.",
            fix: "Read the signer's reason, in the message and in its own log. Asking again does not help."),
        Explanation(
            SigningError.Code.signerTimedOut, .signing,
            summary: "the signer did not answer in time",
            cause: "The signer, or the network before it, is overloaded or stuck.",
            fix: """
                Seal again: a named message keeps its id, and is shown once. If it persists, request fewer signatures at
                a time or allow more time.
                """),
        Explanation(
            SigningError.Code.wrongSignature, .signing,
            summary: "the signer returned no signature by its key",
            cause: """
                It uses another key than it names or another algorithm, signs a hash (Ed25519ph or a digest), mixes up
                the order of its answers, or returns too few.
                """,
            fix: """
                Have it sign the bytes as they are, with pure Ed25519, under the key that it names. No phone would have
                opened the message.
                """),
    ]
}

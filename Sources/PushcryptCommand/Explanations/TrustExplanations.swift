internal import Pushcrypt

// Codes of certificates and pins.

extension Explanation {
    static let trust = [
        Explanation(
            TrustError.Code.malformedCertificate, .trust, .store,
            summary: "not a certificate, or one whose fields contradict each other",
            cause: "It was cut or changed, or is of a version that this program does not know.",
            fix: "Copy it whole: 162 characters, or the whole file. If a newer version made it, update the receiver."),
        Explanation(
            TrustError.Code.badSignature, .trust, .store,
            summary: "the provider key did not sign the certificate for this app",
            cause: "It is another provider's or another app's, or it was changed.",
            fix: "Compare the topic and the provider key ('key show', 'provider list') on both ends."),
        Explanation(
            TrustError.Code.conflict, .trust, .store,
            summary: "two certificates have the same epoch, and say different things",
            cause:
                "Two machines certified within one second, or somebody else has the provider key.",
            fix: "If you did not certify twice, the provider key is stolen: see Stolen in Docs/KeyRotation.md.",
            shown: "Messages of both open. The app is told."),
        Explanation(
            TrustError.Code.wrongCertificate, .trust, .store,
            summary: "the certificate is for another signing key, provider or app than the one needed",
            cause: "Files were mixed up, the request was made again since, or another certificate is newer.",
            fix: "Make a request with 'key rotate --request', certify that one, and install what came of it."),
        Explanation(
            TrustError.Code.malformedRequest, .trust, .store,
            summary: "not the file of a request for a certificate, or of the answer to one",
            cause: "The file was cut, or the request was given for the certificate.",
            fix:
                "'key rotate --request' writes the request, 'key certify' makes the certificate of it, '--install' uses that."
        ),
        Explanation(
            TrustError.Code.tooManyPins, .trust, .store,
            summary: "an account would have more than two provider keys",
            cause: "An account has two only while its app's releases change from one to the other.",
            fix: "End the trust in the old one: 'provider unpin KEY', or the app's release."),
        Explanation(
            TrustError.Code.epochsExhausted, .trust, .store,
            summary: "the provider key has used its last certificate number, 2^32 − 1",
            cause: "Numbers only grow. No clock reaches this one: somebody certified it with the provider key.",
            fix: "Make another provider key, and release the app with it."),
    ]
}

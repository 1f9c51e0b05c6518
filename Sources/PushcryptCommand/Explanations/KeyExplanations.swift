internal import Pushcrypt
internal import PushcryptCommandKit

extension Explanation {
    static let keys = [
        Explanation(
            KeyError.Code.malformedKey, .keys,
            summary: "not the text of a key",
            cause: """
                A character that no key has, white space or a line break inside, upper and lower case mixed, or the wrong
                length. Most often the text was cut by a form field or wrapped by an e-mail. Of another program's key: a JWK without
                one of its members or with padding, PEM that does not have the form of RFC 8410, base64 of another length.
                """,
            fix: """
                Copy the key again, whole and on one line. Public keys are all lower case, secret ones all upper case. Another
                program's is copied from its first brace or BEGIN to the end.
                """,
            shown: nothingTaken),
        Explanation(
            KeyError.Code.wrongChecksum, .keys,
            summary: "the key was mistyped or cut",
            cause: "The text has the form of a key, but its last six characters do not fit the others.",
            fix:
                "Copy the key again from where it was made. Do not try to repair it by hand: another key would come of it.",
            shown: nothingTaken),
        Explanation(
            KeyError.Code.wrongKind, .keys,
            summary: "a key of another kind than is needed here",
            cause: """
                There are four kinds: pcr1 is a device's public key, pcs1 a sender's, PCR-SECRET-1 and PCS-SECRET-1 are the secret
                ones. A device's stands where a sender's is needed, or a secret one where a public one is.
                """,
            fix: """
                Give the kind that the message names. A secret key that was pasted where a public one belongs, into a ticket or
                a chat for instance, is no secret any more: replace it.
                """,
            shown: nothingTaken),
        Explanation(
            KeyError.Code.weakKey, .keys, .rotation,
            summary: "a public key that no honest program makes",
            cause: """
                The bytes are not on the curve, not in their canonical form, or of small or mixed order: with such a key
                everybody would know the shared secret, or could forge a signature.
                """,
            fix:
                "Do not take it. Find out who sent it, and by which channel: an accident does not produce such a key.",
            shown: nothingTaken),
        Explanation(
            KeyError.Code.unsupportedKey, .keys,
            summary: "a key of another algorithm, or in a form that is not read",
            cause: """
                'pushcrypt key import' was given a key of RSA, P-256, X448 or Ed448, a symmetric one, one that is encrypted with a
                passphrase, one of OpenSSH, or a certificate.
                """,
            fix: """
                A device's key is X25519, a sender's Ed25519. One that is encrypted is decrypted first, as Docs/migration/keys.md says; in
                place of any other 'pushcrypt keygen' makes a new one.
                """,
            shown: nothingTaken),
        Explanation(
            KeyError.Code.unequalHalves, .keys,
            summary: "the public half is not that of the secret half",
            cause: """
                A JWK whose x does not belong to its d, PEM or 64 bytes of libsodium's with another key's public half: two keys
                were mixed up, or somebody has changed one half.
                """,
            fix: """
                Take the key again from where it was made. Do not repair one half by the other before it is clear how they came
                together: a program that signs with such a pair gives its secret half away.
                """,
            shown: nothingTaken),
        Explanation(
            KeyError.Code.malformedRecord, .keys,
            summary: "the record around a key is not as it must be",
            cause: """
                The registration or sender record is no JSON object, has no public_key, has a key_id that does not belong to it,
                another suite than 1, a number that is no integer, or a device id that no provider can keep.
                """,
            fix: """
                Pass on what the app, or 'pushcrypt export --json', has written. The section Records of Docs/Format.md lists the
                members.
                """,
            shown: nothingTaken),
    ]

    static let rotation = [
        Explanation(
            RotationError.Code.malformedStatement, .rotation,
            summary: "not 181 bytes, or an unknown version",
            cause: "The bytes are no rotation statement that this version knows.",
            fix:
                "Take the statement again from where it was issued. If it comes from a newer version, update the receiver.",
            shown: passedOver),
        Explanation(
            RotationError.Code.untrustedKey, .rotation,
            summary: "the key that hands over is not trusted here",
            cause: """
                The statement is about a sender that this device never pinned, or whose key the app itself has replaced. A
                device that was enrolled in the middle of a chain knows only the later keys, and this is harmless then.
                """,
            fix: """
                Nothing while messages open. Otherwise give the device the sender's current key through the app's own channel.
                """,
            shown: passedOver),
        Explanation(
            RotationError.Code.badSignature, .rotation,
            summary: "one of the two signatures of the statement is wrong",
            cause: "The statement was changed, or one of the two keys did not sign it.",
            fix:
                "Take the statement again from where it was issued. Treat one that arrives so again and again as an attack.",
            shown: passedOver),
        Explanation(
            RotationError.Code.supersededKey, .rotation,
            summary: "the new key was superseded here before",
            cause: "The statement leads back to a key that has lost its place, and trust never goes back.",
            fix: """
                Rotate to a key that was never used. A provider whose store was restored from a backup finds its case in
                Docs/KeyRotation.md.
                """,
            shown: passedOver),
        Explanation(
            RotationError.Code.overlapTooLong, .rotation,
            summary: "the old key would go on for more than 60 days",
            cause: "The statement lets the old key verify messages for longer than the format allows.",
            fix: "Issue the statement with an overlap of at most 60 days; 31 is the default.",
            shown: passedOver),
        Explanation(
            RotationError.Code.notYetValid, .rotation,
            summary: "issued more than 24 hours from now",
            cause: "The clock of the provider was ahead when it rotated, or that of the device is behind.",
            fix: "Set the clock that is wrong. The statement is accepted as soon as its time has come.",
            shown: passedOver),
        Explanation(
            RotationError.Code.expired, .rotation,
            summary: "the statement is no longer accepted",
            cause: "The device has missed the rotation for longer than the statement says, 400 days by default.",
            fix: "Give the device the sender's current key through the app's own channel, as at enrolment.",
            shown: passedOver),
    ]
}

internal import Pushcrypt
internal import PushcryptCommandKit

extension Explanation {
    static let keys = [
        Explanation(
            KeyError.Code.malformedKey, .keys,
            summary: "not the text of a key",
            cause: """
                An invalid character, white space, mixed case or wrong length, mostly because a form field cut the text
                or an e-mail wrapped it. In another program's key: a JWK with padding or without a member, PEM not as in
                RFC 8410, base64 of another length.
                """,
            fix: """
                Copy the key again on one line, a public one in lower case, a secret one in upper case, or another
                program's from its first brace or BEGIN to the end.
                """),
        Explanation(
            KeyError.Code.wrongChecksum, .keys,
            summary: "the key was mistyped or cut",
            cause: "The last six characters do not fit the others.",
            fix: "Copy the key again from where it was made. Do not correct it by hand: that gives another key."),
        Explanation(
            KeyError.Code.wrongKind, .keys,
            summary: "a key of another kind than is needed here",
            cause: """
                A device's public key begins with pcr1, a sender's with pcs1, their secret keys with PCR-SECRET-1 and
                PCS-SECRET-1.
                """,
            fix: """
                Give the kind that the message names. A secret key pasted into a ticket or chat is no longer secret:
                replace it.
                """),
        Explanation(
            KeyError.Code.weakKey, .keys, .rotation,
            summary: "a public key that no honest program makes",
            cause: """
                It is not on the curve, not in canonical form, or of small or mixed order: everyone would know the
                shared secret, or could forge a signature.
                """,
            fix: "Do not use it. Find out who sent it, and how: it is no accident."),
        Explanation(
            KeyError.Code.unsupportedKey, .keys,
            summary: "a key of another algorithm, or in an unsupported form",
            cause: """
                'pushcrypt key import' was given an RSA, P-256, X448, Ed448 or symmetric key, one encrypted with a
                passphrase, one of OpenSSH, or a certificate.
                """,
            fix: """
                Device keys are X25519, sender keys Ed25519. Decrypt an encrypted one first (Docs/migration/keys.md);
                instead of any other, make one with 'pushcrypt keygen'.
                """),
        Explanation(
            KeyError.Code.unequalHalves, .keys,
            summary: "the public half is not that of the secret half",
            cause: """
                In a JWK x does not belong to d, or PEM or libsodium's 64 bytes have another public half: keys were
                mixed up, or someone changed one half.
                """,
            fix: """
                Get the key again from its source. Do not repair one half from the other before you know the reason:
                signing with the pair reveals the secret half.
                """),
        Explanation(
            KeyError.Code.malformedRecord, .keys,
            summary: "the record around a key breaks its rules",
            cause: """
                It is not a JSON object, has no public_key, another key's key_id, a suite other than 1, a number that is
                not an integer, or a device id that no provider can keep.
                """,
            fix: "Pass on what the app, or 'pushcrypt export --json', has written. See Records in Docs/Format.md."),
    ]

    static let rotation = [
        Explanation(
            RotationError.Code.malformedStatement, .rotation,
            summary: "not 181 bytes, or an unknown version",
            cause: "The bytes are not a rotation statement that this version knows.",
            fix: "Get the statement again from its issuer. If it is from a newer version, update the receiver."),
        Explanation(
            RotationError.Code.untrustedKey, .rotation,
            summary: "the old key is not trusted here",
            cause: """
                This device never pinned that sender, was enrolled later in the chain, which is harmless, or the app
                itself replaced the key.
                """,
            fix: """
                None needed while messages open. Otherwise give the device the sender's current key through the app's
                own channel.
                """),
        Explanation(
            RotationError.Code.badSignature, .rotation,
            summary: "one of the two signatures of the statement is wrong",
            cause: "It was changed, or one of the two keys did not sign it.",
            fix: "Get the statement again from its issuer. If it keeps arriving so, treat it as an attack."),
        Explanation(
            RotationError.Code.supersededKey, .rotation,
            summary: "the new key was superseded here before",
            cause: "Trust never returns to a superseded key.",
            fix: """
                Rotate to a key that was never used. If the provider's store was restored from a backup, see
                Docs/KeyRotation.md.
                """),
        Explanation(
            RotationError.Code.overlapTooLong, .rotation,
            summary: "the old key would remain valid for more than 60 days",
            cause: "The format does not allow a longer overlap.",
            fix: "Issue it with an overlap of at most 60 days; 31 is the default."),
        Explanation(
            RotationError.Code.notYetValid, .rotation,
            summary: "issued more than 24 hours from now",
            cause: "The provider's clock was ahead when it rotated, or the device's is behind.",
            fix: "Set the clock that is wrong. The statement is accepted as soon as its time has come."),
        Explanation(
            RotationError.Code.expired, .rotation,
            summary: "the statement is no longer accepted",
            cause: "The device missed it for longer than it allows, by default 400 days.",
            fix: "Give the device the current key through the app's own channel, as at enrolment."),
    ]
}

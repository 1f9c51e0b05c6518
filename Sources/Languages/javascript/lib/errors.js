// The error of everything that is refused, with one code for each reason: `pushcrypt explain CODE` explains them.
"use strict";

/** A sentence for each code whose thrower gives none. Opening says one sentence for each code, whatever failed [O-5.6]. */
const TEXTS = {
    "malformed-notification": "the push is not one JSON object",
    "not-encrypted": "the push has no ENCRYPTED_DATA",
    "malformed-envelope": "the envelope's text is cut, re-encoded or of a wrong length",
    "unsupported-suite": "the envelope or key is of a suite that this package does not open or seal to",
    "unknown-recipient-key": "the message is for a key that the device does not have, or no longer uses",
    "authentication-failed": "the message was changed, or is not from a pinned provider for this app and device",
    "unsupported-message": "the message is of a later version of the format",
    "expired": "the message's time to live has ended",
    "not-yet-valid": "the message is from the future: one of the clocks is wrong",
    "malformed-payload": "the payload is not one JSON object by the rules of the format, with aps",
    "wrong-push-class": "the message was sealed for another push type: somebody sent it as this one",
    "malformed-certificate": "this is not a certificate: 121 bytes, or 162 characters of text",
    "bad-certificate-signature": "the provider key did not sign this certificate for this app",
    "certificate-conflict": "two certificates are of one epoch: of a restored store, or a stolen provider key",
    "wrong-certificate": "the certificate is that of another signing key",
    "too-many-pins": "an account has one or two pins, of different provider keys",
    "implausible-epoch": "the epoch would be more than 24 hours from now; set the clock",
    "malformed-key": "this is not the text of a key",
    "wrong-checksum": "the key was mistyped or cut",
    "wrong-kind-of-key": "the key is of another kind than is needed",
    "weak-key": "no honest program makes this public key",
    "malformed-record": "the record breaks a rule of Docs/FormatRecords.md",
    "user-mismatch": "the device belongs to another user",
    "generation-rollback": "the provider has a later key of this device",
    "generation-too-high": "the generation is too far above the one that the provider has",
    "suite-downgrade": "the device has a post-quantum key, and this one is not",
    "topic-mismatch": "the provider has the device for another app",
    "key-taken": "the provider has this key for another device",
    "malformed-reference": "a member of the reference is missing or breaks its rule",
    "too-many-attachments": "a notification has at most 8 attachments",
    "not-a-sealed-file": "the file does not begin as a sealed file does",
    "malformed-file": "the file breaks the format, or was refused before",
    "wrong-size": "the file is longer or shorter than its reference says",
    "wrong-hash": "the file is not the one that the reference means",
    "wrong-topic": "a topic is the app's bundle id: 1 to 255 ASCII letters, digits, '.' and '-', without .voip",
    "invalid-time": "a time is 0 to 2^53 - 1 milliseconds, a time to live 1 to 2592000 seconds (30 days)",
};

/** What is refused, with its `code`, for logs: never for the user, and never with bytes of a key or payload. */
class PushcryptError extends Error {
    constructor(code, message = TEXTS[code] ?? code) {
        super(message);
        this.name = "PushcryptError";
        this.code = code;
    }
}

module.exports = { PushcryptError };

package pushcrypt;

import java.util.Map;

/**
 * What is refused, with a code for the reason: {@code pushcrypt explain CODE} explains each. It is for logs, never for the user, and quotes no byte of a
 * key or payload.
 *
 * <p>A caller's own mistake, such as {@code null}, is an unchecked exception instead.
 */
public final class PushcryptException extends Exception {
    private static final long serialVersionUID = 1;

    /** A sentence for each code whose thrower gives none. Opening says one sentence for each code, whatever failed [O-5.6]. */
    private static final Map<String, String> TEXTS = Map.ofEntries(
        Map.entry("malformed-notification", "the push is not one JSON object"),
        Map.entry("not-encrypted", "the push has no ENCRYPTED_DATA"),
        Map.entry("malformed-envelope", "the envelope's text is cut, re-encoded or of a wrong length"),
        Map.entry("unsupported-suite", "the envelope or key is of a suite that this package does not open or seal to"),
        Map.entry("unknown-recipient-key", "the message is for a key that the device does not have, or no longer uses"),
        Map.entry("authentication-failed", "the message was changed, or is not from a pinned provider for this app and device"),
        Map.entry("unsupported-message", "the message is of a later version of the format"),
        Map.entry("expired", "the message's time to live has ended"),
        Map.entry("not-yet-valid", "the message is from the future: one of the clocks is wrong"),
        Map.entry("malformed-payload", "the payload is not one JSON object by the rules of the format, with aps"),
        Map.entry("wrong-push-class", "the message was sealed for another push type: somebody sent it as this one"),
        Map.entry("malformed-certificate", "this is not a certificate: 121 bytes, or 162 characters of text"),
        Map.entry("bad-certificate-signature", "the provider key did not sign this certificate for this app"),
        Map.entry("certificate-conflict", "two certificates are of one epoch: of a restored store, or a stolen provider key"),
        Map.entry("wrong-certificate", "the certificate is that of another signing key"),
        Map.entry("too-many-pins", "an account has one or two pins, of different provider keys"),
        Map.entry("implausible-epoch", "the epoch would be more than 24 hours from now; set the clock"),
        Map.entry("malformed-key", "this is not the text of a key"),
        Map.entry("wrong-checksum", "the key was mistyped or cut"),
        Map.entry("wrong-kind-of-key", "the key is of another kind than is needed"),
        Map.entry("weak-key", "no honest program makes this public key"),
        Map.entry("malformed-record", "the record breaks a rule of Docs/FormatRecords.md"),
        Map.entry("user-mismatch", "the device belongs to another user"),
        Map.entry("generation-rollback", "the provider has a later key of this device"),
        Map.entry("generation-too-high", "the generation is too far above the one that the provider has"),
        Map.entry("suite-downgrade", "the device has a post-quantum key, and this one is not"),
        Map.entry("topic-mismatch", "the provider has the device for another app"),
        Map.entry("key-taken", "the provider has this key for another device"),
        Map.entry("malformed-reference", "a member of the reference is missing or breaks its rule"),
        Map.entry("too-many-attachments", "a notification has at most 8 attachments"),
        Map.entry("not-a-sealed-file", "the file does not begin as a sealed file does"),
        Map.entry("malformed-file", "the file breaks the format, or was refused before"),
        Map.entry("wrong-size", "the file is longer or shorter than its reference says"),
        Map.entry("wrong-hash", "the file is not the one that the reference means"),
        Map.entry("wrong-topic", "a topic is the app's bundle id: 1 to 255 ASCII letters, digits, '.' and '-', without .voip"),
        Map.entry("invalid-time", "a time is 0 to 2^53 - 1 milliseconds, a time to live 1 to 2592000 seconds (30 days)"));

    /** The reason. */
    private final String code;

    PushcryptException(String code) {
        this(code, TEXTS.getOrDefault(code, code));
    }

    PushcryptException(String code, String message) {
        super(message);
        this.code = code;
    }

    /**
     * Returns the reason, such as {@code payload-too-large}.
     *
     * @return the code
     */
    public String code() {
        return code;
    }
}

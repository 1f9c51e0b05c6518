package pushcrypt;

import java.security.PrivateKey;

/** A provider's secret key, Ed25519, with which it signs. */
public final class SenderKey extends AbstractSecretKey {
    final PrivateKey signing;

    private SenderKey(byte[] secret) throws PushcryptException {
        super(secret, Platform.run(() -> Keys.ed25519Public(secret)), Keys.ED25519, Keys.Kind.SENDER_SECRET);
        signing = Platform.run(() -> Keys.privateKey("Ed25519", 0x70, secret));
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCS-SECRET-1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static SenderKey parse(String text) throws PushcryptException {
        return new SenderKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.SENDER_SECRET)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes
     * @return the key
     */
    public static SenderKey of(byte[] secret) {
        return make(checked(secret));
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static SenderKey generate() {
        return make(random());
    }

    private static SenderKey make(byte[] secret) {
        try {
            return new SenderKey(secret);
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns the public half.
     *
     * @return the key to publish
     */
    public SenderPublicKey publicKey() {
        return SenderPublicKey.checked(publicKey);
    }
}

package pushcrypt;

import java.security.PrivateKey;

/** A provider key, Ed25519: it signs certificates and, at epoch 0, messages. Phones pin its public half. */
public final class ProviderKey extends AbstractSecretKey {
    final PrivateKey signing;

    private ProviderKey(byte[] secret) throws PushcryptException {
        super(secret, Platform.run(() -> Keys.ed25519Public(secret)), Keys.ED25519, Keys.Kind.PROVIDER_SECRET);
        signing = Platform.run(() -> Keys.privateKey("Ed25519", 0x70, secret));
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCS-SECRET-1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static ProviderKey parse(String text) throws PushcryptException {
        return new ProviderKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.PROVIDER_SECRET)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes
     * @return the key
     */
    public static ProviderKey of(byte[] secret) {
        return make(checked(secret));
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static ProviderKey generate() {
        return make(random());
    }

    private static ProviderKey make(byte[] secret) {
        try {
            return new ProviderKey(secret);
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns the public half.
     *
     * @return the key to publish
     */
    public ProviderPublicKey publicKey() {
        return ProviderPublicKey.checked(publicKey);
    }
}

package pushcrypt;

/** The secret key that replaces a stolen sender key, Ed25519; kept offline. */
public final class RecoveryKey extends AbstractSecretKey {
    private RecoveryKey(byte[] secret) throws PushcryptException {
        super(secret, Platform.run(() -> Keys.ed25519Public(secret)), Keys.RECOVERY, Keys.Kind.RECOVERY_SECRET);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCV-SECRET-1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static RecoveryKey parse(String text) throws PushcryptException {
        return new RecoveryKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.RECOVERY_SECRET)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes
     * @return the key
     */
    public static RecoveryKey of(byte[] secret) {
        return make(checked(secret));
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static RecoveryKey generate() {
        return make(random());
    }

    private static RecoveryKey make(byte[] secret) {
        try {
            return new RecoveryKey(secret);
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns the public half.
     *
     * @return the key to publish
     */
    public RecoveryPublicKey publicKey() {
        return RecoveryPublicKey.checked(publicKey);
    }
}

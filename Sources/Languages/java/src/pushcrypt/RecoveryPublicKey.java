package pushcrypt;

/** The key, Ed25519, with which a stolen sender key is replaced. */
public final class RecoveryPublicKey extends AbstractPublicKey {
    private RecoveryPublicKey(byte[] key) {
        super(key, Keys.RECOVERY, Keys.Kind.RECOVERY_PUBLIC);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code pcv1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum}, {@code wrong-kind-of-key} or {@code weak-key}
     */
    public static RecoveryPublicKey parse(String text) throws PushcryptException {
        return new RecoveryPublicKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.RECOVERY_PUBLIC)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param key 32 bytes
     * @return the key
     * @throws PushcryptException {@code weak-key}
     */
    public static RecoveryPublicKey of(byte[] key) throws PushcryptException {
        if (key.length != Keys.LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        Platform.run(() -> {
            Keys.checkSenderKey(key);
            return null;
        });
        return new RecoveryPublicKey(key);
    }

    /** A key that was checked before. */
    static RecoveryPublicKey checked(byte[] key) {
        return new RecoveryPublicKey(key);
    }
}

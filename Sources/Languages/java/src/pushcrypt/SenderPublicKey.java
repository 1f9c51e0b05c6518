package pushcrypt;

/** The key of a provider, Ed25519, that receivers trust. */
public final class SenderPublicKey extends AbstractPublicKey {
    private SenderPublicKey(byte[] key) {
        super(key, Keys.ED25519, Keys.Kind.SENDER_PUBLIC);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code pcs1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum}, {@code wrong-kind-of-key} or {@code weak-key}
     */
    public static SenderPublicKey parse(String text) throws PushcryptException {
        return new SenderPublicKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.SENDER_PUBLIC)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param key 32 bytes
     * @return the key
     * @throws PushcryptException {@code weak-key}
     */
    public static SenderPublicKey of(byte[] key) throws PushcryptException {
        if (key.length != Keys.LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        Platform.run(() -> {
            Keys.checkSenderKey(key);
            return null;
        });
        return new SenderPublicKey(key);
    }

    /** A key that was checked before. */
    static SenderPublicKey checked(byte[] key) {
        return new SenderPublicKey(key);
    }
}

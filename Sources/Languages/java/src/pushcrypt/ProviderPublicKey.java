package pushcrypt;

/** The public half of a provider key, Ed25519, which phones pin. */
public final class ProviderPublicKey extends AbstractPublicKey {
    private ProviderPublicKey(byte[] key) {
        super(key, Keys.ED25519, Keys.Kind.PROVIDER_PUBLIC);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code pcs1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum}, {@code wrong-kind-of-key} or {@code weak-key}
     */
    public static ProviderPublicKey parse(String text) throws PushcryptException {
        return new ProviderPublicKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.PROVIDER_PUBLIC)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param key 32 bytes
     * @return the key
     * @throws PushcryptException {@code weak-key}
     */
    public static ProviderPublicKey of(byte[] key) throws PushcryptException {
        if (key.length != Keys.LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        Platform.run(() -> {
            Keys.checkVerifyingKey(key);
            return null;
        });
        return new ProviderPublicKey(key);
    }

    /** A key that was checked before. */
    static ProviderPublicKey checked(byte[] key) {
        return new ProviderPublicKey(key);
    }
}

package pushcrypt;

/** The key of a device, X25519, to which a provider seals. */
public final class DevicePublicKey extends AbstractPublicKey {
    private DevicePublicKey(byte[] key) {
        super(key, Keys.X25519, Keys.Kind.DEVICE_PUBLIC);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code pcr1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum}, {@code wrong-kind-of-key} or {@code weak-key}
     */
    public static DevicePublicKey parse(String text) throws PushcryptException {
        return new DevicePublicKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.DEVICE_PUBLIC)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param key 32 bytes
     * @return the key
     * @throws PushcryptException {@code weak-key}
     */
    public static DevicePublicKey of(byte[] key) throws PushcryptException {
        if (key.length != Keys.LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        Platform.run(() -> {
            Keys.checkDeviceKey(key);
            return null;
        });
        return new DevicePublicKey(key);
    }

    /** A key that was checked before. */
    static DevicePublicKey checked(byte[] key) {
        return new DevicePublicKey(key);
    }
}

package pushcrypt;

/** The key of a device to which a provider seals. One of suite 2 can be held for a device [D-24], but this package does not seal to it. */
public final class DevicePublicKey extends AbstractPublicKey {
    private DevicePublicKey(byte[] key) {
        super(key, key.length == Keys.LENGTH ? Keys.X25519 : Keys.XWING, key.length == Keys.LENGTH ? Keys.Kind.DEVICE_PUBLIC : Keys.Kind.DEVICE_PUBLIC_2);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code pcr1…}, or {@code pcrx1…} of suite 2
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum}, {@code wrong-kind-of-key} or {@code weak-key}
     */
    public static DevicePublicKey parse(String text) throws PushcryptException {
        return new DevicePublicKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.DEVICE_PUBLIC)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param key 32 bytes, or 1,216 of suite 2
     * @return the key
     * @throws PushcryptException {@code weak-key}
     */
    public static DevicePublicKey of(byte[] key) throws PushcryptException {
        if (key.length != Keys.LENGTH && key.length != Keys.LONG_LENGTH) throw new IllegalArgumentException("a key has 32 bytes, or 1,216 in suite 2");
        Platform.run(() -> {
            Keys.checkDeviceKey(key);
            return null;
        });
        return new DevicePublicKey(key);
    }

    /**
     * Returns the suite of the key.
     *
     * @return 1, or 2 for {@code pcrx1…}
     */
    public int suite() {
        return key.length == Keys.LENGTH ? 1 : 2;
    }

    /** A key that was checked before. */
    static DevicePublicKey checked(byte[] key) {
        return new DevicePublicKey(key);
    }
}

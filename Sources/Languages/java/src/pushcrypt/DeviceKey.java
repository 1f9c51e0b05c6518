package pushcrypt;

import java.time.Instant;

/** A device's secret key, X25519, which opens messages. A device must not have two keys with one id [O-3.2]. */
public final class DeviceKey extends AbstractSecretKey {
    final long end;

    private DeviceKey(byte[] secret) throws PushcryptException {
        super(secret, Platform.run(() -> Keys.x25519Public(secret)), Keys.X25519, Keys.Kind.DEVICE_SECRET);
        end = Times.NEVER;
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCR-SECRET-1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static DeviceKey parse(String text) throws PushcryptException {
        return new DeviceKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.DEVICE_SECRET)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes
     * @return the key
     */
    public static DeviceKey of(byte[] secret) {
        return make(checked(secret));
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static DeviceKey generate() {
        return make(random());
    }

    private static DeviceKey make(byte[] secret) {
        try {
            return new DeviceKey(secret);
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns the public half.
     *
     * @return the key to publish
     */
    public DevicePublicKey publicKey() {
        return DevicePublicKey.checked(publicKey);
    }

    private DeviceKey(DeviceKey key, long end) {
        super(key.secret, key.publicKey, Keys.X25519, Keys.Kind.DEVICE_SECRET);
        this.end = end;
    }

    /**
     * Returns the same key, which is retiring.
     *
     * @param end the last moment at which it opens
     * @return the key with its end
     */
    public DeviceKey retiringAt(Instant end) {
        return new DeviceKey(this, Platform.milliseconds(end));
    }
}

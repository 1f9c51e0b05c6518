package com.example.pushcrypt;

import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Format.Kind;

/**
 * The key of a device to which a provider seals. Two keys are equal if their bytes are.
 *
 * <p>This package accepts a key of suite 2 for a device that has one already [D-30], and does not seal to it.
 */
public final class DevicePublicKey extends AbstractPublicKey {
    private DevicePublicKey(byte[] key) {
        super(key, key.length == Format.KEY_LENGTH ? Kind.DEVICE_PUBLIC : Kind.POST_QUANTUM_PUBLIC);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code pcr1…}, or {@code pcrx1…} of suite 2
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum}, {@code wrong-kind-of-key} or {@code weak-key}
     */
    public static DevicePublicKey parse(String text) {
        return new DevicePublicKey(Keys.parse(text, Kind.DEVICE_PUBLIC));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param key 32 bytes, or 1,216 of suite 2
     * @return the key
     * @throws PushcryptException {@code weak-key} by [K-8]
     */
    public static DevicePublicKey of(byte[] key) {
        if (key.length != Format.KEY_LENGTH && key.length != Format.POST_QUANTUM_KEY_LENGTH) {
            throw new IllegalArgumentException("a key has 32 bytes, or 1,216 in suite 2");
        }
        Keys.checkDeviceKey(key);
        return new DevicePublicKey(key);
    }

    /**
     * Returns the suite of the key.
     *
     * @return 1, or 2 for {@code pcrx1…}
     */
    public int suite() {
        return key.length == Format.KEY_LENGTH ? 1 : 2;
    }
}

package com.example.pushcrypt.testing;

import java.util.*;
import com.example.pushcrypt.DevicePublicKey;
import com.example.pushcrypt.DeviceRecord;
import com.example.pushcrypt.StoredDevice;
import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Format.Kind;

/** A device's secret key, X25519. Printing it shows nothing of the secret. */
public final class DeviceKey {
    final byte[] secret, publicKey, id;

    private DeviceKey(byte[] secret) {
        if (secret.length != Format.KEY_LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        this.secret = secret.clone();
        publicKey = Keys.x25519Public(secret);
        id = Keys.id(Kind.DEVICE_SECRET.type, publicKey);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCR-SECRET-1…}
     * @return the key
     * @throws com.example.pushcrypt.PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static DeviceKey parse(String text) {
        return new DeviceKey(Keys.parse(text, Kind.DEVICE_SECRET));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes
     * @return the key
     */
    public static DeviceKey of(byte[] secret) {
        return new DeviceKey(secret);
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static DeviceKey generate() {
        return new DeviceKey(Platform.random());
    }

    /**
     * Returns the public half.
     *
     * @return the key to register
     */
    public DevicePublicKey publicKey() {
        return DevicePublicKey.of(publicKey);
    }

    /**
     * Returns a device with this key as a provider has it stored.
     *
     * @param topic the app's bundle id
     * @return a device of nobody, {@code phone1}
     */
    public StoredDevice device(String topic) {
        DevicePublicKey own = publicKey();
        return new StoredDevice(
            new DeviceRecord("phone1", own, List.of(own.suite()), topic, 1, null, null, null, null, null, null, null, null, null), null, false);
    }

    /**
     * Returns the text of the secret key.
     *
     * @return 70 characters
     */
    public String secretText() {
        return Keys.text(secret, Kind.DEVICE_SECRET);
    }

    /** Returns the id of the public half, and nothing of the secret. */
    @Override
    public String toString() {
        return "DeviceKey(" + HexFormat.of().formatHex(id) + ")";
    }
}

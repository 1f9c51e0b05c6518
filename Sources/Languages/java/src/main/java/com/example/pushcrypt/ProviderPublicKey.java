package com.example.pushcrypt;

import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Format.Kind;

/** The public half of a provider key, Ed25519, which phones pin. Two keys are equal if their bytes are. */
public final class ProviderPublicKey extends AbstractPublicKey {
    /** Takes a key that was checked before. */
    ProviderPublicKey(byte[] key) {
        super(key, Kind.PROVIDER_PUBLIC);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code pcs1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum}, {@code wrong-kind-of-key} or {@code weak-key}
     */
    public static ProviderPublicKey parse(String text) {
        return new ProviderPublicKey(Keys.parse(text, Kind.PROVIDER_PUBLIC));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param key 32 bytes
     * @return the key
     * @throws PushcryptException {@code weak-key} by [K-7]
     */
    public static ProviderPublicKey of(byte[] key) {
        if (key.length != Format.KEY_LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        Keys.checkVerifyingKey(key);
        return new ProviderPublicKey(key);
    }
}

package com.example.pushcrypt;

import com.example.pushcrypt.internal.Format.Kind;
import com.example.pushcrypt.internal.*;

/**
 * A provider key, Ed25519. It signs certificates and, at epoch 0, messages. Phones pin its public half. (Docs/FormatTrust.md)
 *
 * <p>Two keys are equal if their bytes are. A Java program cannot wipe a key from memory.
 */
public final class ProviderKey extends AbstractSecretKey {
    private ProviderKey(byte[] secret) {
        super(secret, Kind.PROVIDER_SECRET);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCS-SECRET-1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static ProviderKey parse(String text) {
        return new ProviderKey(Keys.parse(text, Kind.PROVIDER_SECRET));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes, an Ed25519 seed
     * @return the key
     */
    public static ProviderKey of(byte[] secret) {
        return new ProviderKey(secret);
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static ProviderKey generate() {
        return new ProviderKey(Platform.random());
    }

    /**
     * Returns the public half.
     *
     * @return the key to publish
     */
    public ProviderPublicKey publicKey() {
        return new ProviderPublicKey(publicKey);
    }
}

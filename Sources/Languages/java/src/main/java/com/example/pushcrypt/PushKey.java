package com.example.pushcrypt;

import java.security.PrivateKey;
import com.example.pushcrypt.internal.*;

/**
 * The key with which a self-hosted server signs its requests to relays, and nothing else. Its public half goes into {@link AcceptOptions}. Printing it shows
 * nothing of it. (Docs/Relay.md)
 */
public final class PushKey {
    private final byte[] seed, publicKey;
    private final PrivateKey signing;

    private PushKey(byte[] seed) {
        if (seed.length != Format.KEY_LENGTH) throw new IllegalArgumentException("a push key has 32 bytes");
        this.seed = seed.clone();
        publicKey = Keys.ed25519Public(seed);
        signing = Keys.ed25519(seed);
    }

    /**
     * Creates a key from its bytes.
     *
     * @param seed 32 bytes, as {@link #secretBytes} returned them
     * @return the key
     */
    public static PushKey of(byte[] seed) {
        return new PushKey(seed);
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static PushKey generate() {
        return new PushKey(Platform.random());
    }

    /**
     * Returns the bytes from which the key can be made again. Store them where nothing else reads them.
     *
     * @return 32 bytes
     */
    public byte[] secretBytes() {
        return seed.clone();
    }

    /**
     * Returns the public half.
     *
     * @return 32 bytes
     */
    public byte[] publicKey() {
        return publicKey.clone();
    }

    byte[] sign(byte[] message) {
        return Keys.sign(signing, message);
    }

    /** Returns nothing of the secret. */
    @Override
    public String toString() {
        return "PushKey";
    }
}

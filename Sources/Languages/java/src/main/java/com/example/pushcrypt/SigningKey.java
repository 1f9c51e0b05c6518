package com.example.pushcrypt;

import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Format.Kind;

/**
 * A signing key, Ed25519. A certificate lets it sign the messages of one epoch; a rotation replaces it. (Docs/FormatTrust.md)
 *
 * <p>Two keys are equal if their bytes are. A Java program cannot wipe a key from memory.
 */
public final class SigningKey extends AbstractSecretKey {
    private SigningKey(byte[] secret) {
        super(secret, Kind.SIGNING_SECRET);
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCK-SECRET-1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static SigningKey parse(String text) {
        return new SigningKey(Keys.parse(text, Kind.SIGNING_SECRET));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes, an Ed25519 seed
     * @return the key
     */
    public static SigningKey of(byte[] secret) {
        return new SigningKey(secret);
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static SigningKey generate() {
        return new SigningKey(Platform.random());
    }

    /**
     * Returns the public half, which a certificate names.
     *
     * @return 43 characters of base64url
     */
    public String publicText() {
        return Envelope.encode(publicKey);
    }
}

package pushcrypt;

import java.security.PrivateKey;

/** A signing key, Ed25519: it signs messages by a certificate, and is replaced by another. */
public final class SigningKey extends AbstractSecretKey {
    final PrivateKey signing;

    private SigningKey(byte[] secret) throws PushcryptException {
        super(secret, Platform.run(() -> Keys.ed25519Public(secret)), Keys.SIGNING, Keys.Kind.SIGNING_SECRET);
        signing = Platform.run(() -> Keys.privateKey("Ed25519", 0x70, secret));
    }

    /**
     * Reads the text of a key, with or without a newline after it.
     *
     * @param text the text, {@code PCK-SECRET-1…}
     * @return the key
     * @throws PushcryptException {@code malformed-key}, {@code wrong-checksum} or {@code wrong-kind-of-key}
     */
    public static SigningKey parse(String text) throws PushcryptException {
        return new SigningKey(Platform.run(() -> Keys.parseKey(text, Keys.Kind.SIGNING_SECRET)));
    }

    /**
     * Creates a key from its bytes.
     *
     * @param secret 32 bytes
     * @return the key
     */
    public static SigningKey of(byte[] secret) {
        return make(checked(secret));
    }

    /**
     * Generates a key.
     *
     * @return the key
     */
    public static SigningKey generate() {
        return make(random());
    }

    private static SigningKey make(byte[] secret) {
        try {
            return new SigningKey(secret);
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns the public half, which a certificate names.
     *
     * @return 32 bytes
     */
    public byte[] publicBytes() {
        return publicKey.clone();
    }
}

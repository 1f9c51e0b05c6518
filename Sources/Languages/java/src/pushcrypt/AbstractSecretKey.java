package pushcrypt;

import java.security.SecureRandom;
import java.util.HexFormat;

/** A secret key. Printing it shows nothing of it. */
abstract class AbstractSecretKey {
    final byte[] secret, publicKey, id;
    private final Keys.Kind kind;

    AbstractSecretKey(byte[] secret, byte[] publicKey, int type, Keys.Kind kind) {
        this.secret = secret.clone();
        this.publicKey = publicKey;
        this.id = Keys.keyID(type, publicKey);
        this.kind = kind;
    }

    static byte[] checked(byte[] secret) {
        if (secret.length != Keys.LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        return secret;
    }

    static byte[] random() {
        byte[] secret = new byte[Keys.LENGTH];
        new SecureRandom().nextBytes(secret);
        return secret;
    }

    /**
     * Returns the id of the public half.
     *
     * @return 8 hexadecimal digits
     */
    public final String id() {
        return HexFormat.of().formatHex(id);
    }

    /**
     * Returns the text of the secret key: store it where nothing else reads it.
     *
     * @return 70 characters
     */
    public final String secretText() {
        return Keys.keyText(secret, kind);
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName();
    }
}

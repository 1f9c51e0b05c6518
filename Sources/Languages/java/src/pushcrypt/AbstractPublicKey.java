package pushcrypt;

import java.util.Arrays;
import java.util.HexFormat;

/** A public key: its checked bytes and its text. */
abstract class AbstractPublicKey {
    final byte[] key, id;
    private final String text;

    AbstractPublicKey(byte[] key, int type, Keys.Kind kind) {
        this.key = key.clone();
        this.id = Keys.keyID(type, key);
        this.text = Keys.keyText(key, kind);
    }

    /**
     * Returns the bytes of the key.
     *
     * @return 32 bytes, or 1,216 of a device's key of suite 2
     */
    public final byte[] bytes() {
        return key.clone();
    }

    /**
     * Returns the id of the key, for logs and lookups: it is never compared instead of the key [K-1].
     *
     * @return 8 hexadecimal digits
     */
    public final String id() {
        return HexFormat.of().formatHex(id);
    }

    @Override
    public final boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && Arrays.equals(key, ((AbstractPublicKey) other).key);
    }

    @Override
    public final int hashCode() {
        return Arrays.hashCode(key);
    }

    /**
     * Returns the text of the key.
     *
     * @return 62 characters, or 1,957 of a device's key of suite 2
     */
    @Override
    public final String toString() {
        return text;
    }
}

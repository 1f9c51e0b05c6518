package com.example.pushcrypt;

import java.util.*;
import com.example.pushcrypt.internal.Format.Kind;
import com.example.pushcrypt.internal.Keys;

/** A public key: its checked bytes and its text. */
abstract class AbstractPublicKey {
    final byte[] key, id;
    private final Kind kind;

    AbstractPublicKey(byte[] key, Kind kind) {
        this.key = key.clone();
        this.kind = kind;
        this.id = Keys.id(kind.type, key);
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
     * Returns the id of the key, for logs and lookups. Two keys may have one id: never compare it instead of the key [K-1].
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
        return Keys.text(key, kind);
    }
}

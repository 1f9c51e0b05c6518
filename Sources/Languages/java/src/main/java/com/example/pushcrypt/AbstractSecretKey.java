package com.example.pushcrypt;

import java.security.MessageDigest;
import java.security.PrivateKey;
import java.util.*;
import com.example.pushcrypt.internal.Format.Kind;
import com.example.pushcrypt.internal.Keys;

/** A secret key that signs. Printing it shows nothing of it. */
abstract class AbstractSecretKey {
    final byte[] secret, publicKey;
    final PrivateKey signing;
    private final Kind kind;

    AbstractSecretKey(byte[] secret, Kind kind) {
        if (secret.length != kind.length) throw new IllegalArgumentException("a key has 32 bytes");
        this.secret = secret.clone();
        this.kind = kind;
        publicKey = Keys.ed25519Public(secret);
        signing = Keys.ed25519(secret);
    }

    byte[] sign(byte[] message) {
        return Keys.sign(signing, message);
    }

    /**
     * Returns the id of the public half, for logs.
     *
     * @return 8 hexadecimal digits
     */
    public final String id() {
        return HexFormat.of().formatHex(Keys.id(kind.type, publicKey));
    }

    /**
     * Returns the text of the secret key. Store it where nothing else reads it.
     *
     * @return 70 characters
     */
    public final String secretText() {
        return Keys.text(secret, kind);
    }

    @Override
    public final boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && MessageDigest.isEqual(secret, ((AbstractSecretKey) other).secret);
    }

    @Override
    public final int hashCode() {
        return Arrays.hashCode(publicKey);
    }

    /** Returns the kind and the id of the key, and nothing of the secret. */
    @Override
    public final String toString() {
        return getClass().getSimpleName() + "(" + id() + ")";
    }
}

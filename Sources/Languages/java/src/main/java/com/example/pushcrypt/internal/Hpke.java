package com.example.pushcrypt.internal;

import static com.example.pushcrypt.internal.Bytes.ascii;
import static com.example.pushcrypt.internal.Bytes.concat;

import javax.crypto.Cipher;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;

/**
 * HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.
 *
 * <p>Secrets are not wiped: the garbage collector may have copied them. The JDK intends to compute on keys and compare
 * tags in constant time; there is no such guarantee for the Java around it, which the virtual machine compiles freely.
 */
public final class Hpke {
    private static final byte[] KEM_SUITE = {'K', 'E', 'M', 0x00, 0x20};
    private static final byte[] HPKE_SUITE = {'H', 'P', 'K', 'E', 0x00, 0x20, 0x00, 0x01, 0x00, 0x03};
    private static final byte[] NOTHING = {};

    /** An encryption context at sequence number 0, for one message, whose aad is empty. */
    public record Context(byte[] key, byte[] baseNonce) {
        public byte[] seal(byte[] pt) {
            return Platform.aead(Cipher.ENCRYPT_MODE, key, baseNonce, NOTHING, pt);
        }

        public byte[] open(byte[] ct) {
            return Platform.aead(Cipher.DECRYPT_MODE, key, baseNonce, NOTHING, ct);
        }
    }

    /** The result of encapsulation: enc and the sealer's context. */
    public record Setup(byte[] enc, Context context) {}

    private Hpke() {}

    /** Sets up for the recipient's public key, from the input of `DeriveKeyPair`. */
    public static Setup setupBaseS(byte[] recipient, byte[] info, byte[] ikmE) {
        byte[] ephemeral = labeledExpand(KEM_SUITE, labeledExtract(KEM_SUITE, NOTHING, "dkp_prk", ikmE), "sk", NOTHING, Format.KEY_LENGTH);
        byte[] enc = Keys.x25519Public(ephemeral);
        return new Setup(enc, keySchedule(extractAndExpand(dh(ephemeral, recipient, Code.UNUSABLE_KEY), concat(enc, recipient)), info));
    }

    /** The recipient's context. The KEM context is enc as received [O-4.1]. */
    public static Context setupBaseR(byte[] enc, byte[] secret, byte[] publicKey, byte[] info) {
        return keySchedule(extractAndExpand(dh(secret, enc, Code.AUTHENTICATION_FAILED), concat(enc, publicKey)), info);
    }

    /** X25519. Refuses an all-zero result [O-4.2], [S-11]. */
    private static byte[] dh(byte[] secret, byte[] publicKey, Code code) {
        byte[] result = Keys.x25519(secret, publicKey);
        int any = 0;
        for (byte each : result) any |= each;
        if (any == 0) throw new PushcryptException(code);
        return result;
    }

    private static byte[] extractAndExpand(byte[] dh, byte[] kemContext) {
        byte[] eaePRK = labeledExtract(KEM_SUITE, NOTHING, "eae_prk", dh);
        return labeledExpand(KEM_SUITE, eaePRK, "shared_secret", kemContext, 32);
    }

    private static Context keySchedule(byte[] sharedSecret, byte[] info) {
        byte[] pskIDHash = labeledExtract(HPKE_SUITE, NOTHING, "psk_id_hash", NOTHING);
        byte[] infoHash = labeledExtract(HPKE_SUITE, NOTHING, "info_hash", info);
        byte[] context = concat(new byte[] {0}, pskIDHash, infoHash);
        byte[] secret = labeledExtract(HPKE_SUITE, sharedSecret, "secret", NOTHING);
        byte[] key = labeledExpand(HPKE_SUITE, secret, "key", context, 32);
        return new Context(key, labeledExpand(HPKE_SUITE, secret, "base_nonce", context, 12));
    }

    /** For HMAC an empty salt and 32 zero bytes are the same key; the JDK does not accept an empty one. */
    private static byte[] labeledExtract(byte[] suite, byte[] salt, String label, byte[] ikm) {
        return Platform.hmac(salt.length > 0 ? salt : new byte[32], ascii("HPKE-v1"), suite, ascii(label), ikm);
    }

    /** At most 32 bytes, so only the first block of HKDF-Expand is needed. */
    private static byte[] labeledExpand(byte[] suite, byte[] prk, String label, byte[] info, int length) {
        byte[] block = Platform.hmac(prk, Bytes.bigEndian(length, 2), ascii("HPKE-v1"), suite, ascii(label), info, new byte[] {1});
        return Bytes.part(block, 0, length);
    }
}

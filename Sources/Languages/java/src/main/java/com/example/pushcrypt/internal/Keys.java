package com.example.pushcrypt.internal;

import static com.example.pushcrypt.internal.Bytes.concat;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.*;
import javax.crypto.KeyAgreement;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;
import com.example.pushcrypt.internal.Format.Kind;

/**
 * Keys as text, key ids, and the public keys that must be refused: Docs/Format.md, "Key ids" and "Keys as text".
 *
 * <p>BigInteger is not constant-time, and a String cannot be wiped: a secret key's text stays in memory until it is
 * garbage-collected.
 */
public final class Keys {
    private static final int LENGTH = Format.KEY_LENGTH, CHECKSUM = 6;
    private static final int[] GENERATORS = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};

    private static final BigInteger P = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19));
    /** The u-coordinates below P for which X25519 gives zero, and the y-coordinates of points of small order. */
    private static final List<BigInteger> SMALL_ORDER_U = integers(Format.WEAK_DEVICE_KEYS), SMALL_ORDER_Y = integers(Format.WEAK_VERIFYING_KEYS);

    private Keys() {}

    private static List<BigInteger> integers(List<String> keys) {
        return keys.stream().map(key -> Bytes.integer(HexFormat.of().parseHex(key))).toList();
    }

    /** The 4-byte id of a public key: a hint for lookups, never to be compared instead of the key [K-1]. */
    public static byte[] id(int type, byte[] publicKey) {
        return Bytes.part(Platform.sha256(Bytes.ascii(Format.LABEL_KEY_ID), new byte[] {(byte) type}, publicKey), 0, Format.KEY_ID_LENGTH);
    }

    /** The kind of suite 1 in whose place one of suite 2 may be given. */
    private static Kind suite1(Kind kind) {
        return kind == Kind.POST_QUANTUM_PUBLIC ? Kind.DEVICE_PUBLIC : kind == Kind.POST_QUANTUM_SECRET ? Kind.DEVICE_SECRET : kind;
    }

    /** Reads the bytes of a key's text [K-4] to [K-8]. A returned public key is safe to use, but that of a device may be of suite 2. */
    public static byte[] parse(String text, Kind kind) {
        if (text.endsWith("\n")) text = text.substring(0, text.length() - 1);
        Kind of = null;
        for (Kind other : Kind.values()) if (text.startsWith(other.prefix + "1")) of = other;
        if (of == null) throw new PushcryptException(Code.MALFORMED_KEY);
        if (suite1(of) != kind) throw new PushcryptException(Code.WRONG_KIND_OF_KEY);
        int bitCount = 8 * of.length, last = (bitCount + 4) / 5 - 1, start = of.prefix.length() + 1;
        if (text.length() - start != last + 1 + CHECKSUM) throw new PushcryptException(Code.MALFORMED_KEY);
        int[] values = text.substring(start).chars().map(alphabet(of)::indexOf).toArray();
        for (int value : values) if (value < 0) throw new PushcryptException(Code.MALFORMED_KEY);
        if (polymod(of, values) != 1) throw new PushcryptException(Code.WRONG_CHECKSUM);
        if ((values[last] & (1 << 5 * (last + 1) - bitCount) - 1) != 0) throw new PushcryptException(Code.MALFORMED_KEY);
        if (of == Kind.POST_QUANTUM_SECRET) throw new PushcryptException(Code.UNSUPPORTED_SUITE);
        byte[] key = new byte[of.length];
        for (int index = 0, bits = 0, count = 0, at = 0; index <= last; index++) {
            bits = bits << 5 | values[index];
            count += 5;
            if (count >= 8) {
                count -= 8;
                key[at++] = (byte) (bits >> count);
            }
        }
        if (kind == Kind.DEVICE_PUBLIC) checkDeviceKey(key);
        if (kind == Kind.PROVIDER_PUBLIC) checkVerifyingKey(key);
        return key;
    }

    /** Returns the text of a key's bytes. For a secret key it is as secret as the key. */
    public static String text(byte[] key, Kind kind) {
        int count = (8 * key.length + 4) / 5;
        int[] values = new int[count + CHECKSUM];
        for (int index = 0; index < count; index++) {
            int at = 5 * index / 8, two = (key[at] & 0xff) << 8 | (at + 1 < key.length ? key[at + 1] & 0xff : 0);
            values[index] = two >> 11 - 5 * index % 8 & 31;
        }
        int checksum = polymod(kind, values) ^ 1;
        for (int index = 0; index < CHECKSUM; index++) values[count + index] = checksum >> 5 * (CHECKSUM - 1 - index) & 31;
        StringBuilder text = new StringBuilder(kind.prefix + "1");
        for (int value : values) text.append(alphabet(kind).charAt(value));
        return text.toString();
    }

    /** Texts of secret keys are upper-case, those of public keys lower-case. */
    private static String alphabet(Kind kind) {
        boolean isUpper = Character.isUpperCase(kind.prefix.charAt(0));
        return isUpper ? Format.KEY_ALPHABET.toUpperCase(Locale.ROOT) : Format.KEY_ALPHABET;
    }

    /** The checksum of BIP-173: 1 for a valid text. */
    private static int polymod(Kind kind, int[] values) {
        String prefix = kind.prefix.toLowerCase(Locale.ROOT);
        int checksum = 1, length = prefix.length();
        for (int index = 0; index < 2 * length + 1 + values.length; index++) {
            int value = index < length ? prefix.charAt(index) >> 5
                : index == length ? 0
                : index <= 2 * length ? prefix.charAt(index - length - 1) & 31
                : values[index - 2 * length - 1];
            int top = checksum >> 25;
            checksum = (checksum & 0x1ffffff) << 5 ^ value;
            for (int bit = 0; bit < 5; bit++) if ((top >> bit & 1) == 1) checksum ^= GENERATORS[bit];
        }
        return checksum;
    }

    /** Refuses what [K-8] refuses: unreduced numbers, and the five for which X25519 gives zero. */
    public static void checkDeviceKey(byte[] key) {
        BigInteger u = Bytes.integer(Bytes.part(key, key.length - LENGTH, key.length));
        if (u.compareTo(P) >= 0 || SMALL_ORDER_U.contains(u)) throw new PushcryptException(Code.WEAK_KEY);
        for (int at = 0; at < key.length - 2 * LENGTH; at += 3) {
            int low = key[at] & 0xff | (key[at + 1] & 15) << 8, high = (key[at + 1] & 0xff) >> 4 | (key[at + 2] & 0xff) << 4;
            if (low >= Format.MLKEM_MODULUS || high >= Format.MLKEM_MODULUS) throw new PushcryptException(Code.WEAK_KEY);
        }
    }

    /** Refuses what [K-7] refuses of provider, signing, push and update keys: unreduced coordinates, and those of points of small order. */
    public static void checkVerifyingKey(byte[] key) {
        if (isWeak(key)) throw new PushcryptException(Code.WEAK_KEY);
    }

    /** Whether an encoded point has an unreduced y-coordinate, or small order. */
    private static boolean isWeak(byte[] point) {
        BigInteger y = Bytes.integer(point).clearBit(255);
        return y.compareTo(P) >= 0 || SMALL_ORDER_Y.contains(y);
    }

    /** X25519. The JDK refuses a key with an all-zero result; here the result is returned, and the caller must refuse it. */
    public static byte[] x25519(byte[] secret, byte[] publicKey) {
        return Platform.run(() -> {
            KeyAgreement agreement = KeyAgreement.getInstance("X25519");
            agreement.init(privateKey("X25519", 0x6e, secret));
            PublicKey key = publicKey("X25519", 0x6e, publicKey);
            try {
                agreement.doPhase(key, true);
            } catch (InvalidKeyException zero) {
                return new byte[LENGTH];
            }
            return agreement.generateSecret();
        });
    }

    public static byte[] x25519Public(byte[] secret) {
        byte[] base = new byte[LENGTH];
        base[0] = 9;
        return x25519(secret, base);
    }

    /** The key of a seed, for {@link #sign}. */
    public static PrivateKey ed25519(byte[] seed) {
        return Platform.run(() -> privateKey("Ed25519", 0x70, seed));
    }

    public static byte[] sign(PrivateKey key, byte[] data) {
        return Platform.run(() -> {
            Signature signer = Signature.getInstance("Ed25519");
            signer.initSign(key);
            signer.update(data);
            return signer.sign();
        });
    }

    /**
     * Ed25519 by [K-9], under a key that has passed [K-7]. The JDK decodes R: a point has one encoding with a reduced y, unless x is 0, which small order has.
     * It throws if a signature is malformed, or the key is no point.
     */
    public static boolean verifies(byte[] key, byte[] signature, byte[] data) {
        if (isWeak(Bytes.part(signature, 0, LENGTH))) return false;
        return Platform.run(() -> {
            Signature verifier = Signature.getInstance("Ed25519");
            try {
                verifier.initVerify(publicKey("Ed25519", 0x70, key));
                verifier.update(data);
                return verifier.verify(signature);
            } catch (InvalidKeyException | SignatureException malformed) {
                return false;
            }
        });
    }

    /**
     * The public key of an Ed25519 seed. The JDK has no function for it, so its generator gets the seed instead of
     * random bytes; a signature verifies that it used them.
     */
    public static byte[] ed25519Public(byte[] seed) {
        SecureRandom fixed = new SecureRandom() {
            private static final long serialVersionUID = 1;

            @Override
            public void nextBytes(byte[] bytes) {
                System.arraycopy(seed, 0, bytes, 0, LENGTH);
            }
        };
        byte[] encoded = Platform.run(() -> {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
            generator.initialize(NamedParameterSpec.ED25519, fixed);
            return generator.generateKeyPair().getPublic().getEncoded();
        });
        byte[] key = Bytes.part(encoded, encoded.length - LENGTH, encoded.length);
        if (!verifies(key, sign(ed25519(seed), key), key)) throw new IllegalStateException("the platform's generator took other bytes than the seed");
        return key;
    }

    /** Creates a key from its 32 bytes, in the encoding of RFC 8410; `oid` is the last byte of its algorithm's identifier. */
    private static PrivateKey privateKey(String algorithm, int oid, byte[] raw) throws GeneralSecurityException {
        byte[] frame = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, (byte) oid, 0x04, 0x22, 0x04, 0x20};
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(concat(frame, raw)));
    }

    private static PublicKey publicKey(String algorithm, int oid, byte[] raw) throws GeneralSecurityException {
        byte[] frame = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, (byte) oid, 0x03, 0x21, 0x00};
        return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(concat(frame, raw)));
    }
}

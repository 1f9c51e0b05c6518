package pushcrypt;

import static pushcrypt.Bytes.concat;

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
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import javax.crypto.KeyAgreement;

/**
 * Keys as text, key ids, and the public keys that must be refused: Docs/Format.md, "Key ids" and "Keys as text".
 *
 * <p>BigInteger is not constant-time, and a String cannot be wiped: a secret key's text stays in memory until it is
 * garbage-collected.
 */
final class Keys {
    /** The kinds of key texts. */
    enum Kind {
        DEVICE_PUBLIC("pcr", false),
        PROVIDER_PUBLIC("pcs", false),
        DEVICE_SECRET("pcr-secret-", true),
        PROVIDER_SECRET("pcs-secret-", true),
        SIGNING_SECRET("pck-secret-", true),
        /** Keys of suite 2, post-quantum: a provider may hold public ones, and secret ones are refused as what they are. */
        DEVICE_PUBLIC_2("pcrx", false),
        DEVICE_SECRET_2("pcrx-secret-", true);

        final String prefix;
        final boolean secret;

        Kind(String prefix, boolean secret) {
            this.prefix = prefix;
            this.secret = secret;
        }

        /** The kind of suite 1 in whose place it may be given. */
        private Kind suite1() {
            return this == DEVICE_PUBLIC_2 ? DEVICE_PUBLIC : this == DEVICE_SECRET_2 ? DEVICE_SECRET : this;
        }

        private int length() {
            return this == DEVICE_PUBLIC_2 ? LONG_LENGTH : LENGTH;
        }

        /** Texts of secret keys are upper-case, those of public keys lower-case. */
        private String inCase(String text) {
            return secret ? text.toUpperCase(Locale.ROOT) : text;
        }
    }

    static final int X25519 = 0x01, ED25519 = 0x02, XWING = 0x03, SIGNING = 0x04, LENGTH = 32;
    /** The length of a public key of suite 2, and ML-KEM's modulus, which its coefficients are below. */
    static final int LONG_LENGTH = 1216;
    private static final int MLKEM_Q = 3329;
    private static final String ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    private static final int CHECKSUM = 6;
    private static final int[] GENERATORS = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};

    static final BigInteger P = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19));
    private static final BigInteger L = BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
    /** The u-coordinates below P for which X25519 gives zero. */
    private static final List<BigInteger> SMALL_ORDER_U = List.of(
        BigInteger.ZERO,
        BigInteger.ONE,
        Bytes.integer(HexFormat.of().parseHex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")),
        Bytes.integer(HexFormat.of().parseHex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157")),
        P.subtract(BigInteger.ONE));

    private Keys() {}

    /** The 4-byte id of a public key: a hint for lookups, never to be compared instead of the key [K-1]. */
    static byte[] keyID(int type, byte[] publicKey) {
        return Bytes.part(Bytes.sha256(Bytes.ascii("pushcrypt/1 key id\0"), new byte[] {(byte) type}, publicKey), 0, 4);
    }

    /** Reads the bytes of a key's text [K-4] to [K-8]. A returned public key is safe to use, but that of a device may be of suite 2. */
    static byte[] parseKey(String text, Kind kind) throws GeneralSecurityException, PushcryptException {
        if (text.endsWith("\n")) text = text.substring(0, text.length() - 1);
        Kind of = null;
        for (Kind other : Kind.values()) if (text.startsWith(other.inCase(other.prefix) + "1")) of = other;
        if (of == null) throw new PushcryptException("malformed-key");
        if (of.suite1() != kind) throw new PushcryptException("wrong-kind-of-key");
        String data = text.substring(of.prefix.length() + 1), alphabet = of.inCase(ALPHABET);
        int bitCount = 8 * of.length(), last = (bitCount + 4) / 5 - 1;
        int[] values = data.chars().map(alphabet::indexOf).toArray();
        if (values.length != last + 1 + CHECKSUM) throw new PushcryptException("malformed-key");
        for (int value : values) if (value < 0) throw new PushcryptException("malformed-key");
        if (polymod(of.prefix, values) != 1) throw new PushcryptException("wrong-checksum");
        if ((values[last] & (1 << 5 * (last + 1) - bitCount) - 1) != 0) throw new PushcryptException("malformed-key");
        if (of == Kind.DEVICE_SECRET_2) throw new PushcryptException("unsupported-suite", "the key is of suite 2, post-quantum, which this package does not open");
        byte[] key = new byte[of.length()];
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
    static String keyText(byte[] key, Kind kind) {
        int count = (8 * key.length + 4) / 5;
        int[] values = new int[count + CHECKSUM];
        for (int index = 0; index < count; index++) {
            int at = 5 * index / 8, two = (key[at] & 0xff) << 8 | (at + 1 < key.length ? key[at + 1] & 0xff : 0);
            values[index] = two >> 11 - 5 * index % 8 & 31;
        }
        int checksum = polymod(kind.prefix, values) ^ 1;
        for (int index = 0; index < CHECKSUM; index++) values[count + index] = checksum >> 5 * (CHECKSUM - 1 - index) & 31;
        StringBuilder text = new StringBuilder(kind.prefix + "1");
        for (int value : values) text.append(ALPHABET.charAt(value));
        return kind.inCase(text.toString());
    }

    /** The checksum of BIP-173: 1 for a valid text. */
    private static int polymod(String prefix, int[] values) {
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
    static void checkDeviceKey(byte[] key) throws PushcryptException {
        BigInteger u = Bytes.integer(Bytes.part(key, key.length - LENGTH, key.length));
        if (u.compareTo(P) >= 0 || SMALL_ORDER_U.contains(u)) throw new PushcryptException("weak-key");
        for (int at = 0; at < key.length - 2 * LENGTH; at += 3) {
            int low = key[at] & 0xff | (key[at + 1] & 15) << 8, high = (key[at + 1] & 0xff) >> 4 | (key[at + 2] & 0xff) << 4;
            if (low >= MLKEM_Q || high >= MLKEM_Q) throw new PushcryptException("weak-key");
        }
    }

    /**
     * Refuses what [K-7] refuses of provider and signing keys: with u of the point, X25519(5L - 1, u) = u exactly for a point of order L. A y
     * without a point has a u on the curve's twist, where this does not hold either.
     */
    static void checkVerifyingKey(byte[] key) throws GeneralSecurityException, PushcryptException {
        BigInteger y = Bytes.integer(key).clearBit(255);
        if (y.compareTo(P) >= 0 || y.equals(BigInteger.ONE)) throw new PushcryptException("weak-key");
        BigInteger u = BigInteger.ONE.add(y).multiply(BigInteger.ONE.subtract(y).modInverse(P)).mod(P);
        if (SMALL_ORDER_U.contains(u)) throw new PushcryptException("weak-key");
        byte[] encoded = Bytes.littleEndian(u, LENGTH);
        BigInteger scalar = L.multiply(BigInteger.valueOf(5)).subtract(BigInteger.ONE);
        if (!Arrays.equals(x25519(Bytes.littleEndian(scalar, LENGTH), encoded), encoded)) throw new PushcryptException("weak-key");
    }

    /**
     * X25519. The JDK refuses a key with an all-zero result; here the result is returned, and the caller must refuse
     * it.
     */
    static byte[] x25519(byte[] secret, byte[] publicKey) throws GeneralSecurityException {
        KeyAgreement agreement = KeyAgreement.getInstance("X25519");
        agreement.init(privateKey("X25519", 0x6e, secret));
        PublicKey key = publicKey("X25519", 0x6e, publicKey);
        try {
            agreement.doPhase(key, true);
        } catch (InvalidKeyException zero) {
            return new byte[LENGTH];
        }
        return agreement.generateSecret();
    }

    static byte[] x25519Public(byte[] secret) throws GeneralSecurityException {
        byte[] base = new byte[LENGTH];
        base[0] = 9;
        return x25519(secret, base);
    }

    /**
     * Ed25519 by [K-9], under a key that has passed [K-7]. The JDK decodes R: of the points that it can be then, only the identity, with y = 1, has more than
     * one encoding. It throws if a signature is malformed.
     */
    static boolean verifies(byte[] key, byte[] signature, byte[] data) throws GeneralSecurityException {
        BigInteger y = Bytes.integer(Bytes.part(signature, 0, LENGTH)).clearBit(255);
        if (y.mod(P).equals(BigInteger.ONE)) return false;
        Signature verifier = Signature.getInstance("Ed25519");
        verifier.initVerify(publicKey("Ed25519", 0x70, key));
        verifier.update(data);
        try {
            return verifier.verify(signature);
        } catch (SignatureException malformed) {
            return false;
        }
    }

    /**
     * The public key of an Ed25519 seed. The JDK has no function for it, so its generator gets the seed instead of
     * random bytes; a signature verifies that it used them.
     */
    static byte[] ed25519Public(byte[] seed) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
        generator.initialize(NamedParameterSpec.ED25519, new SecureRandom() {
            private static final long serialVersionUID = 1;

            @Override
            public void nextBytes(byte[] bytes) {
                System.arraycopy(seed, 0, bytes, 0, LENGTH);
            }
        });
        byte[] encoded = generator.generateKeyPair().getPublic().getEncoded();
        byte[] key = Bytes.part(encoded, encoded.length - LENGTH, encoded.length);
        if (!verifies(key, Sealing.sign(privateKey("Ed25519", 0x70, seed), key), key)) throw new GeneralSecurityException("the generator took other bytes");
        return key;
    }

    /**
     * Creates a key from its 32 bytes, in the encoding of RFC 8410; `oid` is the last byte of its algorithm's
     * identifier.
     */
    static PrivateKey privateKey(String algorithm, int oid, byte[] raw) throws GeneralSecurityException {
        byte[] frame = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, (byte) oid, 0x04, 0x22, 0x04, 0x20};
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(concat(frame, raw)));
    }

    static PublicKey publicKey(String algorithm, int oid, byte[] raw) throws GeneralSecurityException {
        byte[] frame = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, (byte) oid, 0x03, 0x21, 0x00};
        return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(concat(frame, raw)));
    }
}

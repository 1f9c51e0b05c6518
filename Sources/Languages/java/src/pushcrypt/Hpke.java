package pushcrypt;

import static pushcrypt.Bytes.ascii;
import static pushcrypt.Bytes.concat;

import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.
 *
 * <p>Secrets are not wiped: the garbage collector may have copied them. The JDK intends to compute on keys and compare
 * tags in constant time; there is no such guarantee for the Java around it, which the virtual machine compiles freely.
 */
final class Hpke {
    private static final byte[] KEM_SUITE = {'K', 'E', 'M', 0x00, 0x20};
    private static final byte[] HPKE_SUITE = {'H', 'P', 'K', 'E', 0x00, 0x20, 0x00, 0x01, 0x00, 0x03};
    private static final byte[] NOTHING = {};

    /** An encryption context at sequence number 0, for one message. */
    record Context(byte[] key, byte[] baseNonce) {
        byte[] seal(byte[] aad, byte[] pt) throws GeneralSecurityException {
            return cipher(Cipher.ENCRYPT_MODE, aad).doFinal(pt);
        }

        /** Decrypts. Returns no plaintext if the tag is wrong [O-4.3]. */
        byte[] open(byte[] aad, byte[] ct) throws GeneralSecurityException, PushcryptException {
            try {
                return cipher(Cipher.DECRYPT_MODE, aad).doFinal(ct);
            } catch (AEADBadTagException wrong) {
                throw new PushcryptException("authentication-failed");
            }
        }

        private Cipher cipher(int mode, byte[] aad) throws GeneralSecurityException {
            Cipher cipher = Cipher.getInstance("ChaCha20-Poly1305");
            cipher.init(mode, new SecretKeySpec(key, "ChaCha20"), new IvParameterSpec(baseNonce));
            cipher.updateAAD(aad);
            return cipher;
        }
    }

    /** The result of encapsulation: enc and the sealer's context. */
    record Setup(byte[] enc, Context context) {}

    private Hpke() {}

    /** Sets up for the recipient's public key, from the input of `DeriveKeyPair`. */
    static Setup setupBaseS(byte[] recipient, byte[] info, byte[] ikmE) throws GeneralSecurityException, PushcryptException {
        byte[] ephemeral = labeledExpand(KEM_SUITE, labeledExtract(KEM_SUITE, NOTHING, "dkp_prk", ikmE), "sk", NOTHING, Keys.LENGTH);
        byte[] enc = Keys.x25519Public(ephemeral);
        return new Setup(enc, keySchedule(extractAndExpand(dh(ephemeral, recipient), concat(enc, recipient)), info));
    }

    /** The recipient's context. The KEM context is enc as received [O-4.1]. */
    static Context setupBaseR(byte[] enc, byte[] secret, byte[] publicKey, byte[] info) throws GeneralSecurityException, PushcryptException {
        return keySchedule(extractAndExpand(dh(secret, enc), concat(enc, publicKey)), info);
    }

    /** X25519. Refuses an all-zero result [O-4.2]. */
    private static byte[] dh(byte[] secret, byte[] publicKey) throws GeneralSecurityException, PushcryptException {
        byte[] result = Keys.x25519(secret, publicKey);
        int any = 0;
        for (byte each : result) any |= each;
        if (any == 0) throw new PushcryptException("authentication-failed");
        return result;
    }

    private static byte[] extractAndExpand(byte[] dh, byte[] kemContext) throws GeneralSecurityException {
        byte[] eaePRK = labeledExtract(KEM_SUITE, NOTHING, "eae_prk", dh);
        return labeledExpand(KEM_SUITE, eaePRK, "shared_secret", kemContext, 32);
    }

    private static Context keySchedule(byte[] sharedSecret, byte[] info) throws GeneralSecurityException {
        byte[] pskIDHash = labeledExtract(HPKE_SUITE, NOTHING, "psk_id_hash", NOTHING);
        byte[] infoHash = labeledExtract(HPKE_SUITE, NOTHING, "info_hash", info);
        byte[] context = concat(new byte[] {0}, pskIDHash, infoHash);
        byte[] secret = labeledExtract(HPKE_SUITE, sharedSecret, "secret", NOTHING);
        byte[] key = labeledExpand(HPKE_SUITE, secret, "key", context, 32);
        return new Context(key, labeledExpand(HPKE_SUITE, secret, "base_nonce", context, 12));
    }

    /** For HMAC an empty salt and 32 zero bytes are the same key; the JDK does not accept an empty one. */
    private static byte[] labeledExtract(byte[] suite, byte[] salt, String label, byte[] ikm) throws GeneralSecurityException {
        return hmac(salt.length > 0 ? salt : new byte[32], concat(ascii("HPKE-v1"), suite, ascii(label), ikm));
    }

    /** At most 32 bytes, so only the first block of HKDF-Expand is needed. */
    private static byte[] labeledExpand(byte[] suite, byte[] prk, String label, byte[] info, int length)
        throws GeneralSecurityException {
        byte[] labeledInfo = concat(Bytes.bigEndian(length, 2), ascii("HPKE-v1"), suite, ascii(label), info);
        return Bytes.part(hmac(prk, concat(labeledInfo, new byte[] {1})), 0, length);
    }

    private static byte[] hmac(byte[] key, byte[] data) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(data);
    }
}

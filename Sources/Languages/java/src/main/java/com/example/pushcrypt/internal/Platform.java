package com.example.pushcrypt.internal;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;

/** The JDK's cryptography, whose checked exceptions mean that an algorithm is missing. */
public final class Platform {
    private static final SecureRandom RANDOM = new SecureRandom();

    private Platform() {}

    /** Work that needs an algorithm of the platform. */
    public interface Work<T> {
        T run() throws GeneralSecurityException;
    }

    /** Runs work. An algorithm that is missing is a fault of the platform, and not of the input. */
    public static <T> T run(Work<T> work) {
        try {
            return work.run();
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this platform lacks an algorithm: " + missing.getMessage(), missing);
        }
    }

    /** 32 random bytes. */
    public static byte[] random() {
        byte[] bytes = new byte[32];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    public static byte[] sha256(byte[]... parts) {
        MessageDigest digest = run(() -> MessageDigest.getInstance("SHA-256"));
        for (byte[] part : parts) digest.update(part);
        return digest.digest();
    }

    public static byte[] hmac(byte[] key, byte[]... parts) {
        Mac mac = run(() -> Mac.getInstance("HmacSHA256"));
        run(() -> {
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac;
        });
        for (byte[] part : parts) mac.update(part);
        return mac.doFinal();
    }

    /** ChaCha20-Poly1305, encryption or decryption. Returns no plaintext if the tag is wrong [O-4.3]. */
    public static byte[] aead(int mode, byte[] key, byte[] nonce, byte[] aad, byte[] data) {
        return run(() -> {
            Cipher cipher = Cipher.getInstance("ChaCha20-Poly1305");
            cipher.init(mode, new SecretKeySpec(key, "ChaCha20"), new IvParameterSpec(nonce));
            cipher.updateAAD(aad);
            try {
                return cipher.doFinal(data);
            } catch (AEADBadTagException wrong) {
                throw new PushcryptException(Code.AUTHENTICATION_FAILED);
            }
        });
    }
}

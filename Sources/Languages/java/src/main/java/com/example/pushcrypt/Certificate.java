package com.example.pushcrypt;

import java.time.Instant;
import java.util.Arrays;
import com.example.pushcrypt.internal.*;

/**
 * Says, by the provider key, which key signs the messages of an epoch. (Docs/FormatTrust.md, "Certificate")
 *
 * <p>Certificates are equal if their bytes are.
 */
public final class Certificate {
    final byte[] bytes;

    private Certificate(byte[] bytes) {
        this.bytes = bytes;
        boolean isGood = bytes.length == Format.CERTIFICATE_LENGTH && bytes[0] == Format.CERTIFICATE_VERSION && epoch() >= 1 && floor() <= epoch()
            && (Bytes.number(bytes, 9, 17) == 0) == (floor() == epoch());
        if (!isGood) throw new PushcryptException(Code.MALFORMED_CERTIFICATE);
        Keys.checkVerifyingKey(signingKey());
    }

    /**
     * Reads the text of a certificate.
     *
     * @param text 162 characters of base64url
     * @return the certificate
     * @throws PushcryptException {@code malformed-certificate} or {@code weak-key} by [T-1]
     */
    public static Certificate parse(String text) {
        if (text.length() != Format.CERTIFICATE_TEXT_LENGTH) throw new PushcryptException(Code.MALFORMED_CERTIFICATE);
        return new Certificate(Envelope.decode(text, Code.MALFORMED_CERTIFICATE));
    }

    /**
     * Creates a certificate from its bytes.
     *
     * @param bytes 121 bytes
     * @return the certificate
     * @throws PushcryptException {@code malformed-certificate} or {@code weak-key} by [T-1]
     */
    public static Certificate of(byte[] bytes) {
        return new Certificate(bytes.clone());
    }

    static Certificate issue(CertificatePlan.Claim claim, byte[] signingKey, ProviderKey provider, String topic) {
        Envelope.checkContext(topic);
        byte[] all = Bytes.concat(
            new byte[] {Format.CERTIFICATE_VERSION}, Bytes.bigEndian(claim.epoch(), 4), Bytes.bigEndian(claim.floor(), 4),
            Bytes.bigEndian(claim.graceUntil(), 8), Bytes.bigEndian(claim.expiresAt(), 8), signingKey);
        Certificate made = new Certificate(Bytes.concat(all, provider.sign(signed(provider.publicKey, topic, all))));
        made.check(provider.publicKey, topic);
        return made;
    }

    private static byte[] signed(byte[] provider, String topic, byte[] claim) {
        return Bytes.concat(Bytes.ascii(Format.LABEL_CERTIFICATE), provider, Envelope.lp16(topic), claim);
    }

    /**
     * Returns the bytes.
     *
     * @return 121 bytes
     */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * Returns the number of the key.
     *
     * @return 1 to 2^32 - 1
     */
    public long epoch() {
        return Bytes.number(bytes, 1, 5);
    }

    /**
     * Returns the lowest epoch whose messages still open.
     *
     * @return 0 to the epoch
     */
    public long floor() {
        return Bytes.number(bytes, 5, 9);
    }

    /**
     * Returns until when the key may sign. Phones believe what it signed before for 31 days more.
     *
     * @return the time; {@code null} if the certificate does not expire
     */
    public Instant expiresAt() {
        return expiry() == Times.NEVER ? null : Times.instant(expiry());
    }

    long expiry() {
        return Bytes.number(bytes, 17, 25);
    }

    /**
     * Returns the key that signs the messages.
     *
     * @return the public half, 32 bytes
     */
    public byte[] signingKey() {
        return Bytes.part(bytes, 25, Format.CLAIM_LENGTH);
    }

    /**
     * Verifies that a provider key issued the certificate for an app.
     *
     * @param provider the provider key
     * @param topic the app's bundle id
     * @throws PushcryptException {@code weak-key} by [T-1], {@code bad-certificate-signature} by [T-2] or {@code wrong-topic}
     */
    public void verify(ProviderPublicKey provider, String topic) {
        Envelope.checkContext(topic);
        check(provider.key, topic);
    }

    void check(byte[] provider, String topic) {
        if (Arrays.equals(signingKey(), provider)) {
            throw new PushcryptException(Code.WEAK_KEY, "the certificate's signing key is the provider key; each needs its own");
        }
        byte[] signed = signed(provider, topic, Bytes.part(bytes, 0, Format.CLAIM_LENGTH));
        byte[] signature = Bytes.part(bytes, Format.CLAIM_LENGTH, Format.CERTIFICATE_LENGTH);
        if (!Keys.verifies(provider, signature, signed)) throw new PushcryptException(Code.BAD_CERTIFICATE_SIGNATURE);
    }

    /**
     * Returns whether another certificate says the same, whatever its signature.
     *
     * @param other the other certificate
     * @return whether the first 57 bytes are equal
     */
    public boolean hasClaimOf(Certificate other) {
        return Arrays.equals(bytes, 0, Format.CLAIM_LENGTH, other.bytes, 0, Format.CLAIM_LENGTH);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Certificate certificate && Arrays.equals(bytes, certificate.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns the text, 162 characters. */
    @Override
    public String toString() {
        return Envelope.encode(bytes);
    }
}

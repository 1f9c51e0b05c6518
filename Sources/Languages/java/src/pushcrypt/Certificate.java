package pushcrypt;

import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;

/**
 * By it a provider key says which key signs the messages of an epoch: Docs/FormatTrust.md, [T-1] and [T-2]. Certificates are compared by their bytes, of which
 * the epoch comes first.
 */
public final class Certificate implements Comparable<Certificate> {
    static final int LENGTH = 121;
    private static final int CLAIM = 57, VERSION = 0x01;

    final byte[] bytes;

    Certificate(byte[] bytes) throws PushcryptException {
        this.bytes = bytes.clone();
        boolean isGood = bytes.length == LENGTH && bytes[0] == VERSION && epoch() >= 1 && floor() <= epoch() && (graceUntil() == 0) == (floor() == epoch());
        if (!isGood) throw new PushcryptException("malformed-certificate");
        Platform.run(() -> {
            Keys.checkVerifyingKey(signingKey());
            return null;
        });
    }

    /**
     * Reads the text of a certificate.
     *
     * @param text 162 characters
     * @return the certificate
     * @throws PushcryptException {@code malformed-certificate} or {@code weak-key}
     */
    public static Certificate parse(String text) throws PushcryptException {
        byte[] bytes;
        try {
            bytes = Base64.getUrlDecoder().decode(text);
        } catch (IllegalArgumentException malformed) {
            throw new PushcryptException("malformed-certificate");
        }
        if (!Envelope.encode(bytes).equals(text)) throw new PushcryptException("malformed-certificate");
        return new Certificate(bytes);
    }

    static Certificate of(CertificatePlan.Claim claim, byte[] signingKey, ProviderKey provider, String topic) throws PushcryptException {
        Envelope.checkContext(topic);
        byte[] times = Bytes.concat(Bytes.bigEndian(claim.graceUntil(), 8), Bytes.bigEndian(claim.expiresAt(), 8));
        byte[] all = Bytes.concat(new byte[] {VERSION}, Bytes.bigEndian(claim.epoch(), 4), Bytes.bigEndian(claim.floor(), 4), times, signingKey);
        byte[] signature = Platform.run(() -> Sealing.sign(provider.signing, signed(provider.publicKey, topic, all)));
        Certificate made = new Certificate(Bytes.concat(all, signature));
        made.check(provider.publicKey, topic);
        return made;
    }

    private static byte[] signed(byte[] provider, String topic, byte[] claim) {
        return Bytes.concat(Bytes.ascii("pushcrypt/1 certificate\0"), provider, Envelope.lp16(topic), claim);
    }

    /**
     * Returns the number of the key.
     *
     * @return 1 or more
     */
    public long epoch() {
        return Bytes.number(bytes, 1, 5);
    }

    /**
     * Returns the lowest epoch whose messages still verify.
     *
     * @return 0 or more
     */
    public long floor() {
        return Bytes.number(bytes, 5, 9);
    }

    /**
     * Returns until when messages are believed.
     *
     * @return the time; {@code null} if it does not expire
     */
    public Instant expiresAt() {
        return expiry() == Times.NEVER ? null : Platform.instant(expiry());
    }

    long graceUntil() {
        return Bytes.number(bytes, 9, 17);
    }

    long expiry() {
        return Bytes.number(bytes, 17, 25);
    }

    byte[] signingKey() {
        return Bytes.part(bytes, 25, CLAIM);
    }

    /** Refuses one that is not this provider's for this app [T-1], [T-2]. */
    void check(byte[] provider, String topic) throws PushcryptException {
        if (Arrays.equals(signingKey(), provider)) {
            throw new PushcryptException("weak-key", "the certificate's signing key is the provider key; each needs its own");
        }
        byte[] signed = signed(provider, topic, Bytes.part(bytes, 0, CLAIM));
        if (!Platform.run(() -> Keys.verifies(provider, Bytes.part(bytes, CLAIM, LENGTH), signed))) throw new PushcryptException("bad-certificate-signature");
    }

    boolean hasClaimOf(Certificate other) {
        return Arrays.equals(bytes, 0, CLAIM, other.bytes, 0, CLAIM);
    }

    /** Whether both are of one epoch and say different things. */
    boolean conflicts(Certificate other) {
        return other != null && epoch() == other.epoch() && !hasClaimOf(other);
    }

    @Override
    public int compareTo(Certificate other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
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

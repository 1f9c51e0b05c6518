package pushcrypt;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * How the next certificate follows from others: Docs/FormatTrust.md, [T-7] to [T-9].
 *
 * @param current the certificate that is replaced, or {@code null} at epoch 0
 * @param past earlier epochs
 * @param proven one that a record showed and that the provider never issued, or {@code null}
 * @param isStolen whether nothing of the epochs before may open any more
 * @param lifetime the time after which nobody believes it, whole seconds, or {@code null} if it never expires
 */
public record CertificatePlan(Certificate current, List<PastEpoch> past, Certificate proven, boolean isStolen, Duration lifetime) {
    /** That of a provider's first certificate. */
    public static final CertificatePlan FIRST = new CertificatePlan(null, List.of(), null, false, null);
    private static final long GRACE = 38 * 86_400L, LARGEST_EPOCH = (1L << 32) - 1;

    /**
     * The number of a key that signed before.
     *
     * @param epoch the number; 0 if the provider key signed itself
     * @param replacedAt when it was replaced
     */
    public record PastEpoch(long epoch, Instant replacedAt) {}

    /** What a certificate says but for its key. */
    record Claim(long epoch, long floor, long graceUntil, long expiresAt) {}

    /**
     * Creates a plan, and copies the list.
     *
     * @param current the certificate that is replaced, or {@code null} at epoch 0
     * @param past earlier epochs
     * @param proven one that a record showed and that the provider never issued, or {@code null}
     * @param isStolen whether nothing of the epochs before may open any more
     * @param lifetime the time after which nobody believes it, whole seconds, or {@code null} if it never expires
     */
    public CertificatePlan {
        past = List.copyOf(past);
    }

    /**
     * Issues the certificate of a new signing key.
     *
     * @param signingKey its public half, 32 bytes
     * @param provider the provider key
     * @param topic the app's bundle id
     * @param at the present time
     * @return the certificate
     * @throws PushcryptException {@code implausible-epoch}, {@code weak-key} or {@code wrong-topic}
     */
    public Certificate issue(byte[] signingKey, ProviderKey provider, String topic, Instant at) throws PushcryptException {
        return Certificate.of(claim(Platform.milliseconds(at)), signingKey, provider, topic);
    }

    Claim claim(long now) throws PushcryptException {
        long last = Math.max(current == null ? 0 : current.epoch(), proven == null ? 0 : proven.epoch()), seconds = Long.divideUnsigned(now, 1000);
        long epoch = Math.max(last + 1, seconds), floor = current == null ? 0 : current.floor();
        if (epoch > LARGEST_EPOCH || Times.isAfter(1000 * epoch, Times.later(now, Times.TOLERANCE))) throw new PushcryptException("implausible-epoch");
        long expiresAt = lifetime == null ? Times.NEVER : Times.later(now, lifetime.toSeconds());
        boolean isStale = proven != null && (current == null || proven.epoch() >= current.epoch() && !proven.hasClaimOf(current));
        if (isStolen || isStale) return new Claim(epoch, epoch, 0, expiresAt);
        long lowest = current == null ? 0 : current.epoch();
        for (PastEpoch one : past) {
            if (!Times.isAfter(now, Times.later(Platform.milliseconds(one.replacedAt()), GRACE))) lowest = Math.min(lowest, one.epoch());
        }
        return new Claim(epoch, Math.max(lowest, floor), Times.later(now, GRACE), expiresAt);
    }
}

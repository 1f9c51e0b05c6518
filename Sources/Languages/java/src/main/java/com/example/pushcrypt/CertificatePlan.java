package com.example.pushcrypt;

import java.time.*;
import java.util.List;
import com.example.pushcrypt.internal.*;

/**
 * How the next certificate follows from the earlier ones: Docs/FormatTrust.md, [T-7] to [T-9].
 *
 * <pre>{@code CertificatePlan.after(certificate).withLifetime(Duration.ofDays(180))}</pre>
 *
 * @param current the certificate that is replaced, or {@code null} at epoch 0
 * @param past the epochs that were replaced within the last 38 days, at most the last 64
 * @param proven a certificate that a record showed and that the provider never issued [D-36], or {@code null}
 * @param isStolen whether all earlier keys end at once
 * @param lifetime how long the key may sign, whole seconds; {@code null} for ever
 */
public record CertificatePlan(Certificate current, List<PastEpoch> past, Certificate proven, boolean isStolen, Duration lifetime) {
    /** That of a provider's first certificate, which never expires. */
    public static final CertificatePlan FIRST = after(null);
    private static final long LARGEST_EPOCH = (1L << 32) - 1;

    /**
     * A key that signed before.
     *
     * @param certificate its certificate; {@code null} for epoch 0, when the provider key signed itself
     * @param replacedAt when it was replaced
     */
    public record PastEpoch(Certificate certificate, Instant replacedAt) {
        /**
         * Creates a value.
         *
         * @param certificate its certificate; {@code null} for epoch 0, when the provider key signed itself
         * @param replacedAt when it was replaced
         * @throws PushcryptException {@code implausible-time} before 1973 or after 2100
         */
        public PastEpoch {
            boolean isPlausible = replacedAt.getEpochSecond() >= Format.TIME_FIELD_END / 1000 && replacedAt.getEpochSecond() <= Format.LATEST_CLOCK;
            if (!isPlausible) throw new PushcryptException(Code.IMPLAUSIBLE_TIME, "seconds and milliseconds were confused in a replacedAt");
        }
    }

    /** What a certificate says but for its key. */
    record Claim(long epoch, long floor, long graceUntil, long expiresAt) {}

    /**
     * Creates a plan, and copies the list.
     *
     * @param current the certificate that is replaced, or {@code null} at epoch 0
     * @param past the epochs that were replaced within the last 38 days, at most the last 64
     * @param proven a certificate that a record showed and that the provider never issued [D-36], or {@code null}
     * @param isStolen whether all earlier keys end at once
     * @param lifetime how long the key may sign, whole seconds; {@code null} for ever
     */
    public CertificatePlan {
        past = List.copyOf(past.subList(Math.max(0, past.size() - Format.MOST_PAST_CERTIFICATES), past.size()));
        boolean isGood = lifetime == null || lifetime.getNano() == 0 && !lifetime.isNegative() && lifetime.getSeconds() <= Format.LARGEST_TIME;
        if (!isGood) throw new IllegalArgumentException("a lifetime is whole seconds");
    }

    /**
     * Returns the plan of the certificate that follows another, and never expires.
     *
     * @param current the certificate that is replaced, or {@code null} at epoch 0
     * @return the plan
     */
    public static CertificatePlan after(Certificate current) {
        return new CertificatePlan(current, List.of(), null, false, null);
    }

    /**
     * Returns the plan with the epochs that were replaced within the last 38 days.
     *
     * @param past the epochs
     * @return another plan
     */
    public CertificatePlan withPast(List<PastEpoch> past) {
        return new CertificatePlan(current, past, proven, isStolen, lifetime);
    }

    /**
     * Returns the plan with a certificate that a record showed and that the provider never issued: all earlier keys end at once [T-9].
     *
     * @param proven what {@link Accepted#staleStore} returned, or {@code null}
     * @return another plan
     */
    public CertificatePlan withProven(Certificate proven) {
        return new CertificatePlan(current, past, proven, isStolen, lifetime);
    }

    /**
     * Returns the plan that ends all earlier keys at once: somebody else may have one [T-9].
     *
     * @return another plan
     */
    public CertificatePlan stolen() {
        return new CertificatePlan(current, past, proven, true, lifetime);
    }

    /**
     * Returns the plan with a limit to how long the key may sign.
     *
     * @param lifetime whole seconds; {@code null} for ever
     * @return another plan
     */
    public CertificatePlan withLifetime(Duration lifetime) {
        return new CertificatePlan(current, past, proven, isStolen, lifetime);
    }

    /**
     * Makes a signing key and certifies it, with the provider key in this process. Store the result before you seal with it.
     *
     * @param provider the provider key
     * @param topic the app's bundle id
     * @return the signing key with its certificate
     * @throws PushcryptException {@code epochs-exhausted} or {@code wrong-topic}
     */
    public Credential issue(ProviderKey provider, String topic) {
        SigningKey key = SigningKey.of(Platform.random());
        return new Credential(key, request(provider.publicKey(), topic, key.publicText()).issue(provider, Times.now()), provider.publicKey());
    }

    /**
     * Starts the certificate of a new signing key with the provider key elsewhere.
     *
     * @param provider the provider key
     * @param topic the app's bundle id
     * @param signingKey {@link SigningKey#publicText} of a key that was generated for this, and stored
     * @return the request, to be carried to where the provider key is
     * @throws PushcryptException {@code malformed-key}, {@code weak-key} or {@code wrong-topic}
     */
    public CertificateRequest request(ProviderPublicKey provider, String topic, String signingKey) {
        return new CertificateRequest(provider, topic, signingKey, this);
    }

    private static long epoch(Certificate certificate) {
        return certificate == null ? 0 : certificate.epoch();
    }

    Claim claim(long now) {
        long last = Math.max(epoch(current), epoch(proven)), seconds = Long.divideUnsigned(now, 1000);
        long clock = Long.compareUnsigned(seconds, Format.LATEST_CLOCK) > 0 ? 0 : seconds;
        long epoch = Math.max(last + 1, clock), floor = current == null ? 0 : current.floor();
        if (epoch > LARGEST_EPOCH) throw new PushcryptException(Code.EPOCHS_EXHAUSTED);
        long expiresAt = lifetime == null ? Times.NEVER : Times.later(now, lifetime.getSeconds());
        boolean isStale = proven != null && (current == null || !proven.hasClaimOf(current));
        if (isStolen || isStale) return new Claim(epoch, epoch, 0, expiresAt);
        long lowest = epoch(current);
        for (PastEpoch one : past) {
            boolean isInUse = !Times.isAfter(now, Times.later(Times.milliseconds(one.replacedAt()), Format.CERTIFICATE_GRACE));
            if (isInUse) lowest = Math.min(lowest, epoch(one.certificate()));
        }
        return new Claim(epoch, Math.max(lowest, floor), Times.later(now, Format.CERTIFICATE_GRACE), expiresAt);
    }
}

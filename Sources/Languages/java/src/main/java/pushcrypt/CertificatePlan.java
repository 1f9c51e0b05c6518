package pushcrypt;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import pushcrypt.internal.Format;
import pushcrypt.internal.Platform;
import pushcrypt.internal.Times;

/**
 * How the next certificate follows from the earlier ones: Docs/FormatTrust.md, [T-7] to [T-9].
 *
 * <pre>{@code CertificatePlan.builder().current(certificate).lifetime(Duration.ofDays(180)).build()}</pre>
 *
 * @param current the certificate that is replaced, or {@code null} at epoch 0
 * @param past the epochs that were replaced within the last 38 days, at most the last 64
 * @param proven a certificate that a record showed and that the provider never issued [D-33], or {@code null}
 * @param isStolen whether all earlier keys end at once
 * @param lifetime how long the key may sign, whole seconds; {@code null} for ever
 */
public record CertificatePlan(Certificate current, List<PastEpoch> past, Certificate proven, boolean isStolen, Duration lifetime) {
    /** That of a provider's first certificate, which never expires. */
    public static final CertificatePlan FIRST = builder().build();
    private static final long LARGEST_EPOCH = (1L << 32) - 1;

    /**
     * A key that signed before.
     *
     * @param certificate its certificate; {@code null} for epoch 0, when the provider key signed itself
     * @param replacedAt when it was replaced
     */
    public record PastEpoch(Certificate certificate, Instant replacedAt) {}

    /** What a certificate says but for its key. */
    record Claim(long epoch, long floor, long graceUntil, long expiresAt) {}

    /**
     * Creates a plan, and copies the list.
     *
     * @param current the certificate that is replaced, or {@code null} at epoch 0
     * @param past the epochs that were replaced within the last 38 days, at most the last 64
     * @param proven a certificate that a record showed and that the provider never issued [D-33], or {@code null}
     * @param isStolen whether all earlier keys end at once
     * @param lifetime how long the key may sign, whole seconds; {@code null} for ever
     */
    public CertificatePlan {
        past = List.copyOf(past.subList(Math.max(0, past.size() - Format.MOST_PAST_CERTIFICATES), past.size()));
        boolean isGood = lifetime == null || lifetime.getNano() == 0 && !lifetime.isNegative() && lifetime.getSeconds() <= Format.LARGEST_TIME;
        if (!isGood) throw new IllegalArgumentException("a lifetime is whole seconds");
    }

    /**
     * Starts with the plan of a first certificate.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Makes a signing key and certifies it, with the provider key in this process. Store the result before you seal with it.
     *
     * @param provider the provider key
     * @param topic the app's bundle id
     * @return the signing key with its certificate
     * @throws PushcryptException {@code implausible-epoch} or {@code wrong-topic}
     */
    public Credential issue(ProviderKey provider, String topic) {
        SigningKey key = SigningKey.of(Platform.random());
        return new Credential(key, request(provider.publicKey(), topic, key.publicBytes()).issue(provider, Instant.now()), provider.publicKey());
    }

    /**
     * Starts the certificate of a new signing key with the provider key elsewhere.
     *
     * @param provider the provider key
     * @param topic the app's bundle id
     * @param signingKey {@link SigningKey#publicBytes} of a key that was generated for this, and stored
     * @return the request, to be carried to where the provider key is
     * @throws PushcryptException {@code weak-key} or {@code wrong-topic}
     */
    public CertificateRequest request(ProviderPublicKey provider, String topic, byte[] signingKey) {
        return new CertificateRequest(provider, topic, signingKey.clone(), this);
    }

    private static long epoch(Certificate certificate) {
        return certificate == null ? 0 : certificate.epoch();
    }

    Claim claim(long now) {
        long last = Math.max(epoch(current), epoch(proven)), seconds = Long.divideUnsigned(now, 1000);
        long epoch = Math.max(last + 1, seconds), floor = current == null ? 0 : current.floor();
        if (epoch > LARGEST_EPOCH || Times.isAfter(1000 * epoch, Times.later(now, Format.CLOCK_TOLERANCE))) throw new PushcryptException(Code.IMPLAUSIBLE_EPOCH);
        long expiresAt = lifetime == null ? Times.NEVER : Times.later(now, lifetime.getSeconds());
        boolean isStale = proven != null && (current == null || proven.epoch() >= current.epoch() && !proven.hasClaimOf(current));
        if (isStolen || isStale) return new Claim(epoch, epoch, 0, expiresAt);
        long lowest = epoch(current);
        for (PastEpoch one : past) {
            boolean isInUse = !Times.isAfter(now, Times.later(Times.milliseconds(one.replacedAt()), Format.CERTIFICATE_GRACE));
            if (isInUse) lowest = Math.min(lowest, epoch(one.certificate()));
        }
        return new Claim(epoch, Math.max(lowest, floor), Times.later(now, Format.CERTIFICATE_GRACE), expiresAt);
    }

    /** Builds a plan. */
    public static final class Builder {
        private Certificate current, proven;
        private final List<PastEpoch> past = new ArrayList<>();
        private boolean isStolen;
        private Duration lifetime;

        private Builder() {}

        /**
         * Names the certificate that is replaced.
         *
         * @param certificate the certificate, or {@code null} at epoch 0
         * @return this
         */
        public Builder current(Certificate certificate) {
            current = certificate;
            return this;
        }

        /**
         * Adds an epoch that was replaced within the last 38 days.
         *
         * @param certificate its certificate, or {@code null} for epoch 0
         * @param replacedAt when it was replaced
         * @return this
         */
        public Builder past(Certificate certificate, Instant replacedAt) {
            past.add(new PastEpoch(certificate, replacedAt));
            return this;
        }

        /**
         * Names a certificate that a record showed and that the provider never issued: all earlier keys end at once [T-9].
         *
         * @param certificate what {@link Accepted#staleStore} returned, or {@code null}
         * @return this
         */
        public Builder proven(Certificate certificate) {
            proven = certificate;
            return this;
        }

        /**
         * Ends all earlier keys at once: somebody else may have one [T-9].
         *
         * @return this
         */
        public Builder stolen() {
            isStolen = true;
            return this;
        }

        /**
         * Limits how long the key may sign.
         *
         * @param lifetime whole seconds
         * @return this
         */
        public Builder lifetime(Duration lifetime) {
            this.lifetime = lifetime;
            return this;
        }

        /**
         * Builds the plan.
         *
         * @return the plan
         */
        public CertificatePlan build() {
            return new CertificatePlan(current, past, proven, isStolen, lifetime);
        }
    }
}

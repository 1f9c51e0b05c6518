package pushcrypt;

/**
 * What a phone knows of a provider key and an app, for all accounts: Docs/FormatTrust.md, [T-6].
 *
 * @param certificate the highest certificate, or {@code null}
 * @param floor the highest floor
 */
public record Learned(Certificate certificate, long floor) {
    /** Nothing. */
    public static final Learned NOTHING = new Learned(null, 0);
    private static final long LONGEST_LIFE = 31 * 86_400L;

    /**
     * Returns the maximum of each: stores may come in any order.
     *
     * @param other what else is known
     * @return both
     */
    public Learned merged(Learned other) {
        boolean isHigher = other.certificate != null && (certificate == null || other.certificate.compareTo(certificate) > 0);
        return new Learned(isHigher ? other.certificate : certificate, Math.max(floor, other.floor));
    }

    /** [T-3] */
    Learned after(Certificate learned) {
        return learned == null ? this : merged(new Learned(learned, learned.floor()));
    }

    boolean isRaisedBy(Certificate learned) {
        return certificate == null || learned.epoch() > certificate.epoch() || learned.floor() > floor;
    }

    /** [T-4], once the message's own certificate was taken into account. */
    boolean opens(long epoch, Certificate own, long sentAt, long now) {
        if (own != null && (Times.isAfter(sentAt, own.expiry()) || Times.isAfter(now, Times.later(own.expiry(), LONGEST_LIFE)))) return false;
        return epoch >= floor && (certificate == null || epoch == certificate.epoch() || !Times.isAfter(now, certificate.graceUntil()));
    }
}

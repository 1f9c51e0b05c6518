package pushcrypt.testing;

import java.time.Instant;
import pushcrypt.Certificate;
import pushcrypt.internal.Format;
import pushcrypt.internal.Times;

/**
 * What a phone knows of a provider key and an app, for all accounts: Docs/FormatTrust.md, [T-6].
 *
 * @param certificate the highest certificate, or {@code null}
 * @param floor the highest floor
 */
public record Learned(Certificate certificate, long floor) {
    /** Nothing. */
    public static final Learned NOTHING = new Learned(null, 0);

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
    Learned after(Certificate accepted) {
        return accepted == null ? this : merged(new Learned(accepted, accepted.floor()));
    }

    boolean isRaisedBy(Certificate accepted) {
        return certificate == null || accepted.epoch() > certificate.epoch() || accepted.floor() > floor;
    }

    boolean conflictsWith(Certificate other) {
        return certificate != null && other != null && certificate.epoch() == other.epoch() && !certificate.hasClaimOf(other);
    }

    /** [T-4], once the message's own certificate was taken into account. */
    boolean opens(long epoch, Certificate own, long sentAt, long now) {
        long end = own == null ? Times.NEVER : milliseconds(own.expiresAt(), Times.NEVER);
        if (Times.isAfter(sentAt, end) || Times.isAfter(now, Times.later(end, Format.EXPIRY_TOLERANCE))) return false;
        return epoch >= floor && (certificate == null || epoch == certificate.epoch() || !Times.isAfter(now, milliseconds(certificate.graceUntil(), 0)));
    }

    private static long milliseconds(Instant time, long otherwise) {
        return time == null ? otherwise : Times.milliseconds(time);
    }
}

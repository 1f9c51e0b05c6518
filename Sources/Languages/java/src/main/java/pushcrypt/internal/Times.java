package pushcrypt.internal;

import java.math.BigInteger;
import java.time.Instant;

/** Times are milliseconds since 1970 as unsigned numbers, so the largest is -1. */
public final class Times {
    public static final long NEVER = -1;
    private static final BigInteger LAST = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private Times() {}

    public static boolean isAfter(long time, long other) {
        return Long.compareUnsigned(time, other) > 0;
    }

    /** Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]. */
    public static long later(long time, long seconds) {
        long sum = time + 1000 * seconds;
        return isAfter(time, sum) ? NEVER : sum;
    }

    /** Milliseconds since 1970; what is later than all is {@link #NEVER}. */
    public static long milliseconds(Instant time) {
        BigInteger all = BigInteger.valueOf(time.getEpochSecond()).multiply(BigInteger.valueOf(1000)).add(BigInteger.valueOf(time.getNano() / 1_000_000));
        if (all.signum() < 0) throw new IllegalArgumentException("a time before 1970");
        return all.min(LAST).longValue();
    }

    /** The same back. */
    public static Instant instant(long milliseconds) {
        return Instant.ofEpochSecond(Long.divideUnsigned(milliseconds, 1000), Long.remainderUnsigned(milliseconds, 1000) * 1_000_000);
    }
}

package pushcrypt;

/** Times are milliseconds since 1970 as unsigned numbers, so the largest is -1. */
final class Times {
    static final long NEVER = -1;
    /** Seconds by which a clock may be ahead. */
    static final long TOLERANCE = 86_400;

    private Times() {}

    static boolean isAfter(long time, long other) {
        return Long.compareUnsigned(time, other) > 0;
    }

    /** Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3]. */
    static long later(long time, long seconds) {
        long sum = time + 1000 * seconds;
        return isAfter(time, sum) ? NEVER : sum;
    }
}

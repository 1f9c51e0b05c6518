package com.example.pushcrypt.internal;

import java.math.BigInteger;
import java.time.*;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;

/** Times are milliseconds since 1970 as unsigned numbers, so the largest is -1. */
public final class Times {
    public static final long NEVER = -1;
    private static final BigInteger LAST = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private Times() {}

    public static boolean isAfter(long time, long other) {
        return Long.compareUnsigned(time, other) > 0;
    }

    /** The system's clock. Tests replace it. */
    public static volatile Clock clock = Clock.systemUTC();

    public static Instant now() {
        return clock.instant();
    }

    /** A caller's present time in milliseconds. One that is more than a day from the clock is a mistake. */
    public static long plausible(Instant at) {
        Instant now = now();
        Duration away = Duration.between(at, now).abs(), day = Duration.ofDays(1), year = Duration.ofDays(366);
        if (away.compareTo(day) <= 0) return milliseconds(at);
        Instant larger = at.isAfter(Instant.EPOCH) && at.getEpochSecond() < Format.LATEST_CLOCK ? Instant.ofEpochSecond(at.toEpochMilli()) : Instant.MAX;
        Instant smaller = at.getEpochSecond() < Format.LARGEST_TIME ? Instant.ofEpochMilli(at.getEpochSecond()) : Instant.MIN;
        String guess = Duration.between(larger, now).abs().compareTo(year) < 0 ? "seconds were taken for milliseconds; use Instant.ofEpochSecond"
            : Duration.between(smaller, now).abs().compareTo(year) < 0 ? "milliseconds were taken for seconds; use Instant.ofEpochMilli" : "or set this machine's clock";
        throw new PushcryptException(Code.IMPLAUSIBLE_TIME, "the time is " + away.toDays() + " days from the clock: " + guess);
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

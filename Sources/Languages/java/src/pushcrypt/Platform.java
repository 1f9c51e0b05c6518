package pushcrypt;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.time.Instant;

/** What the platform throws and counts with, between the interface and the rules. */
final class Platform {
    private static final BigInteger NEVER = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private Platform() {}

    /** Work that needs an algorithm of the platform. */
    interface Work<T> {
        T run() throws GeneralSecurityException, PushcryptException;
    }

    /** Signs a message. */
    interface Sign {
        byte[] sign(byte[] message) throws GeneralSecurityException, PushcryptException;
    }

    /** Runs work. An algorithm that is missing is a fault of the platform, and not of the input. */
    static <T> T run(Work<T> work) throws PushcryptException {
        try {
            return work.run();
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this platform lacks an algorithm: " + missing.getMessage(), missing);
        }
    }

    /** Milliseconds since 1970 as an unsigned number; what is later than all is {@link Times#NEVER}. */
    static long milliseconds(Instant time) {
        BigInteger all = BigInteger.valueOf(time.getEpochSecond()).multiply(BigInteger.valueOf(1000)).add(BigInteger.valueOf(time.getNano() / 1_000_000));
        if (all.signum() < 0) throw new IllegalArgumentException("a time before 1970");
        return all.min(NEVER).longValue();
    }

    /** The same back. */
    static Instant instant(long milliseconds) {
        BigInteger[] parts = new BigInteger(Long.toUnsignedString(milliseconds)).divideAndRemainder(BigInteger.valueOf(1000));
        return Instant.ofEpochSecond(parts[0].longValue(), parts[1].longValue() * 1_000_000);
    }
}

package com.example.pushcrypt.internal;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What Java has no short name for. */
public final class Bytes {
    private Bytes() {}

    public static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    public static byte[] concat(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) length += part.length;
        byte[] result = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, result, at, part.length);
            at += part.length;
        }
        return result;
    }

    /** Bytes from `start` up to and without `end`. */
    public static byte[] part(byte[] bytes, int start, int end) {
        return Arrays.copyOfRange(bytes, start, end);
    }

    /** An unsigned big-endian integer; 8 bytes of it may be a negative `long`, which is compared with `Long.compareUnsigned`. */
    public static long number(byte[] bytes, int start, int end) {
        long result = 0;
        for (int at = start; at < end; at++) result = result << 8 | bytes[at] & 0xff;
        return result;
    }

    public static byte[] bigEndian(long value, int length) {
        byte[] result = new byte[length];
        for (int at = length - 1; at >= 0; at--, value >>>= 8) result[at] = (byte) value;
        return result;
    }

    public static byte[] reversed(byte[] bytes) {
        byte[] result = new byte[bytes.length];
        for (int at = 0; at < bytes.length; at++) result[at] = bytes[bytes.length - 1 - at];
        return result;
    }

    /** An unsigned little-endian integer. */
    public static BigInteger integer(byte[] littleEndian) {
        return new BigInteger(1, reversed(littleEndian));
    }
}

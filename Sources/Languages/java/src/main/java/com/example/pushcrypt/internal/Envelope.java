package com.example.pushcrypt.internal;

import static com.example.pushcrypt.internal.Bytes.ascii;
import static com.example.pushcrypt.internal.Bytes.concat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Pattern;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;

/** What sealing and opening have in common: Docs/Format.md, "Envelope", "Context" and "Construction". */
public final class Envelope {
    private static final Pattern CONTEXT = Pattern.compile("[A-Za-z0-9.-]{1," + Format.LONGEST_TOPIC + "}");

    private Envelope() {}

    /** Base64url without padding. */
    public static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The same back: bytes have exactly one text. */
    public static byte[] decode(String text, Code code) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            if (encode(bytes).equals(text)) return bytes;
        } catch (IllegalArgumentException malformed) {
            // Reported as what follows.
        }
        throw new PushcryptException(code);
    }

    /** Whether a text is a valid context, the app's bundle id without a suffix [K-2]. */
    public static boolean isContext(String context) {
        return CONTEXT.matcher(context).matches();
    }

    public static void checkContext(String context) {
        if (!isContext(context)) throw new PushcryptException(Code.WRONG_TOPIC);
    }

    public static byte[] info(byte[] header, String context) {
        return concat(ascii(Format.LABEL_ENVELOPE), header, lp16(context));
    }

    /** What a message's signature is over. */
    public static byte[] signed(
        byte[] header, byte[] enc, byte[] recipient, byte[] provider, byte[] signingKey, byte[] epoch, String context, byte[] contentHash) {
        return concat(ascii(Format.LABEL_SIGNATURE), header, enc, recipient, provider, signingKey, epoch, lp16(context), contentHash);
    }

    public static byte[] lp16(String text) {
        return lp16(ascii(text));
    }

    public static byte[] lp16(byte[] bytes) {
        return concat(Bytes.bigEndian(bytes.length, 2), bytes);
    }

    /** The id of a message that its caller named. */
    public static byte[] namedMessageID(String name) {
        return Bytes.part(Platform.sha256(ascii(Format.LABEL_CALLER_ID), name.getBytes(StandardCharsets.UTF_8)), 0, Format.MESSAGE_ID_LENGTH);
    }
}

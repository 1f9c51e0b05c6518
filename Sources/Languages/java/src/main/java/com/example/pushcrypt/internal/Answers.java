package com.example.pushcrypt.internal;

import static com.example.pushcrypt.internal.Bytes.ascii;
import static com.example.pushcrypt.internal.Bytes.bigEndian;
import static com.example.pushcrypt.internal.Bytes.concat;
import static com.example.pushcrypt.internal.Bytes.part;

import java.util.*;
import javax.crypto.Cipher;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;

/** What both ends of an answer compute: Docs/FormatRecords.md, "Answers". */
public final class Answers {
    public static final int HEADER = 37, ID = 16, TAG = 16, LONGEST_JSON = 4096, LONGEST_ACTION = 255;
    private static final List<Integer> SIZES = List.of(128, 512, 2048, 4098);
    private static final byte[] NONCE = new byte[12];

    private Answers() {}

    public static byte[] id(byte[] secret, byte[] device, String topic, byte[] messageID, long sentAt) {
        return part(Platform.hmac(secret, ascii("pushcrypt/1 answer id\0"), whose(device, topic), messageID, bigEndian(sentAt, 8)), 0, ID);
    }

    public static byte[] key(byte[] secret, byte[] device, String topic, byte[] id) {
        return hkdf(secret, id, concat(ascii("pushcrypt/1 answer\0"), whose(device, topic)));
    }

    private static byte[] whose(byte[] device, String topic) {
        return concat(Platform.sha256(device), Envelope.lp16(topic));
    }

    /** HKDF-SHA256 with one block of output. */
    static byte[] hkdf(byte[] key, byte[] salt, byte[] info) {
        return Platform.hmac(Platform.hmac(salt, key), info, new byte[] {1});
    }

    private static byte[] messageKey(byte[] key, byte[] salt) {
        return hkdf(key, salt, ascii("pushcrypt/1 answer message\0"));
    }

    /** The plaintext; empty for what is too long. */
    public static byte[] padded(byte[] text) {
        for (int size : SIZES) if (text.length + 2 <= size) return Arrays.copyOf(Envelope.lp16(text), size);
        return new byte[0];
    }

    /** Reads the text of an answer. */
    public static byte[] decode(String text) {
        byte[] answer = Envelope.decode(text, Code.MALFORMED_ENVELOPE);
        if (SIZES.contains(answer.length - HEADER - TAG)) return answer;
        throw new PushcryptException(Code.MALFORMED_ENVELOPE, "the answer was cut, encoded again, or has a wrong length");
    }

    /** The plaintext, or null if the tag is wrong. */
    public static byte[] open(byte[] key, byte[] answer) {
        byte[] header = part(answer, 0, HEADER), salt = part(answer, 21, HEADER);
        try {
            return Platform.aead(Cipher.DECRYPT_MODE, messageKey(key, salt), NONCE, header, part(answer, HEADER, answer.length));
        } catch (PushcryptException wrong) {
            return null;
        }
    }
}

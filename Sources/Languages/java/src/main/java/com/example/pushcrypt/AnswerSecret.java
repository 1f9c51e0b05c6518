package com.example.pushcrypt;

import java.security.MessageDigest;
import java.util.HexFormat;
import com.example.pushcrypt.internal.*;

/**
 * What a provider has to open answers, 32 random bytes for each app. A thief of it reads and forges answers, but no messages. Printing it shows nothing of it.
 * (Docs/FormatRecords.md, "Answers")
 */
public final class AnswerSecret {
    final byte[] secret;

    private AnswerSecret(byte[] secret) {
        if (secret.length != 32) throw new IllegalArgumentException("an answer secret has 32 bytes");
        this.secret = secret.clone();
    }

    /**
     * Creates a secret from its bytes.
     *
     * @param secret 32 bytes, as {@link #secretBytes} returned them
     * @return the secret
     */
    public static AnswerSecret of(byte[] secret) {
        return new AnswerSecret(secret);
    }

    /**
     * Generates a secret.
     *
     * @return the secret
     */
    public static AnswerSecret generate() {
        return new AnswerSecret(Platform.random());
    }

    /**
     * Returns the bytes from which the secret can be made again. Store them where only the provider reads them.
     *
     * @return 32 bytes
     */
    public byte[] secretBytes() {
        return secret.clone();
    }

    /** The member {@code answer} of a payload. */
    String member(byte[] device, String topic, byte[] messageID, long sentAt) {
        byte[] id = Answers.id(secret, device, topic, messageID, sentAt);
        return Envelope.encode(Bytes.concat(id, Answers.key(secret, device, topic, id)));
    }

    /** Whether an answer id is that of a message. */
    boolean isOf(byte[] id, byte[] device, String topic, String messageId, long sentAt) {
        return MessageDigest.isEqual(id, Answers.id(secret, device, topic, HexFormat.of().parseHex(messageId), sentAt));
    }

    /** Returns nothing of the secret. */
    @Override
    public String toString() {
        return "AnswerSecret";
    }
}

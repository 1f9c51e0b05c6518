package com.example.pushcrypt;

import java.nio.charset.StandardCharsets;
import java.time.*;

/**
 * A sealed payload.
 *
 * @param json what to send instead of the payload, unchanged
 * @param messageId the id of the message, which a phone shows once: 32 hexadecimal digits
 * @param sentAt when it was sealed
 * @param timeToLive the time to live that was sealed, whole seconds
 * @param expiration its end in seconds since 1970; 0, for one attempt, if the time to live was to be 0
 * @param widest the bytes of the longest form that a client may re-encode the JSON to [S-4]
 * @param device whom it was sealed for
 * @param pushType the push type to send it as
 */
public record SealedPush(
    String json, String messageId, Instant sentAt, Duration timeToLive, long expiration, int widest, StoredDevice device, PushType pushType) {
    /**
     * Returns what to send instead of the payload, in UTF-8.
     *
     * @return the bytes
     */
    public byte[] bytes() {
        return json.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the last moment at which receivers accept the message.
     *
     * @return the end
     */
    public Instant expiresAt() {
        return sentAt.plus(timeToLive);
    }
}

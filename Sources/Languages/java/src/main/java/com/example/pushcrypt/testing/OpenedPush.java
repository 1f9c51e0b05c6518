package com.example.pushcrypt.testing;

import java.time.Instant;

/**
 * An authentic message. Printing it does not show the payload.
 *
 * @param payload the sealed payload, JSON. Its member {@code pushcrypt} has the keys of files
 * @param messageId the id of the message: 32 hexadecimal digits
 * @param sentAt when it was sealed
 * @param expiresAt the last moment at which a phone shows it
 */
public record OpenedPush(String payload, String messageId, Instant sentAt, Instant expiresAt) {
    /** Returns the id. */
    @Override
    public String toString() {
        return "OpenedPush(" + messageId + ")";
    }
}

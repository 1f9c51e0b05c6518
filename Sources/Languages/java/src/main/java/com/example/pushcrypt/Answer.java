package com.example.pushcrypt;

import java.time.Instant;

/**
 * What a user did with a notification, sealed by the phone that got it. It proves nothing to others.
 *
 * @param device the key of the device that answered
 * @param messageId the message, as {@link SealedPush#messageId}
 * @param sentAt when the message was sealed
 * @param action the action's id
 * @param text what the user typed, or {@code null}
 * @param at when the user answered, by the phone's clock
 */
public record Answer(DevicePublicKey device, String messageId, Instant sentAt, String action, String text, Instant at) {}

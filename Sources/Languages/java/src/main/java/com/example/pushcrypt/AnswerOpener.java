package com.example.pushcrypt;

import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.*;
import com.example.pushcrypt.internal.*;

/**
 * Opens the answers of an app. Nothing is kept: a caller that wants one answer keeps the first of a message. (Docs/FormatRecords.md, "Answers")
 */
public final class AnswerOpener {
    private static final long LIFE = Duration.ofDays(31).toMillis();

    private final String topic;
    private final List<AnswerSecret> secrets;
    private final List<DevicePublicKey> devices;
    private final long life;

    private AnswerOpener(String topic, List<AnswerSecret> secrets, List<DevicePublicKey> devices, long life) {
        Envelope.checkContext(topic);
        this.topic = topic;
        this.secrets = List.copyOf(secrets);
        this.devices = List.copyOf(devices);
        this.life = life;
    }

    /**
     * Creates an opener.
     *
     * @param topic the app's bundle id
     * @param secrets the app's secret, and for 32 days those before it
     * @param devices the keys of the device, or of all devices, the replaced ones for 32 days
     * @throws PushcryptException {@code wrong-topic}
     */
    public AnswerOpener(String topic, List<AnswerSecret> secrets, List<DevicePublicKey> devices) {
        this(topic, secrets, devices, LIFE);
    }

    /**
     * Returns the same opener for answers that count for a shorter time, such as approvals.
     *
     * @param limit the time after sealing
     * @return another opener
     */
    public AnswerOpener within(Duration limit) {
        if (limit.isNegative()) throw new IllegalArgumentException("the limit is negative");
        return new AnswerOpener(topic, secrets, devices, limit.compareTo(Duration.ofMillis(LIFE)) < 0 ? limit.toMillis() : LIFE);
    }

    /**
     * Opens an answer now.
     *
     * @param text what the app sent
     * @return the answer
     * @throws PushcryptException {@code malformed-envelope}, {@code unsupported-message}, {@code unknown-recipient-key}, {@code authentication-failed},
     *     {@code malformed-payload} or {@code expired}
     */
    public Answer open(String text) {
        return open(text, Times.now());
    }

    /**
     * Opens an answer.
     *
     * @param text what the app sent
     * @param at the present time, within a day of the clock
     * @return the answer
     * @throws PushcryptException {@code malformed-envelope}, {@code unsupported-message}, {@code unknown-recipient-key}, {@code authentication-failed},
     *     {@code malformed-payload}, {@code expired} or {@code implausible-time}
     */
    public Answer open(String text, Instant at) {
        long now = Times.plausible(at);
        byte[] answer = Answers.decode(Objects.requireNonNull(text, "text")), id = Bytes.part(answer, 1, 17), deviceID = Bytes.part(answer, 17, 21);
        if (answer[0] != 1) throw new PushcryptException(Code.UNSUPPORTED_MESSAGE);
        List<DevicePublicKey> named = devices.stream().filter(one -> Arrays.equals(one.id, deviceID)).toList();
        if (named.isEmpty()) throw new PushcryptException(Code.UNKNOWN_RECIPIENT_KEY);
        for (DevicePublicKey device : named) {
            for (AnswerSecret secret : secrets) {
                byte[] plain = Answers.open(Answers.key(secret.secret, device.key, topic, id), answer);
                if (plain == null) continue;
                Answer read = read(device, plain);
                long sentAt = read.sentAt().toEpochMilli();
                // A key of another message opens no answer to this one.
                if (!secret.isOf(id, device.key, topic, read.messageId(), sentAt)) throw new PushcryptException(Code.AUTHENTICATION_FAILED);
                if (Times.isAfter(now, sentAt + life)) throw new PushcryptException(Code.EXPIRED, "the time for an answer to this message has ended");
                return read;
            }
        }
        throw new PushcryptException(Code.AUTHENTICATION_FAILED);
    }

    private static Answer read(DevicePublicKey device, byte[] plain) {
        int length = (int) Bytes.number(plain, 0, 2);
        if (length > Answers.LONGEST_JSON || length + 2 > plain.length || !Arrays.equals(plain, Answers.padded(Bytes.part(plain, 2, 2 + length)))) {
            throw new PushcryptException(Code.AUTHENTICATION_FAILED);
        }
        Payload.Members members = Payload.parse(Bytes.part(plain, 2, 2 + length), Code.MALFORMED_PAYLOAD);
        String id = text(members, "message_id"), action = text(members, "action"), text = Records.member(members, "text") == null ? null : text(members, "text");
        int actionLength = action.getBytes(StandardCharsets.UTF_8).length;
        if (!id.matches("[0-9a-f]{32}") || actionLength < 1 || actionLength > Answers.LONGEST_ACTION) throw wrong("message_id or action");
        return new Answer(device, id, time(members, "sent_at"), action, text, time(members, "at"));
    }

    private static String text(Payload.Members members, String name) {
        if (members.get(name) instanceof String text) return text;
        throw wrong(name);
    }

    private static Instant time(Payload.Members members, String name) {
        Long time = Payload.whole(members.get(name), Format.LARGEST_TIME);
        if (time == null) throw wrong(name);
        return Instant.ofEpochMilli(time);
    }

    private static PushcryptException wrong(String name) {
        return new PushcryptException(Code.MALFORMED_PAYLOAD, name + " of the answer is missing, or has another form");
    }
}

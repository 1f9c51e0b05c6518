package pushcrypt.testing;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import pushcrypt.Code;
import pushcrypt.PushcryptException;
import pushcrypt.internal.Answers;
import pushcrypt.internal.Bytes;
import pushcrypt.internal.Envelope;
import pushcrypt.internal.Json;
import pushcrypt.internal.Payload;
import pushcrypt.internal.Platform;

/** The phone's half of answers: Docs/FormatAnswers.md. */
public final class AnswerSealer {
    private static final int GIVEN = 48;

    private AnswerSealer() {}

    /**
     * Answers a message.
     *
     * @param opened the message
     * @param action the action's id, 1 to 255 bytes
     * @param text what the user typed, or {@code null}
     * @param at when
     * @return the text that the app sends
     * @throws PushcryptException {@code invalid-request} if the message has no {@code answer}, or the answer is too long
     */
    public static String seal(OpenedPush opened, String action, String text, Instant at) {
        byte[] given = given(opened);
        int length = action.getBytes(StandardCharsets.UTF_8).length;
        if (length < 1 || length > Answers.LONGEST_ACTION) throw new PushcryptException(Code.INVALID_REQUEST, "the action's id has not 1 to 255 bytes");
        byte[] json = Json.object(
            "message_id", Json.quoted(opened.messageId()), "sent_at", opened.sentAt().toEpochMilli(), "action", Json.quoted(action), "text", Json.quoted(text),
            "at", at.toEpochMilli()).getBytes(StandardCharsets.UTF_8);
        if (json.length > Answers.LONGEST_JSON) throw new PushcryptException(Code.INVALID_REQUEST, "the answer has " + json.length + " bytes, over 4096");
        return Answers.seal(given, opened.device().id, Answers.padded(json), Bytes.part(Platform.random(), 0, 16));
    }

    /** The answer id and key of a message. */
    static byte[] given(OpenedPush opened) {
        Object own = Payload.parse(opened.payload(), Code.MALFORMED_PAYLOAD).get("pushcrypt");
        if (own instanceof Map<?, ?> members && members.get("answer") instanceof String text && text.length() == 64) {
            byte[] given = Envelope.decode(text, Code.INVALID_REQUEST);
            if (given.length == GIVEN) return given;
        }
        throw new PushcryptException(Code.INVALID_REQUEST, "the message cannot be answered");
    }
}

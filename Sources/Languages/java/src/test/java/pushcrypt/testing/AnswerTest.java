package pushcrypt.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import pushcrypt.Answer;
import pushcrypt.AnswerOpener;
import pushcrypt.AnswerSecret;
import pushcrypt.Code;
import pushcrypt.DevicePublicKey;
import pushcrypt.ProviderKey;
import pushcrypt.PushType;
import pushcrypt.PushcryptException;
import pushcrypt.SealOptions;
import pushcrypt.Sealer;
import pushcrypt.Vectors;
import pushcrypt.internal.Answers;
import pushcrypt.internal.Bytes;
import pushcrypt.internal.Envelope;

/** Answers: the vectors of answers.json, and a message that is answered. */
final class AnswerTest {
    private static final String TOPIC = "com.example.app";
    private static final Instant TIME = Instant.ofEpochMilli(1_767_225_600_000L);
    private static final ProviderKey PROVIDER = ProviderKey.generate();
    private static final AnswerSecret SECRET = AnswerSecret.generate();
    private static final DeviceKey PHONE = DeviceKey.generate(), TABLET = DeviceKey.generate();
    private static final AnswerOpener OPENER = new AnswerOpener(TOPIC, List.of(SECRET), List.of(PHONE.publicKey(), TABLET.publicKey()));

    private static long number(Object value) {
        return ((BigDecimal) value).longValueExact();
    }

    private static Answer open(Map<String, Object> one) {
        List<AnswerSecret> secrets = ((List<?>) one.get("secrets")).stream().map(secret -> AnswerSecret.of(Vectors.hex(secret))).toList();
        List<DevicePublicKey> devices = ((List<?>) one.get("devices")).stream().map(key -> DevicePublicKey.of(Vectors.hex(key))).toList();
        AnswerOpener opener = new AnswerOpener((String) one.get("topic"), secrets, devices);
        if (one.get("within") != null) opener = opener.within(Duration.ofSeconds(number(one.get("within"))));
        return opener.open((String) one.get("text"), Instant.ofEpochMilli(number(one.get("now"))));
    }

    private static void refused(Code code, Executable call) {
        assertEquals(code, assertThrows(PushcryptException.class, call).code());
    }

    @TestFactory
    Stream<DynamicTest> keys() {
        return Vectors.cases("answers.json", "keys", one -> {
            byte[] secret = Vectors.hex(one.get("secret")), device = Vectors.hex(one.get("devicePublic"));
            String topic = (String) one.get("topic");
            byte[] id = Answers.id(secret, device, topic, Vectors.hex(one.get("messageID")), number(one.get("sentAt")));
            byte[] key = Answers.key(secret, device, topic, id);
            assertEquals(one.get("answerID"), HexFormat.of().formatHex(id));
            assertEquals(one.get("answerKey"), HexFormat.of().formatHex(key));
            assertEquals(one.get("answer"), Envelope.encode(Bytes.concat(id, key)));
        });
    }

    @TestFactory
    Stream<DynamicTest> answers() {
        return Vectors.cases("answers.json", "answers", one -> {
            DevicePublicKey device = DevicePublicKey.of(Vectors.hex(one.get("device")));
            byte[] given = Envelope.decode((String) one.get("given"), Code.INVALID_REQUEST), json = ((String) one.get("json")).getBytes(StandardCharsets.UTF_8);
            String made = Answers.seal(given, HexFormat.of().parseHex(device.id()), Answers.padded(json), Vectors.hex(one.get("random")));
            assertEquals(one.get("text"), made);
            Map<?, ?> members = (Map<?, ?>) one.get("members");
            Instant sentAt = Instant.ofEpochMilli(number(members.get("sent_at"))), at = Instant.ofEpochMilli(number(members.get("at")));
            String id = (String) members.get("message_id"), action = (String) members.get("action");
            assertEquals(new Answer(device, id, sentAt, action, (String) members.get("text"), at), open(one));
        });
    }

    @TestFactory
    Stream<DynamicTest> refusedAnswers() {
        return Vectors.cases("answers.json", "refused", one -> refused(Code.of((String) one.get("code")), () -> open(one)));
    }

    private static OpenedPush message(DeviceKey device, SealOptions.Builder options) {
        Sealer sealer = Sealer.builder(PROVIDER, TOPIC).clock(Clock.fixed(TIME, ZoneOffset.UTC)).build();
        String push = sealer.seal("{\"aps\":{\"alert\":\"Deploy?\"}}", device.publicKey(), options.build()).json();
        return new Receiver(TOPIC).open(push.getBytes(StandardCharsets.UTF_8), List.of(device), new Trust(List.of(PROVIDER.publicKey()), Map.of()), PushType.ALERT, TIME);
    }

    @Test
    void aMessageIsAnsweredByItsPhoneAlone() {
        for (DeviceKey device : List.of(PHONE, TABLET)) {
            for (SealOptions.Builder options : List.of(SealOptions.builder(), SealOptions.builder().messageId("deploy-17"), SealOptions.builder().drop())) {
                OpenedPush opened = message(device, options.answers(SECRET));
                String text = AnswerSealer.seal(opened, "approve", "go \"now\" 🚲", TIME.plusSeconds(5));
                Answer answer = OPENER.open(text, TIME.plusSeconds(60));
                assertEquals(new Answer(device.publicKey(), opened.messageId(), TIME, "approve", "go \"now\" 🚲", TIME.plusSeconds(5)), answer);
                assertNull(OPENER.open(AnswerSealer.seal(opened, "no", null, TIME), TIME).text());
                refused(Code.EXPIRED, () -> OPENER.within(Duration.ofMinutes(1)).open(text, TIME.plusMillis(60_001)));
            }
        }
        // The key of one message opens no answer to another.
        OpenedPush first = message(PHONE, SealOptions.builder().messageId("a").answers(SECRET));
        OpenedPush second = message(PHONE, SealOptions.builder().messageId("b").answers(SECRET));
        String json = "{\"message_id\":\"" + second.messageId() + "\",\"sent_at\":" + TIME.toEpochMilli() + ",\"action\":\"a\",\"at\":0}";
        String forged = Answers.seal(AnswerSealer.given(first), PHONE.id, Answers.padded(json.getBytes(StandardCharsets.UTF_8)), new byte[16]);
        refused(Code.AUTHENTICATION_FAILED, () -> OPENER.open(forged, TIME));
    }

    @Test
    void otherMessagesStayAsTheyAre() {
        OpenedPush plain = message(PHONE, SealOptions.builder().messageId("a")), answerable = message(PHONE, SealOptions.builder().messageId("a").answers(SECRET));
        assertEquals(plain.messageId(), answerable.messageId());
        assertFalse(plain.payload().contains("pushcrypt"));
        refused(Code.INVALID_REQUEST, () -> AnswerSealer.seal(plain, "a", null, TIME));
        refused(Code.INVALID_REQUEST, () -> AnswerSealer.seal(answerable, "", null, TIME));
        refused(Code.INVALID_REQUEST, () -> AnswerSealer.seal(answerable, "a".repeat(256), null, TIME));
        refused(Code.INVALID_REQUEST, () -> AnswerSealer.seal(answerable, "a", "a".repeat(4096), TIME));
        refused(Code.WRONG_TOPIC, () -> new AnswerOpener("a b", List.of(), List.of()));
    }

    @Test
    void aSecretIsMadeAgainAndNotPrinted() {
        assertArrayEquals(SECRET.secretBytes(), AnswerSecret.of(SECRET.secretBytes()).secretBytes());
        assertFalse(SECRET.toString().contains(HexFormat.of().formatHex(SECRET.secretBytes())));
        assertThrows(IllegalArgumentException.class, () -> AnswerSecret.of(new byte[31]));
        assertThrows(IllegalArgumentException.class, () -> OPENER.within(Duration.ofSeconds(-1)));
    }
}

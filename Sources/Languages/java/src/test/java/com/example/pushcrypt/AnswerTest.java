package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static com.example.pushcrypt.Fixtures.refused;

import java.math.BigDecimal;
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
import com.example.pushcrypt.internal.Answers;
import com.example.pushcrypt.internal.Bytes;
import com.example.pushcrypt.internal.Envelope;
import com.example.pushcrypt.testing.DeviceKey;
import com.example.pushcrypt.testing.OpenedPush;
import com.example.pushcrypt.testing.Phone;

/** Answers: the vectors of answers.json, and messages that can be answered. */
final class AnswerTest {
    private static final String TOPIC = "com.example.app";
    private static final Instant TIME = Instant.ofEpochMilli(1_767_225_600_000L);
    private static final ProviderKey PROVIDER = ProviderKey.generate();
    private static final AnswerSecret SECRET = AnswerSecret.generate();
    private static final DeviceKey PHONE = DeviceKey.generate();
    private static final AnswerOpener OPENER = new AnswerOpener(TOPIC, List.of(SECRET), List.of(PHONE.publicKey()));

    private static long number(Object value) {
        return ((BigDecimal) value).longValueExact();
    }

    private static Answer open(Map<String, Object> one) {
        List<AnswerSecret> secrets = ((List<?>) one.get("secrets")).stream().map(secret -> AnswerSecret.of(Vectors.hex(secret))).toList();
        List<DevicePublicKey> devices = ((List<?>) one.get("devices")).stream().map(key -> DevicePublicKey.of(Vectors.hex(key))).toList();
        AnswerOpener opener = new AnswerOpener((String) one.get("topic"), secrets, devices);
        if (one.get("within") != null) opener = opener.within(Duration.ofSeconds(number(one.get("within"))));
        Instant now = Instant.ofEpochMilli(number(one.get("now")));
        AnswerOpener own = opener;
        return Fixtures.at(now, () -> own.open((String) one.get("text"), now));
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
            Map<?, ?> members = (Map<?, ?>) one.get("members");
            Instant sentAt = Instant.ofEpochMilli(number(members.get("sent_at"))), at = Instant.ofEpochMilli(number(members.get("at")));
            String id = (String) members.get("message_id"), action = (String) members.get("action");
            assertEquals(new Answer(device, id, sentAt, action, (String) members.get("text"), at), open(one));
        });
    }

    @TestFactory
    Stream<DynamicTest> refusedAnswers() {
        return Vectors.cases(
            "answers.json", "refused", one -> assertEquals(one.get("code"), assertThrows(PushcryptException.class, () -> open(one)).code().toString()));
    }

    private static OpenedPush message(SealOptions.Builder options) {
        Sealer sealer = Sealer.builder(PROVIDER, TOPIC).clock(Clock.fixed(TIME, ZoneOffset.UTC)).build();
        String push = sealer.seal("{\"aps\":{\"alert\":\"Deploy?\"}}", PHONE.device(TOPIC), options.build()).json();
        return Fixtures.at(TIME, () -> new Phone(TOPIC, PHONE, PROVIDER.publicKey()).open(push, PushType.ALERT, TIME));
    }

    /** It has what answers.json proves of its id, and is the same message. */
    @Test
    void aMessageThatCanBeAnswered() {
        for (SealOptions.Builder options : List.of(SealOptions.builder(), SealOptions.builder().messageId("deploy-17"))) {
            OpenedPush opened = message(options.answers(SECRET));
            byte[] device = PHONE.publicKey().bytes(), message = HexFormat.of().parseHex(opened.messageId());
            byte[] id = Answers.id(SECRET.secretBytes(), device, TOPIC, message, TIME.toEpochMilli());
            String answer = Envelope.encode(Bytes.concat(id, Answers.key(SECRET.secretBytes(), device, TOPIC, id)));
            assertEquals("{\"aps\":{\"alert\":\"Deploy?\"},\"pushcrypt\":{\"answer\":\"" + answer + "\"}}", opened.payload());
        }
        OpenedPush plain = message(SealOptions.builder().messageId("a")), answerable = message(SealOptions.builder().messageId("a").answers(SECRET));
        assertEquals(plain.messageId(), answerable.messageId());
        assertEquals("{\"aps\":{\"alert\":\"Deploy?\"}}", plain.payload());
        refused(Code.WRONG_TOPIC, () -> new AnswerOpener("a b", List.of(), List.of()));
    }

    @Test
    void anAnswerEnds() {
        Map<?, ?> one = (Map<?, ?>) ((List<?>) Vectors.read("answers.json").get("answers")).get(0);
        String text = (String) one.get("text");
        Instant end = Instant.ofEpochMilli(number(((Map<?, ?>) one.get("members")).get("sent_at"))).plus(Duration.ofDays(31));
        List<AnswerSecret> secrets = ((List<?>) one.get("secrets")).stream().map(secret -> AnswerSecret.of(Vectors.hex(secret))).toList();
        List<DevicePublicKey> devices = ((List<?>) one.get("devices")).stream().map(key -> DevicePublicKey.of(Vectors.hex(key))).toList();
        AnswerOpener opener = new AnswerOpener((String) one.get("topic"), secrets, devices);
        for (AnswerOpener own : List.of(opener, opener.within(Duration.ofDays(40)))) {
            assertEquals(((Map<?, ?>) one.get("members")).get("action"), Fixtures.at(end, () -> own.open(text, end)).action());
            refused(Code.EXPIRED, () -> Fixtures.at(end, () -> own.open(text, end.plusMillis(1))));
            refused(Code.IMPLAUSIBLE_TIME, () -> Fixtures.at(end, () -> own.open(text, end.plus(Duration.ofDays(2)))));
        }
    }

    @Test
    void aSecretIsMadeAgainAndNotPrinted() {
        assertArrayEquals(SECRET.secretBytes(), AnswerSecret.of(SECRET.secretBytes()).secretBytes());
        assertFalse(SECRET.toString().contains(HexFormat.of().formatHex(SECRET.secretBytes())));
        assertThrows(IllegalArgumentException.class, () -> AnswerSecret.of(new byte[31]));
        assertThrows(IllegalArgumentException.class, () -> OPENER.within(Duration.ofSeconds(-1)));
    }
}

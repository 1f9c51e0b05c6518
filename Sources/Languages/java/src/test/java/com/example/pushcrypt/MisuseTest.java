package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static com.example.pushcrypt.Fixtures.DEVICE;
import static com.example.pushcrypt.Fixtures.HALF;
import static com.example.pushcrypt.Fixtures.PAYLOAD;
import static com.example.pushcrypt.Fixtures.PHONE;
import static com.example.pushcrypt.Fixtures.PROVIDER;
import static com.example.pushcrypt.Fixtures.TOPIC;
import static com.example.pushcrypt.Fixtures.fault;
import static com.example.pushcrypt.Fixtures.refused;

import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.crypto.Cipher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import com.example.pushcrypt.internal.FileStream;
import com.example.pushcrypt.internal.Format;
import com.example.pushcrypt.testing.DeviceKey;
import com.example.pushcrypt.testing.OpenedPush;
import com.example.pushcrypt.testing.Phone;

/** What a caller can get wrong: each call is refused, is a fault of the program, or does no harm. */
final class MisuseTest {
    private final Sealer sealer = new Sealer(PROVIDER, TOPIC);

    private SealedPush seal(Consumer<SealOptions.Builder> change) {
        SealOptions.Builder options = SealOptions.builder();
        change.accept(options);
        return sealer.seal(PAYLOAD, PHONE, options.build());
    }

    private static void refusedOption(Code code, Consumer<SealOptions.Builder> change) {
        refused(code, () -> change.accept(SealOptions.builder()));
    }

    @Test
    void options() {
        refusedOption(Code.INVALID_REQUEST, options -> options.messageId(HALF));
        refusedOption(Code.INVALID_REQUEST, options -> options.messageId(""));
        fault(() -> SealOptions.builder().messageId(null));
        fault(() -> SealOptions.builder().pushType(null));
        fault(() -> SealOptions.builder().person(null));
        fault(() -> SealOptions.builder().timeToLive(null));
        fault(() -> SealOptions.builder().withdraws(Arrays.asList((String) null)));
        refusedOption(Code.INVALID_TIME, options -> options.timeToLive(Duration.ofMillis(1500)));
        refusedOption(Code.INVALID_TIME, options -> options.timeToLive(Duration.ofDays(31)));
        refusedOption(Code.INVALID_TIME, options -> options.timeToLive(Duration.ofSeconds(Long.MAX_VALUE)));
        refusedOption(Code.INVALID_TIME, options -> options.timeToLive(Duration.ofSeconds(-1)));
        refused(Code.PUSH_TYPE_NOT_SEALABLE, () -> PushType.of("liveactivity"));
        refused(Code.PUSH_TYPE_NOT_SEALABLE, () -> PushType.of("ALERT"));
        refusedOption(Code.INVALID_REQUEST, options -> options.withdraws(Collections.nCopies(65, "a")));
        refusedOption(Code.INVALID_REQUEST, options -> options.messageId("b").withdraws(List.of("b")).build());
        refusedOption(Code.INVALID_REQUEST, options -> options.withdraws(List.of("b")).messageId("b").build());
        refusedOption(Code.INVALID_REQUEST, options -> options.withdraws(List.of("")));
        refusedOption(Code.INVALID_REQUEST, options -> options.withdraws(List.of(HALF)));
        refused(Code.INVALID_REQUEST, () -> Person.of("Anna\nBen"));
        refused(Code.INVALID_REQUEST, () -> Person.of(HALF));
        refused(Code.INVALID_REQUEST, () -> Person.of("é".repeat(128)));
        refused(Code.INVALID_REQUEST, () -> new Person("Anna", "u", null, Collections.nCopies(9, "Ben"), null));
        Reference film = Fixtures.reference(new byte[32], "public.mpeg-4");
        refused(Code.MALFORMED_REFERENCE, () -> new Person("Anna", "u", null, List.of(), film));
        refusedOption(Code.MALFORMED_REFERENCE, options -> options.fullBody(film));
        refusedOption(Code.TOO_MANY_ATTACHMENTS, options -> options.attachments(Collections.nCopies(9, film)));
        refused(Code.INVALID_REQUEST, () -> Placeholder.STANDARD.withTitle(HALF));
        refused(Code.INVALID_REQUEST, () -> Placeholder.STANDARD.withSound(HALF));
        refused(Code.INVALID_PLACEHOLDER, () -> Placeholder.STANDARD.withTitle(" \u00a0\u2003"));
        refused(Code.INVALID_PLACEHOLDER, () -> Placeholder.STANDARD.withTitle("a".repeat(4097)));
        SealOptions.Builder builder = SealOptions.builder();
        SealOptions before = builder.build();
        builder.drop();
        assertFalse(before.isDropped);
    }

    @Test
    void sealers() {
        refused(Code.WRONG_TOPIC, () -> new Sealer(PROVIDER, "a b"));
        refused(Code.WRONG_TOPIC, () -> new Sealer(PROVIDER, "a".repeat(2_000_000)));
        fault(() -> new Sealer(PROVIDER, null));
        fault(() -> new Sealer((ProviderKey) null, "a"));
        fault(() -> Sealer.builder(PROVIDER, "a").placeholder(null));
        fault(() -> sealer.seal(PAYLOAD, null));
        fault(() -> ProviderKey.of(new byte[31]));
        fault(() -> DevicePublicKey.of(new byte[33]));
    }

    @Test
    void times() {
        for (Instant time : List.of(Instant.ofEpochMilli(1L << 53), Instant.MAX)) {
            Sealer late = Sealer.builder(PROVIDER, TOPIC).clock(Clock.fixed(time, ZoneOffset.UTC)).build();
            refused(Code.INVALID_TIME, () -> late.seal(PAYLOAD, PHONE));
        }
        Sealer early = Sealer.builder(PROVIDER, TOPIC).clock(Clock.fixed(Instant.ofEpochMilli(-1), ZoneOffset.UTC)).build();
        fault(() -> early.seal(PAYLOAD, PHONE));
    }

    @Test
    void requests() {
        SealedPush push = seal(options -> {}), background = seal(options -> options.pushType(PushType.BACKGROUND));
        refused(Code.INVALID_REQUEST, () -> RequestOptions.builder().collapseName(""));
        refused(Code.INVALID_REQUEST, () -> RequestOptions.builder().collapseName(HALF));
        refused(Code.INVALID_REQUEST, () -> RequestOptions.builder().collapseName("é".repeat(32_768)));
        refused(Code.INVALID_REQUEST, () -> sealer.request(background, RequestOptions.builder().priority(10).build()));
        fault(() -> RequestOptions.builder().priority(7));
        for (Instant wrong : List.of(Instant.ofEpochSecond(-1), Instant.ofEpochSecond(7), Instant.MAX, Instant.MIN, Instant.ofEpochSecond(System.currentTimeMillis()))) {
            refused(Code.IMPLAUSIBLE_TIME, () -> RequestOptions.builder().expiration(wrong));
        }
        fault(() -> sealer.request(null));
        assertEquals("5", sealer.request(background).headers().get("apns-priority"));
        assertEquals("10", sealer.request(push).headers().get("apns-priority"));
        assertEquals("0", sealer.request(push, RequestOptions.builder().expiration(Instant.EPOCH).build()).headers().get("apns-expiration"));
        Instant soon = Instant.now().plusSeconds(60);
        assertEquals(Long.toString(soon.getEpochSecond()), sealer.request(push, RequestOptions.builder().expiration(soon).build()).headers().get("apns-expiration"));
        assertEquals(push.json(), sealer.request(push).body());
        Map<String, String> headers = sealer.request(seal(options -> options.pushType(PushType.VOIP))).headers();
        assertEquals(TOPIC + ".voip", headers.get("apns-topic"));
        for (PushType type : PushType.values()) {
            SealedPush once = seal(options -> options.pushType(type).timeToLive(Duration.ZERO));
            assertEquals(List.of("0", 600L), List.of(sealer.request(once).headers().get("apns-expiration"), once.timeToLive().toSeconds()));
        }
        RequestOptions named = RequestOptions.builder().collapseName("c").build();
        Sealer signing = new Sealer(CertificatePlan.FIRST.issue(PROVIDER, TOPIC), TOPIC);
        String id = sealer.request(push, named).headers().get("apns-collapse-id");
        assertEquals(id, signing.request(signing.seal(PAYLOAD, DeviceKey.generate().device(TOPIC)), named).headers().get("apns-collapse-id"));
        assertEquals(43, id.length());
    }

    /** A device that was removed, or of another app, gets nothing. */
    @Test
    void devicesThatNothingIsSealedTo() {
        refused(Code.REMOVED_DEVICE, () -> sealer.seal(PAYLOAD, PHONE.removed()));
        refused(Code.REMOVED_DEVICE, () -> sealer.withdraw(List.of("a"), PHONE.removed()));
        refused(Code.TOPIC_MISMATCH, () -> new Sealer(PROVIDER, "com.example.other").seal(PAYLOAD, PHONE));
        refused(Code.INVALID_REQUEST, () -> sealer.withdraw(List.of(""), PHONE));
        DeviceKey key = DeviceKey.generate();
        SealedPush push = sealer.withdraw(List.of("a", "b"), key.device(TOPIC));
        String opened = new Phone(TOPIC, key, PROVIDER.publicKey()).open(push.json(), PushType.BACKGROUND, Instant.now()).payload();
        assertEquals("{\"aps\":{},\"pushcrypt\":{\"withdraw\":[\"a\",\"b\"],\"drop\":true}}", opened);
    }

    /** [S-7] */
    @Test
    void theFewestBytes() {
        DeviceKey key = DeviceKey.generate();
        String payload = " {\"aps\" :{\"alert\":\"\\u00e9\\/\\uD83d\\ude00 \\\\u00e9\\u001F\\u000A\\u0022\"},\"\\u006e\": [1.50, 1E400]}";
        String opened = new Phone(TOPIC, key, PROVIDER.publicKey()).open(sealer.seal(payload, key.device(TOPIC)).json()).payload();
        assertEquals("{\"aps\":{\"alert\":\"é/\ud83d\ude00 \\\\u00e9\\u001f\\n\\\"\"},\"n\":[1.50,1E400]}", opened);
    }

    private void payload(Code code, String json) {
        refused(code, () -> sealer.seal(json, PHONE));
    }

    @Test
    void payloads() {
        payload(Code.MISSING_APS, "{\"a\":1}");
        payload(Code.RESERVED_KEY, "{\"ENCRYPTED_DATA\":null}");
        payload(Code.RESERVED_KEY, "{\"pushcrypt\":{}}");
        payload(Code.INVALID_FIELD, "{\"aps\":{\"alert\":\"a\",\"badge\":\"1\"}}");
        payload(Code.INVALID_FIELD, "{\"aps\":{\"alert\":\"a\",\"sound\":{\"volume\":2}}}");
        payload(Code.INVALID_FIELD, "{\"aps\":{\"alert\":\"a\",\"relevance-score\":1e400}}");
        payload(Code.INVALID_FIELD, "{\"aps\":{\"alert\":{\"title\":1}}}");
        payload(Code.NOTHING_TO_SHOW, "{\"aps\":{\"alert\":{\"body\":\"\"}}}");
        payload(Code.NOTHING_TO_SHOW, "{\"aps\":{}}");
        payload(Code.MALFORMED_PAYLOAD, "{\"aps\":{\"alert\":\"a\"},\"a\":1,\"a\":null}");
        payload(Code.MALFORMED_PAYLOAD, "{\"aps\":{\"alert\":\"" + HALF + "\"}}");
        payload(Code.MALFORMED_PAYLOAD, "");
        fault(() -> sealer.seal((byte[]) null, PHONE, SealOptions.DEFAULT));
        fault(() -> sealer.seal((String) null, PHONE));
    }

    /** Two megabytes are refused in a moment, wherever they are given. */
    @Test
    void longTexts() {
        String a = "a".repeat(2_000_000), digits = "1".repeat(2_000_000), open = "[".repeat(2_000_000);
        String url = "{\"url\":\"https://a/" + a + "\",\"key\":\"" + a + "\",\"size\":" + digits + ",\"sha256\":\"a\",\"type\":\"a.b\",\"name\":\"a\"}";
        List<Executable> calls = List.of(
            () -> refused(Code.MALFORMED_KEY, () -> DevicePublicKey.parse("pcr1" + a)), () -> refused(Code.MALFORMED_KEY, () -> ProviderKey.parse("PCS-SECRET-1" + a)),
            () -> refused(Code.MALFORMED_KEY, () -> Credential.parse("\n".repeat(2_000_000))), () -> refused(Code.MALFORMED_CERTIFICATE, () -> Certificate.parse(a)),
            () -> refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson("{\"public_key\":\"pcr1\",\"device\":\"" + a + "\"}")),
            () -> refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson("{\"public_key\":\"pcr1\",\"generation\":" + digits + "}")),
            () -> refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson("{\"public_key\":\"pcr1\",\"suites\":[" + digits + "]}")),
            () -> refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson("{\"public_key\":\"pcr1\",\"token\":\"" + digits + "\"}")),
            () -> refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson(digits)),
            () -> refused(Code.MALFORMED_RECORD, () -> new Reply(null, a, null, null, null, null, List.of(), null, null, false)),
            () -> refused(Code.MALFORMED_RECORD, () -> StoredDevice.fromJson("{\"a\":" + open)), () -> refused(Code.MALFORMED_REQUEST, () -> CertificateRequest.fromJson(open)),
            () -> refused(Code.MALFORMED_REFERENCE, () -> Reference.fromJson(url)),
            () -> refused(Code.MALFORMED_REFERENCE, () -> Fixtures.reference(new byte[32], "a.".repeat(1_000_000) + "a")),
            () -> refused(Code.INVALID_FIELD, () -> sealer.seal("{\"aps\":{\"alert\":\"a\",\"badge\":" + digits + "}}", PHONE)),
            () -> refused(Code.PAYLOAD_TOO_LARGE, () -> sealer.seal("{\"aps\":{\"alert\":\"" + a + "\"}}", PHONE)),
            () -> refused(Code.INVALID_PLACEHOLDER, () -> Placeholder.STANDARD.withTitle(a)), () -> refused(Code.INVALID_REQUEST, () -> Person.of(a)),
            () -> refused(Code.BODY_TOO_LONG, () -> sealer.sealFullBody(a, "https://a")));
        for (Executable call : calls) assertTimeoutPreemptively(Duration.ofSeconds(20), call);
    }

    @Test
    void payloadsAreKept() {
        DeviceKey key = DeviceKey.generate();
        String text = "{\"aps\":{\"alert\":\"A\"}, \"big\":123456789012345678901234567890,\"f\":1.0,\"e\":1E+2,\"pushcryptx\":1}";
        SealOptions options = SealOptions.builder().withdraws(List.of("b")).drop().person(Person.of("Anna")).build();
        OpenedPush opened = opened(sealer.seal(text, key.device(TOPIC), options), key);
        String own = ",\"pushcrypt\":{\"sender\":{\"name\":\"Anna\"},\"withdraw\":[\"b\"],\"drop\":true}}";
        assertEquals(text.replace(", ", ",").replaceFirst("}$", "") + own, opened.payload());
        assertFalse(opened.toString().contains("alert"));
    }

    private static OpenedPush opened(SealedPush push, DeviceKey key) {
        return new Phone(TOPIC, key, PROVIDER.publicKey()).open(push.json());
    }

    @Test
    void whatIsNotForThePhone() {
        DeviceKey key = DeviceKey.generate();
        ProviderKey stranger = ProviderKey.generate();
        Instant now = Instant.now();
        Phone phone = new Phone(TOPIC, key, PROVIDER.publicKey());
        String push = sealer.seal(PAYLOAD, key.device(TOPIC), SealOptions.builder().timeToLive(Duration.ofMinutes(1)).build()).json();
        int place = push.indexOf("ENCRYPTED_DATA") + 100;
        String changed = push.substring(0, place) + (push.charAt(place) == 'A' ? 'B' : 'A') + push.substring(place + 1);
        assertEquals(PAYLOAD, phone.open(push).payload());
        refused(Code.AUTHENTICATION_FAILED, () -> new Phone("b", key, PROVIDER.publicKey()).open(push));
        refused(Code.AUTHENTICATION_FAILED, () -> new Phone(TOPIC, key, stranger.publicKey()).open(push));
        refused(Code.AUTHENTICATION_FAILED, () -> phone.open(new Sealer(stranger, TOPIC).seal(PAYLOAD, key.device(TOPIC)).json()));
        refused(Code.AUTHENTICATION_FAILED, () -> phone.open(changed));
        refused(Code.UNKNOWN_RECIPIENT_KEY, () -> new Phone(TOPIC, DeviceKey.generate(), PROVIDER.publicKey()).open(push));
        refused(Code.WRONG_PUSH_CLASS, () -> phone.open(push, PushType.VOIP, now));
        refused(Code.EXPIRED, () -> phone.open(push, PushType.ALERT, now.plus(Duration.ofHours(23))));
        for (Instant wrong : List.of(now.plus(Duration.ofDays(2)), Instant.MAX, Instant.MIN, Instant.ofEpochMilli(now.getEpochSecond()), Instant.ofEpochSecond(now.toEpochMilli()))) {
            refused(Code.IMPLAUSIBLE_TIME, () -> phone.open(push, PushType.ALERT, wrong));
        }
        refused(Code.MALFORMED_ENVELOPE, () -> phone.open(PAYLOAD));
        refused(Code.MALFORMED_PAYLOAD, () -> phone.open("{"));
        refused(Code.WRONG_TOPIC, () -> new Phone("a b", key, PROVIDER.publicKey()));
        fault(() -> new Phone(TOPIC, null, PROVIDER.publicKey()));
    }

    @Test
    void files() {
        byte[] plain = "a photo".getBytes(StandardCharsets.UTF_8);
        SealedFile file = sealer.sealFile(plain, "https://files.example.com/a", "public.jpeg", "photo.jpg");
        byte[] key = Base64.getUrlDecoder().decode(file.reference().key()), sealed = Arrays.copyOfRange(file.bytes(), 5, file.bytes().length);
        assertEquals(file.reference().size(), file.bytes().length);
        assertArrayEquals(plain, FileStream.chunk(Cipher.DECRYPT_MODE, key, 0, true, sealed));
        refused(Code.MALFORMED_REFERENCE, () -> sealer.sealFile(plain, "http://a", "a.b", "a"));
        refused(Code.MALFORMED_FILE, () -> sealer.sealFullBody("", "https://a"));
        refused(Code.MALFORMED_FILE, () -> sealer.sealFullBody("\ufeffa", "https://a"));
        refused(Code.INVALID_REQUEST, () -> sealer.sealFullBody(HALF, "https://a"));
        fault(() -> sealer.sealFile(null, "https://a", "a.b", "a"));
        assertNotEquals(file.reference(), sealer.sealFile(plain, "https://files.example.com/a", "public.jpeg", "photo.jpg").reference());
        SealOptions options = SealOptions.builder().fullBody(sealer.sealFullBody("the whole text", "https://a").reference()).build();
        assertTrue(sealer.seal(PAYLOAD, PHONE, options).json().length() > 400);
    }

    @Test
    void secretsAreNotPrinted() {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) 0x5a);
        Reference reference = Fixtures.reference(key, "a.b");
        Object[] all = {reference, ProviderKey.of(key), DeviceKey.of(key), SigningKey.of(key), sealer, Sealer.builder(PROVIDER, "a")};
        String printed = Arrays.toString(all), text = ProviderKey.of(key).secretText();
        assertFalse(printed.contains(HexFormat.of().formatHex(key).substring(0, 8)) || printed.contains("WlpaWl") || printed.contains(text));
        byte[] own = DEVICE.bytes();
        own[0] ^= 1;
        assertFalse(Arrays.equals(own, DEVICE.bytes()));
    }

    @Test
    void valuesCompare() {
        byte[] key = new byte[32];
        Reference reference = Fixtures.reference(key, "public.png");
        assertEquals(ProviderKey.of(key), ProviderKey.of(key));
        assertNotEquals(ProviderKey.of(key), SigningKey.of(key));
        assertEquals(SigningKey.of(key), SigningKey.of(key));
        assertEquals(SigningKey.of(key).hashCode(), SigningKey.of(key).hashCode());
        assertEquals(reference, Reference.fromJson(reference.toJson()));
        assertEquals(new Person("a", "b", null, List.of(), reference), new Person("a", "b", null, List.of(), Reference.fromJson(reference.toJson())));
        assertEquals(DEVICE, DevicePublicKey.of(DEVICE.bytes()));
    }

    /** The words of public types are the format's. */
    @Test
    void formatData() {
        assertEquals(Format.CLEAR_FIELDS, Arrays.stream(Placeholder.ClearField.values()).map(Object::toString).toList());
    }
}

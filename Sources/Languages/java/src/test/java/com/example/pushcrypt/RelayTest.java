package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static com.example.pushcrypt.Fixtures.fault;
import static com.example.pushcrypt.Fixtures.refused;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import com.example.pushcrypt.internal.Envelope;

/** Requests to a relay: the vectors of relay.json, and what is refused. */
final class RelayTest {
    private static final String ORIGIN = "https://push.example.com", BODY = "{\"messages\":[{\"grant\":\"…\",\"data\":\"…\"}]}";
    private static final PushKey KEY = PushKey.of(new byte[32]);
    private static final RelayMessage MESSAGE = new RelayMessage("…", "…", null, null, 0, null, null, false);

    private static final StoredDevice WITH_GRANT = new StoredDevice(
        new DeviceRecord("phone1", Fixtures.DEVICE, List.of(1), Fixtures.TOPIC, 1, null, null, null, null, "00ff", "development", "g", null, null), null, false);

    @TestFactory
    Stream<DynamicTest> requests() {
        return Vectors.cases("relay.json", "requests", one -> {
            PushKey key = PushKey.of(Vectors.hex(one.get("seed")));
            String origin = (String) one.get("origin"), path = (String) one.get("path"), body = (String) one.get("body");
            long time = ((BigDecimal) one.get("time")).longValueExact();
            assertEquals(one.get("pushKey"), Envelope.encode(key.publicKey()));
            assertEquals(one.get("signature"), Envelope.encode(key.sign(RelayRequest.signed(origin, path, key.publicKey(), time, body))));
            if (path.equals("/v1/answers/take")) {
                RelayRequest request = RelayRequest.answers(origin, key, 25, List.of(), Instant.ofEpochMilli(time));
                assertEquals(List.of(origin + path, body, one.get("signature")), List.of(request.url(), request.body(), request.headers().get("pushcrypt-signature")));
            }
            if (!body.equals(BODY)) return;
            RelayRequest request = RelayRequest.sign(origin, key, List.of(MESSAGE), Instant.ofEpochMilli(time));
            assertEquals(List.of(origin + "/v1/push", BODY), List.of(request.url(), request.body()));
            assertFalse(request.toString().contains("grant"));
            assertEquals(one.get("signature"), request.headers().get("pushcrypt-signature"));
            assertEquals(one.get("time").toString(), request.headers().get("pushcrypt-time"));
        });
    }

    @TestFactory
    Stream<DynamicTest> answersThatAreDone() {
        return Vectors.cases("relay.json", "answers", one -> {
            RelayRequest request = RelayRequest.answers(ORIGIN, KEY, 0, List.of((String) one.get("answer")), Instant.now());
            assertEquals("{\"wait\":0,\"done\":[\"" + one.get("done") + "\"]}", request.body());
        });
    }

    @Test
    void aMessageIsMadeOfASealedPush() {
        Sealer sealer = Sealer.builder(Fixtures.PROVIDER, Fixtures.TOPIC).placeholder(Placeholder.STANDARD.withSound("default")).build();
        PushRequest request = sealer.request(sealer.seal("{\"aps\":{\"alert\":\"a\",\"content-available\":1}}", WITH_GRANT));
        RelayMessage message = RelayMessage.of(request);
        assertEquals(List.of("g", "alert", 10, "default"), List.of(message.grant(), message.kind(), message.priority(), message.sound()));
        assertTrue(message.contentAvailable());
        assertTrue(request.body().contains("\"" + message.data() + "\""));
        assertEquals(request.headers().get("apns-expiration"), Long.toString(message.expiration()));
        assertEquals(request.headers().get("apns-collapse-id"), message.collapseId());
        String json = "{\"grant\":\"g\",\"data\":\"" + message.data() + "\",\"kind\":\"alert\",\"priority\":10,\"expiration\":" + message.expiration()
            + ",\"collapse_id\":\"" + message.collapseId() + "\",\"sound\":\"default\",\"content_available\":true}";
        assertEquals(json, message.json());
        RelayMessage silent = RelayMessage.of(sealer.request(sealed(sealer, "{\"aps\":{\"content-available\":1}}", PushType.BACKGROUND)));
        assertEquals(List.of("background", 5, false), List.of(silent.kind(), silent.priority(), silent.contentAvailable()));
        assertNull(silent.sound());
        PushRequest call = sealer.request(sealed(sealer, "{\"aps\":{}}", PushType.VOIP));
        refused(Code.PUSH_TYPE_NOT_SEALABLE, () -> RelayMessage.of(call));
        PushRequest without = sealer.request(sealer.seal(Fixtures.PAYLOAD, Fixtures.PHONE));
        refused(Code.INVALID_REQUEST, () -> RelayMessage.of(without));
        assertEquals("https://api.sandbox.push.apple.com/3/device/00ff", request.url());
        assertEquals(List.of("00ff", "development", "g"), List.of(request.token(), request.environment(), request.grant()));
        assertNull(without.url());
        assertFalse(message.toString().contains("\"g\"") || request.toString().contains("00ff"));
    }

    private static SealedPush sealed(Sealer sealer, String payload, PushType type) {
        return sealer.seal(payload, WITH_GRANT, SealOptions.builder().pushType(type).build());
    }

    @Test
    void whatIsGivenIsChecked() {
        for (String wrong : List.of("", "push.example.com", ORIGIN + "/", "HTTPS://a", "https://a b", "ftp://a", "https://")) {
            refused(Code.INVALID_REQUEST, () -> RelayRequest.sign(wrong, KEY, List.of(MESSAGE)));
        }
        for (int count : List.of(0, 46)) refused(Code.INVALID_REQUEST, () -> RelayRequest.sign(ORIGIN, KEY, Collections.nCopies(count, MESSAGE)));
        assertEquals(4, RelayRequest.sign(ORIGIN, KEY, Collections.nCopies(45, MESSAGE)).headers().size());
        for (int wait : List.of(-1, 26)) refused(Code.INVALID_REQUEST, () -> RelayRequest.answers(ORIGIN, KEY, wait, List.of(), Instant.now()));
        refused(Code.INVALID_REQUEST, () -> RelayRequest.answers(ORIGIN, KEY, 0, Collections.nCopies(201, "A"), Instant.now()));
        refused(Code.INVALID_TIME, () -> RelayRequest.sign(ORIGIN, KEY, List.of(MESSAGE), Instant.ofEpochMilli(1L << 53)));
        fault(() -> PushKey.of(new byte[31]));
        fault(() -> RelayRequest.sign(ORIGIN, null, List.of(MESSAGE)));
        fault(() -> RelayRequest.sign(null, KEY, List.of(MESSAGE)));
        fault(() -> new RelayMessage(null, "", null, null, 0, null, null, false));
    }

    @Test
    void aKeyIsMadeAgainAndNotPrinted() {
        PushKey key = PushKey.generate();
        assertArrayEquals(key.publicKey(), PushKey.of(key.secretBytes()).publicKey());
        assertFalse(key.toString().contains(HexFormat.of().formatHex(key.secretBytes())));
    }
}

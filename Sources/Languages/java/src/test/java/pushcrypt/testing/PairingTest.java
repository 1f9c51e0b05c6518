package pushcrypt.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import pushcrypt.AcceptOptions;
import pushcrypt.Code;
import pushcrypt.DevicePublicKey;
import pushcrypt.DeviceRecord;
import pushcrypt.Pairing;
import pushcrypt.PairingRequest;
import pushcrypt.ProviderKey;
import pushcrypt.ProviderPublicKey;
import pushcrypt.PushcryptException;
import pushcrypt.Registration;
import pushcrypt.Reply;
import pushcrypt.Vectors;
import pushcrypt.internal.Envelope;
import pushcrypt.internal.PairingExchange;

/** Pairing: the vectors of pairing.json, and phones that pair with a server. */
final class PairingTest {
    private static final String TOPIC = "com.example.app", URL = "https://home.example.net/pair";
    private static final Instant TIME = Instant.ofEpochMilli(1_767_225_600_000L), END = TIME.plus(Duration.ofMinutes(10));
    private static final ProviderPublicKey PROVIDER = ProviderKey.generate().publicKey(), STRANGER = ProviderKey.generate().publicKey();
    private static final DevicePublicKey KEY = DeviceKey.generate().publicKey();
    private static final Pairing PAIRING = Pairing.create(PROVIDER, URL, TOPIC, TIME);
    private static final PairingCode CODE = PairingCode.parse(PAIRING.code(), TOPIC);
    private static final DeviceRecord RECORD = record("phone", KEY, null);
    private static final String REQUEST = CODE.request(RECORD);
    private static final Reply REPLY = reply(KEY, PROVIDER);

    private static DeviceRecord record(String device, DevicePublicKey key, String grant) {
        return new DeviceRecord(device, key, List.of(1), TOPIC, 1, null, null, null, null, null, null, null, grant);
    }

    private static Reply reply(DevicePublicKey key, ProviderPublicKey provider) {
        return new Reply(key, null, provider, null, List.of(1), List.of(), null, null);
    }

    private static void refused(Code code, Executable call) {
        assertEquals(code, assertThrows(PushcryptException.class, call).code());
    }

    /** What each of the packages stores. */
    private static String stored(Map<String, Object> one) {
        return "{\"secret\":\"" + Envelope.encode(Vectors.hex(one.get("secret"))) + "\",\"url\":\"" + one.get("url") + "\",\"topic\":\"" + one.get("topic")
            + "\",\"provider\":\"" + one.get("provider") + "\",\"created\":" + TIME.toEpochMilli() + "}";
    }

    private static byte[] bytes(Object text) {
        return Base64.getUrlDecoder().decode((String) text);
    }

    /** What the server of a stored pairing computes. */
    private static PairingExchange exchange(String json) {
        Map<String, Object> members = Vectors.parse(json);
        byte[] provider = ProviderPublicKey.parse((String) members.get("provider")).bytes();
        return new PairingExchange(bytes(members.get("secret")), (String) members.get("url"), (String) members.get("topic"), PairingExchange.fingerprint(provider));
    }

    @TestFactory
    Stream<DynamicTest> pairings() {
        return Vectors.cases("pairing.json", "pairings", one -> {
            String json = stored(one), request = (String) one.get("request"), reply = (String) one.get("reply"), replyRecord = (String) one.get("replyRecord");
            Pairing pairing = Pairing.fromJson(json);
            PairingCode code = PairingCode.parse((String) one.get("code"), (String) one.get("topic"));
            assertEquals(List.of(one.get("code"), one.get("id"), json, one.get("url")), List.of(pairing.code(), pairing.id(), pairing.toJson(), code.url()));
            assertEquals(request, code.seal((String) one.get("record"), Vectors.hex(one.get("salt"))));
            assertEquals(List.of(one.get("id"), one.get("id")), List.of(Pairing.idOf(request), Pairing.idOf(request + "\r\n")));
            assertEquals(reply, exchange(json).sealReply(bytes(request), replyRecord));
            Reply found = code.open(request, reply + "\n");
            assertEquals(Reply.fromJson(replyRecord), found);
            PairingRequest posted = pairing.open(request, TIME);
            assertNull(posted.answer());
            assertEquals("5d0f".repeat(8), posted.record().deviceId());
            PairingRequest.Sealed sealed = posted.seal(found);
            assertEquals(found, code.open(request, sealed.answer()));
            Map<String, Object> after = Vectors.parse(sealed.pairing().toJson());
            assertEquals(found.refused() == null ? found.toJson() : null, after.get("reply"));
            assertEquals(found.refused() == null ? "5d0f".repeat(8) : null, sealed.pairing().deviceId());
            assertEquals(sealed.pairing().toJson(), Pairing.fromJson(sealed.pairing().toJson()).toJson());
        });
    }

    @TestFactory
    Stream<DynamicTest> whatDoesNotOpen() {
        return Vectors.cases("pairing.json", "refused", one -> {
            Pairing pairing = Pairing.fromJson(stored(one));
            String request = (String) one.get("request"), reply = (String) one.get("reply");
            if ((boolean) one.get("requestOpens")) pairing.open(request, TIME);
            else refused(Code.AUTHENTICATION_FAILED, () -> pairing.open(request, TIME));
            refused(Code.AUTHENTICATION_FAILED, () -> PairingCode.parse(pairing.code(), (String) one.get("topic")).open(request, reply));
        });
    }

    @TestFactory
    Stream<DynamicTest> urls() {
        return Vectors.cases("pairing.json", "urls", one -> {
            String url = (String) one.get("url"), code = PAIRING.code().substring(0, 57) + url;
            if ((boolean) one.get("accepted")) {
                assertEquals(code.length(), Pairing.create(PROVIDER, url, TOPIC).code().length());
                assertEquals(url, PairingCode.parse(code, TOPIC).url());
            } else {
                refused(Code.INVALID_REQUEST, () -> Pairing.create(PROVIDER, url, TOPIC));
                refused(Code.INVALID_REQUEST, () -> PairingCode.parse(code, TOPIC));
            }
        });
    }

    @Test
    void aCodeIsForOnePhoneAndTenMinutes() {
        String text = PAIRING.code();
        assertTrue(text.matches("pushcrypt:1\\?[A-Za-z0-9_-]{44}&\\Q" + URL + "\\E"));
        assertNotEquals(text, Pairing.create(PROVIDER, URL, TOPIC).code());
        for (String wrong : List.of("", "pushcrypt:2" + text.substring(11), text.replace("&", "?"), "pushcrypt:1?Ag" + text.substring(14), text.substring(0, 20) + "é" + text.substring(21))) {
            refused(Code.INVALID_REQUEST, () -> PairingCode.parse(wrong, TOPIC));
        }
        assertEquals(END, PAIRING.end());
        assertEquals("phone", PAIRING.open(REQUEST, END.minusMillis(1)).record().deviceId());
        refused(Code.EXPIRED, () -> PAIRING.open(REQUEST, END));
        PairingRequest.Sealed sealed = PAIRING.open(REQUEST, END.minusSeconds(60)).seal(REPLY);
        Pairing claimed = Pairing.fromJson(sealed.pairing().toJson());
        PairingRequest again = claimed.open(REQUEST, END.plusSeconds(540).minusMillis(1));
        assertEquals(sealed.answer(), again.answer());
        assertEquals(new PairingRequest.Sealed(claimed, sealed.answer()), again.seal(Reply.refuse(new PushcryptException(Code.KEY_TAKEN))));
        refused(Code.EXPIRED, () -> claimed.open(REQUEST, END.plusSeconds(540)));
        // With a grant, in a new request, the phone gets the same record; what it sent is for accept.
        String second = CODE.request(record("phone", KEY, "g"));
        PairingRequest renewed = claimed.open(second, END);
        assertEquals("g", renewed.record().grant());
        assertNotEquals(sealed.answer(), renewed.answer());
        assertEquals(REPLY, CODE.open(second, renewed.answer()));
        for (DeviceRecord other : List.of(record("other", KEY, null), record("phone", DeviceKey.generate().publicKey(), null))) {
            String sent = CODE.request(other);
            PairingRequest used = claimed.open(sent, END);
            assertNull(used.record());
            assertEquals("pairing-used", CODE.open(sent, used.answer()).refused());
            assertEquals(new PairingRequest.Sealed(claimed, used.answer()), used.seal(REPLY));
        }
    }

    @Test
    void aRefusalLeavesTheCodeOpen() {
        PairingRequest posted = PAIRING.open(REQUEST, TIME);
        PairingRequest.Sealed refusal = posted.seal(Reply.refuse(new PushcryptException(Code.USER_MISMATCH)));
        assertEquals(PAIRING, refusal.pairing());
        assertEquals("user-mismatch", CODE.open(REQUEST, refusal.answer()).refused());
        assertNotEquals(refusal.answer().substring(0, 21), posted.seal(REPLY).answer().substring(0, 21), "two texts of one key");
        for (String text : List.of("", "{}", "[", RECORD.toJson().replace("\"device\"", "\"name\""))) {
            String sent = CODE.seal(text, new byte[16]);
            for (Pairing one : List.of(PAIRING, posted.seal(REPLY).pairing())) {
                assertNull(one.open(sent, TIME).record());
                assertEquals("malformed-record", CODE.open(sent, one.open(sent, TIME).answer()).refused());
            }
        }
        Reply accepted = Registration.accept(posted.record(), null, "alice", AcceptOptions.builder(PROVIDER, TOPIC).build()).reply();
        assertEquals(accepted, CODE.open(REQUEST, posted.seal(accepted).answer()));
        // What breaks [P-7] is not sealed, and what is sealed nevertheless not believed.
        for (Reply wrong : List.of(reply(KEY, null), reply(KEY, STRANGER), reply(DeviceKey.generate().publicKey(), PROVIDER))) {
            refused(Code.INVALID_REQUEST, () -> posted.seal(wrong));
            String sealed = exchange(PAIRING.toJson()).sealReply(bytes(REQUEST), wrong.toJson());
            if (!PROVIDER.equals(wrong.provider())) refused(Code.AUTHENTICATION_FAILED, () -> CODE.open(REQUEST, sealed));
        }
    }

    @Test
    void aChangedRequestIsNotFound() {
        byte[] data = bytes(REQUEST);
        for (int place = 0; place < data.length; place++) {
            byte[] changed = data.clone();
            changed[place] ^= 1;
            String text = Envelope.encode(changed), cut = Envelope.encode(Arrays.copyOf(data, place));
            refused(Code.AUTHENTICATION_FAILED, () -> PAIRING.open(text, TIME));
            assertEquals(place >= 8, Pairing.idOf(text).equals(PAIRING.id()));
            refused(place < 40 ? Code.MALFORMED_ENVELOPE : Code.AUTHENTICATION_FAILED, () -> PAIRING.open(cut, TIME));
        }
        String zeros = Envelope.encode(new byte[40]), tooLong = Envelope.encode(new byte[16_385]);
        for (String wrong : List.of(
            "", REQUEST + "=", " " + REQUEST, "\n" + REQUEST, REQUEST + "é", zeros.substring(0, zeros.length() - 1) + "B", tooLong, "\n".repeat(10_000_000) + "a")) {
            refused(Code.MALFORMED_ENVELOPE, () -> PAIRING.open(wrong, TIME));
        }
        byte[] twice = Arrays.copyOf(data, 2 * data.length);
        System.arraycopy(data, 0, twice, data.length, data.length);
        for (byte[] wrong : List.of(twice, Arrays.copyOf(data, 16_384))) refused(Code.AUTHENTICATION_FAILED, () -> PAIRING.open(Envelope.encode(wrong), TIME));
        refused(Code.AUTHENTICATION_FAILED, () -> Pairing.create(PROVIDER, URL, TOPIC, TIME).open(REQUEST, TIME));
    }

    @Test
    void whatIsStoredIsCheckedAndNotPrinted() {
        String json = PAIRING.toJson(), secret = json.substring(11, 33), claim = ",\"claimed\":1,\"device\":\"a\",\"reply\":\"{}\"}";
        PairingRequest request = PAIRING.open(REQUEST, TIME);
        for (Object one : List.of(PAIRING, request, request.seal(REPLY))) assertFalse(one.toString().contains(secret.substring(0, 8)));
        for (String wrong : List.of(
            json.replace(secret, "a"), json.replace("\"secret\"", "\"other\""), json.replace("https:", "http:"), json.replace(TOPIC, "a b"), json.replace("\"created\":", "\"created\":-"),
            json.replace("\"provider\"", "\"other\""), json.replace("}", ",\"claimed\":1}"), json.replace("}", ",\"reply\":\"{}\"}"), json.replace("}", claim))) {
            refused(Code.MALFORMED_RECORD, () -> Pairing.fromJson(wrong));
        }
        refused(Code.WRONG_TOPIC, () -> Pairing.create(PROVIDER, URL, "a b"));
        refused(Code.INVALID_TIME, () -> Pairing.create(PROVIDER, URL, TOPIC, Instant.ofEpochMilli(1L << 53)));
        assertThrows(NullPointerException.class, () -> Pairing.create(null, URL, TOPIC));
        assertThrows(NullPointerException.class, () -> PAIRING.open(null));
    }
}

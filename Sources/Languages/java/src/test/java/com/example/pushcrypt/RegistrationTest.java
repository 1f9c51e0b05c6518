package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static com.example.pushcrypt.Fixtures.DEVICE;
import static com.example.pushcrypt.Fixtures.PROVIDER;
import static com.example.pushcrypt.Fixtures.TOPIC;
import static com.example.pushcrypt.Fixtures.fault;
import static com.example.pushcrypt.Fixtures.refused;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import com.example.pushcrypt.Fixtures.Table;
import com.example.pushcrypt.internal.Envelope;
import com.example.pushcrypt.internal.Format;
import com.example.pushcrypt.testing.DeviceKey;

/** What phones register, and what a provider keeps of them. */
final class RegistrationTest {
    private static final ProviderPublicKey OWN = PROVIDER.publicKey();
    private static final DeviceRecord FULL = new DeviceRecord(
        "phone1", DEVICE, List.of(1), TOPIC, 2, 5L, OWN, null, "1.0", "00ff", "production", "grant-word", key(8), 7L);

    private static String key(int seed) {
        return Envelope.encode(SigningKey.of(Arrays.copyOf(new byte[] {(byte) seed}, 32)).publicKey);
    }

    private static AcceptOptions options(Consumer<AcceptOptions.Builder> change) {
        AcceptOptions.Builder options = AcceptOptions.builder(OWN, TOPIC);
        change.accept(options);
        return options.build();
    }

    private static Accepted accept(DeviceRecord record, StoredDevice held, String user) {
        return accept(record, held, user, options -> {});
    }

    private static Accepted accept(DeviceRecord record, StoredDevice held, String user, Consumer<AcceptOptions.Builder> change, StoredDevice... others) {
        Table table = Table.of(others);
        if (held != null) table.rows().put(held.deviceId(), held);
        return Registration.accept(record, table, user, options(options -> change.accept(options.deviceId("phone1"))));
    }

    private static StoredDevice stored(DevicePublicKey key, String topic, String user) {
        return new StoredDevice(DeviceRecord.of(key, topic, 1).withDeviceId("phone1"), user, false);
    }

    private static DeviceRecord record(DevicePublicKey key, long generation) {
        return DeviceRecord.of(key, TOPIC, generation).withDeviceId("phone1");
    }

    /** The first registration, another key, and what a later record does not say. */
    @Test
    void whatARecordLacksStays() {
        StoredDevice first = accept(FULL, null, "alice").device();
        assertEquals(new StoredDevice(FULL, "alice", false), first);
        DevicePublicKey next = DeviceKey.generate().publicKey();
        DeviceRecord bare = new DeviceRecord(null, next, List.of(1), null, 3, null, null, null, null, null, null, null, null, null);
        StoredDevice second = accept(bare, StoredDevice.fromJson(first.toJson()), "alice").device();
        assertEquals("phone1", second.record().deviceId());
        assertEquals(next, second.publicKey());
        assertEquals("alice", second.user());
        assertEquals(TOPIC, second.topic());
        assertEquals("00ff", second.token());
        assertEquals("production", second.record().environment());
        assertEquals("1.0", second.record().appVersion());
        assertEquals(List.of(key(8), 7L), List.of(second.record().updateKey(), second.record().sequence()));
        assertNull(second.record().created(), "the time of another key");
        assertEquals(3, second.record().generation());
        // A session without a user keeps the owner, with the same key alone.
        assertEquals("alice", accept(bare, second, null).device().user());
        refused(Code.USER_MISMATCH, () -> accept(record(DEVICE, 4), second, null));
        refused(Code.USER_MISMATCH, () -> accept(bare, second, "bob"));
        refused(Code.STALE_RECORD, () -> accept(FULL, second, "alice"));
        refused(Code.GENERATION_ROLLBACK, () -> accept(record(DEVICE, 2), second, "alice"));
        refused(Code.GENERATION_TOO_HIGH, () -> accept(record(DEVICE, 3 + 1025), second, "alice"));
        assertEquals(1027, accept(record(DEVICE, 3 + 1024), second, "alice").device().record().generation());
        assertEquals("00", accept(new DeviceRecord(null, next, List.of(1), null, 3, null, null, null, null, "00", null, null, null, null), second, "alice").device().token());
        assertNull(second.withoutToken().token());
        // An environment is of the token beside it.
        assertEquals("production", accept(record(next, 3).withToken(null, "development"), second, "alice").device().record().environment());
        assertEquals("development", accept(record(next, 3).withToken("00", "development"), second, "alice").device().record().environment());
        assertNull(accept(record(next, 3).withToken(null, "development"), null, "alice").device().record().environment());
    }

    @Test
    void anotherAppIsRefused() {
        refused(Code.TOPIC_MISMATCH, () -> accept(DeviceRecord.of(DEVICE, "com.example.other", 1), null, null));
        StoredDevice held = stored(DEVICE, "com.example.other", null);
        refused(Code.TOPIC_MISMATCH, () -> accept(DeviceRecord.of(DEVICE, TOPIC, 1), held, null));
        assertEquals(TOPIC, accept(DeviceRecord.of(DEVICE, TOPIC, 1), held, null, AcceptOptions.Builder::replace).device().topic());
    }

    /** [D-32] */
    @Test
    void aKeyAndATokenAreOfOneDevice() {
        DeviceRecord record = record(DEVICE, 1).withToken("00ff", null);
        StoredDevice other = new StoredDevice(FULL.withDeviceId("phone2").withToken(null, null), "alice", false), token = new StoredDevice(
            DeviceRecord.of(DeviceKey.generate().publicKey(), TOPIC, 1).withDeviceId("phone2").withToken("00ff", "production"), "alice", false);
        Accepted accepted = accept(record, null, "alice", options -> {}, other);
        assertEquals(List.of(accepted.device(), other.ended(7L)), accepted.changes());
        assertTrue(accepted.warnings().get(0).contains("environment"));
        assertEquals("production", accepted.device().record().environment());
        for (String user : new String[] {"bob", null}) {
            refused(Code.KEY_TAKEN, () -> accept(record, null, user, options -> {}, other));
            assertEquals(1, accept(record, null, user, options -> {}, other.removed()).changes().size());
        }
        StoredDevice nobodys = new StoredDevice(other.record(), null, false);
        refused(Code.KEY_TAKEN, () -> accept(record, null, null, options -> {}, nobodys));
        assertEquals("phone2", accept(record, null, "alice", options -> {}, token).changes().get(1).deviceId());
        assertEquals(1, accept(record, null, "bob", options -> {}, token).changes().size());
        assertEquals(1, accept(record, null, "alice", options -> {}, token.removed()).changes().size());
    }

    /** A look-up that is wrong gives one phone what is another's. */
    @Test
    void onePhoneDoesNotGetWhatIsAnothers() {
        StoredDevice other = new StoredDevice(DeviceRecord.of(DeviceKey.generate().publicKey(), TOPIC, 1).withDeviceId("phone2").withToken("beef", null), "alice", false);
        for (StoredDevice[] wrong : new StoredDevice[][] {{other, null}, {null, other}}) {
            Devices devices = new Devices() {
                @Override
                public StoredDevice find(String deviceId) {
                    return wrong[0];
                }

                @Override
                public List<StoredDevice> holders(DevicePublicKey key, String token) {
                    return wrong[1] == null ? List.of() : List.of(wrong[1]);
                }
            };
            fault(() -> Registration.accept(record(DEVICE, 1), devices, "alice", options(options -> {})));
        }
        fault(() -> Registration.accept(record(DEVICE, 1), null, "alice", options(options -> {})));
        fault(() -> Registration.accept(record(DEVICE, 1), Table.of(), "alice", null));
        fault(() -> Registration.accept(null, Table.of(), "alice", options(options -> {})));
        refused(Code.MALFORMED_RECORD, () -> Registration.accept(DeviceRecord.of(DEVICE, TOPIC, 1), Table.of(), "alice", options(options -> {})));
        fault(() -> options(options -> options.deviceId("")));
        fault(() -> DeviceRecord.of(DEVICE, TOPIC, -5));
    }

    /** [D-38] */
    @Test
    void aRemovedDeviceIsRemembered() {
        StoredDevice removed = StoredDevice.fromJson(new StoredDevice(FULL, "alice", false).removed().toJson());
        assertTrue(removed.isRemoved());
        assertNull(removed.token());
        long now = System.currentTimeMillis(), day = Duration.ofDays(1).toMillis(), sequence = removed.record().sequence();
        assertTrue(now + day - 60_000 < sequence && sequence <= now + day);
        assertEquals(key(8), removed.record().updateKey());
        refused(Code.USER_MISMATCH, () -> accept(FULL, removed, "bob"));
        PushcryptException stale = refused(Code.STALE_RECORD, () -> accept(FULL, removed, "alice"));
        assertEquals("{\"version\":1,\"refused\":\"stale-record\",\"sequence\":" + sequence + "}", Reply.refusal(stale).toJson());
        refused(Code.GENERATION_ROLLBACK, () -> accept(record(DEVICE, 1), removed, "alice"));
        StoredDevice back = accept(record(DEVICE, 2), removed, "alice").device();
        assertFalse(back.isRemoved());
        assertNull(back.record().grant());
        assertEquals(List.of(key(8), sequence), List.of(back.record().updateKey(), back.record().sequence()));
        DeviceRecord later = new DeviceRecord("phone1", DEVICE, List.of(1), null, 2, null, null, null, null, null, null, null, key(9), 2 * now);
        back = accept(later, removed, "alice").device();
        assertEquals(List.of(key(9), 2 * now), List.of(back.record().updateKey(), back.record().sequence()));
        assertEquals(2 * now, back.removed().record().sequence());
        StoredDevice ofAnotherApp = stored(DEVICE, "a", "alice").removed();
        assertEquals(TOPIC, accept(record(DEVICE, 2), ofAnotherApp, "alice").device().topic());
        StoredDevice again = accept(record(DeviceKey.generate().publicKey(), 1), removed, "bob", AcceptOptions.Builder::replace).device();
        assertEquals("bob", again.user());
        assertNull(again.record().updateKey(), "what proved the device before");
        StoredDevice ended = new StoredDevice(FULL, "alice", false).ended(Format.LARGEST_TIME);
        assertNull(accept(record(DEVICE, 2), StoredDevice.fromJson(ended.toJson()), "alice").device().record().sequence());
    }

    /** [D-15], [D-23] to [D-26] */
    @Test
    @SuppressWarnings("unchecked")
    void aPhoneEndsItsDevice() {
        List<Map<String, Object>> records = (List<Map<String, Object>>) Vectors.read("signed.json").get("records");
        Map<String, Object> end = records.get(records.size() - 1);
        assertEquals("an end", end.get("name"));
        String record = (String) end.get("record");
        byte[] signature = Envelope.decode((String) end.get("signature"), Code.MALFORMED_RECORD);
        String updateKey = Envelope.encode(SigningKey.of(Vectors.hex(end.get("updateSeed"))).publicKey);
        Function<String, StoredDevice> topic = app -> new StoredDevice(new DeviceRecord(
            "5d0f9c1e", DEVICE, List.of(1), app, 2, 5L, OWN, null, null, "00ff", "production", "g", updateKey, 7L), "alice", false);
        BiFunction<String, StoredDevice, Accepted> say = (text, held) ->
            Registration.acceptEnd(text.getBytes(StandardCharsets.UTF_8), signature, Table.of(held), options(options -> {}));
        StoredDevice held = topic.apply(TOPIC);
        Accepted accepted = say.apply(record, held);
        assertEquals("{\"version\":1,\"ended\":\"5d0f9c1e\",\"provider\":\"" + OWN + "\"}", accepted.reply().toJson());
        StoredDevice removed = accepted.device();
        assertEquals(List.of(held.ended((1L << 53) - 1)), accepted.changes());
        assertTrue(removed.isRemoved());

        for (StoredDevice unknown : Arrays.asList(null, removed)) refused(Code.UNKNOWN_DEVICE, () -> say.apply(record, unknown));
        StoredDevice otherKey = new StoredDevice(FULL.withDeviceId("5d0f9c1e"), "alice", false), noKey = new StoredDevice(record(DEVICE, 1).withDeviceId("5d0f9c1e"), null, false);
        for (StoredDevice other : List.of(otherKey, noKey, topic.apply("com.example.other"))) refused(Code.BAD_RECORD_SIGNATURE, () -> say.apply(record, other));
        refused(Code.BAD_RECORD_SIGNATURE, () -> say.apply(record + " ", held));
        refused(Code.STALE_RECORD, () -> say.apply(record, new StoredDevice(removed.record(), "alice", false)));
        for (String member : List.of("device", "provider", "nonce", "sequence")) refused(Code.MALFORMED_RECORD, () -> say.apply(record.replaceFirst(member, "x"), held));
        for (String other : List.of("{\"ended\":false}", "{\"device\":\"5d0f9c1e\"}")) assertNull(say.apply(other, held));
        // Only the operator brings the device back.
        DeviceRecord later = new DeviceRecord("5d0f9c1e", DEVICE, List.of(1), null, 2, null, null, null, null, null, null, null, updateKey, (1L << 53) - 2);
        refused(Code.STALE_RECORD, () -> accept(later, removed, "alice"));
    }

    /** [D-33] */
    @Test
    void aGrantThatTheRelayEnded() {
        StoredDevice first = new StoredDevice(FULL, "alice", false), held = StoredDevice.fromJson(first.withoutGrant("grant-word").toJson());
        assertEquals(first, first.withoutGrant("an earlier one"));
        assertNull(held.record().grant());
        assertEquals("grant-word", held.withoutToken().endedGrant());
        for (String grant : Arrays.asList(null, "grant-word", "new")) {
            Accepted accepted = accept(new DeviceRecord(null, DEVICE, List.of(1), null, 2, null, null, null, null, null, null, grant, null, null), held, "alice");
            boolean isNew = "new".equals(grant);
            assertEquals("grant-word".equals(grant), accepted.reply().toJson().contains("\"grant\":\"ended\""));
            assertEquals(isNew ? grant : null, accepted.device().record().grant());
            assertEquals(isNew ? null : "grant-word", accepted.device().endedGrant());
        }
    }

    /** [D-22] */
    @Test
    void aUsersSessionTakesNoDeviceOfNobody() {
        StoredDevice held = new StoredDevice(FULL, null, false);
        for (StoredDevice nobodys : List.of(held, held.removed())) refused(Code.USER_MISMATCH, () -> accept(FULL, nobodys, "alice"));
        assertEquals("alice", accept(FULL, held, "alice", AcceptOptions.Builder::replace).device().user());
    }

    /** [D-13], [D-14], [D-15], [D-20] */
    @Test
    void membersOfPosts() {
        String good = FULL.toJson().replace("}", ",\"nonce\":\"" + "A".repeat(22) + "\"}");
        assertEquals(FULL, DeviceRecord.fromJson(good));
        for (String wrong : List.of("\"sequence\":0", "\"sequence\":9007199254740991", "\"sequence\":\"7\"")) {
            refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson(good.replace("\"sequence\":7", wrong)));
        }
        for (String wrong : List.of(",\"ended\":true}", ",\"ended\":false}")) refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson(good.replace("}", wrong)));
        for (String wrong : List.of("A".repeat(21), "A".repeat(21) + "B")) refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson(good.replace("A".repeat(22), wrong)));
        refused(Code.MALFORMED_KEY, () -> DeviceRecord.fromJson(good.replace(key(8), "")));
        refused(Code.WEAK_KEY, () -> DeviceRecord.fromJson(good.replace(key(8), "A".repeat(43))));
        "\0\u009f\u00ad\u2028\u206f\udb40\udc7f".codePoints().forEach(invisible ->
            refused(Code.MALFORMED_RECORD, () -> record(DEVICE, 1).withDeviceId("a" + Character.toString(invisible)).toJson()));
    }

    /** [D-35], [D-37], [D-36] */
    @Test
    void foreignPinsAndStaleStores() {
        Credential first = CertificatePlan.FIRST.issue(PROVIDER, TOPIC), second = CertificatePlan.after(first.certificate()).issue(PROVIDER, TOPIC);
        ProviderPublicKey other = ProviderKey.generate().publicKey();
        DeviceRecord foreign = new DeviceRecord(null, DEVICE, List.of(1), null, 1, null, other, second.certificate(), null, null, null, null, null, null);
        Accepted accepted = accept(foreign, null, null, options -> options.certificate(first.certificate()).issued(List.of(first.certificate())));
        assertEquals(List.of("provider"), accepted.foreign());
        assertEquals(List.of("provider"), accepted.reply().foreign());
        assertEquals(second.certificate(), accepted.staleStore());
        assertEquals(first.certificate(), accepted.reply().certificate());
        assertEquals(OWN, accepted.reply().provider());
        assertEquals(2, accepted.warnings().size());
        Accepted known = accept(foreign, null, null, options -> options.ownKeys(List.of(other))
            .certificate(first.certificate()).issued(List.of(first.certificate(), second.certificate())));
        assertEquals(List.of(), known.foreign());
        assertNull(known.staleStore());
        // Without the issued ones it is not known at epoch 1; at epoch 0 every certificate is one too many.
        assertNull(accept(foreign, null, null, options -> options.certificate(first.certificate())).staleStore());
        assertEquals(second.certificate(), accept(foreign, null, null).staleStore());
        // Those of another key are ignored.
        assertNull(Registration.accept(foreign, Table.of(), null, AcceptOptions.builder(other, TOPIC).deviceId("a").build()).staleStore());
        // What a stale store has issued next ends all earlier keys at once.
        Credential next = CertificatePlan.after(first.certificate()).withProven(accepted.staleStore()).issue(PROVIDER, TOPIC);
        assertTrue(next.certificate().epoch() > second.certificate().epoch());
        assertEquals(next.certificate().epoch(), next.certificate().floor());
        assertNull(accept(foreign, null, null, options -> options.certificate(next.certificate()).issued(List.of())).staleStore());
        byte[] pushKey = SigningKey.generate().publicKey;
        Reply reply = accept(foreign, null, null, options -> options.pushKey(pushKey)).reply();
        assertTrue(reply.toJson().contains("\"push_key\":\"" + reply.pushKey() + "\""));
        refused(Code.WEAK_KEY, () -> options(options -> options.pushKey(new byte[32])));
    }

    /** Suite 2, by [D-3], [D-7], [D-20], [D-29] and [D-30]. */
    @TestFactory
    Stream<DynamicTest> suite2() {
        return Vectors.kit("suite-2-keys", test -> {
            test.all("kind");
            test.all("bytes");
            test.all("key-id");
            test.all("public-key");
            if (!test.name.equals("the-phones-public-key")) return;
            DevicePublicKey key = DevicePublicKey.parse(test.text());
            StoredDevice held = stored(key, TOPIC, "alice");
            refused(Code.UNSUPPORTED_SUITE, () -> accept(DeviceRecord.of(key, TOPIC, 1), null, null));
            refused(Code.UNSUPPORTED_SUITE, () -> accept(DeviceRecord.of(key, TOPIC, 1), held.removed(), "alice"));
            refused(Code.USER_MISMATCH, () -> accept(DeviceRecord.of(key, TOPIC, 2), held, "bob"));
            refused(Code.TOPIC_MISMATCH, () -> accept(DeviceRecord.of(key, "a", 1), held, "alice"));
            assertEquals(key, accept(DeviceRecord.of(key, TOPIC, 1), held, "alice").device().publicKey());
            refused(Code.SUITE_DOWNGRADE, () -> accept(DeviceRecord.of(DEVICE, TOPIC, 2), held, "alice"));
            assertEquals(DEVICE, accept(DeviceRecord.of(DEVICE, TOPIC, 1), held, "alice", AcceptOptions.Builder::replace).device().publicKey());
            String members = "{\"public_key\":\"" + key + "\",";
            for (String wrong : List.of("\"suite\":1}", "\"suites\":[1]}", "\"key_id\":\"0be3735e\"}", "\"suite\":2,\"provider\":7}")) {
                refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson(members + wrong));
            }
            assertEquals(List.of(1, 2), DeviceRecord.fromJson(members + "\"suite\":2,\"suites\":[1,2]}").suites());
            refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson("{\"public_key\":\"" + DEVICE + "\",\"suite\":2}"));
            refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson("{\"public_key\":\"" + DEVICE + "\",\"device\":\"pcrx1abc\"}"));
            refused(Code.UNSUPPORTED_SUITE, () -> new Sealer(PROVIDER, TOPIC).seal(Fixtures.PAYLOAD, held));
            for (String suites : List.of("[]", "[2,1]", "\"1\"", "[1,256]", "[1.0]", "[true]")) {
                refused(Code.MALFORMED_RECORD, () -> DeviceRecord.fromJson("{\"public_key\":\"" + DEVICE + "\",\"suites\":" + suites + "}"));
            }
        });
    }

    @Test
    void repliesAndRecords() {
        assertEquals(FULL, DeviceRecord.fromJson(FULL.toJson()));
        assertEquals(FULL, DeviceRecord.fromJson(FULL.toJson().getBytes(StandardCharsets.UTF_8)));
        assertFalse(FULL.toString().contains("grant-word"));
        assertFalse(new StoredDevice(FULL, "alice", false).toString().contains("grant-word"));
        for (String id : List.of(" ", "a\u200b")) refused(Code.MALFORMED_RECORD, () -> record(DEVICE, 1).withDeviceId(id).toJson());
        refused(Code.MALFORMED_RECORD, () -> FULL.withToken("a", null).toJson());
        refused(Code.MALFORMED_RECORD, () -> new Reply(DEVICE, "key-taken", null, null, null, null, List.of(), null, null, false));
        for (String reason : Arrays.asList(null, "A", "")) refused(Code.MALFORMED_RECORD, () -> new Reply(null, reason, null, null, null, null, List.of(), null, null, false));
        refused(Code.MALFORMED_RECORD, () -> new Reply(DEVICE, null, null, null, null, null, Collections.nCopies(17, "provider"), null, null, false));
        refused(Code.MALFORMED_KEY, () -> new Reply(DEVICE, null, null, null, null, null, List.of(), "A", null, false));
        refused(Code.WEAK_KEY, () -> new Reply(DEVICE, null, null, null, null, null, List.of(), null, "A".repeat(43), false));
        fault(() -> new StoredDevice(FULL, "", false));
        fault(() -> new StoredDevice(DeviceRecord.of(DEVICE, TOPIC, 1), "alice", false));
        fault(() -> new StoredDevice(record(DEVICE, 1).withDeviceId(null), null, false));
        refused(Code.MALFORMED_RECORD, () -> StoredDevice.fromJson(DeviceRecord.of(DEVICE, TOPIC, 1).toJson()));
        fault(() -> accept(FULL, null, ""));
        refused(Code.MALFORMED_RECORD, () -> StoredDevice.fromJson(FULL.toJson().replaceFirst("\\{", "{\"user\":\"\",")));
        refused(Code.MALFORMED_RECORD, () -> StoredDevice.fromJson(FULL.toJson().replaceFirst("\\{", "{\"removed\":1,")));
        PushcryptException mismatch = assertThrows(PushcryptException.class, () -> accept(FULL, new StoredDevice(FULL, "alice", false), "bob"));
        Certificate certificate = CertificatePlan.FIRST.issue(PROVIDER, TOPIC).certificate();
        Reply refusal = Reply.refusal(mismatch, certificate);
        assertEquals("user-mismatch", refusal.refused());
        assertEquals(certificate, refusal.certificate(), "a refusal has it too [D-37]");
        assertEquals("{\"version\":1,\"refused\":\"user-mismatch\"}", Reply.refusal(mismatch).toJson());
        Reply reply = accept(FULL, null, "alice").reply();
        assertEquals(List.of(DEVICE, OWN), List.of(reply.acknowledged(), reply.provider()));
        fault(() -> new Reply(DEVICE, null, null, null, null, null, null, null, null, false));
    }
}

package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import com.example.pushcrypt.internal.Bytes;
import com.example.pushcrypt.internal.Envelope;
import com.example.pushcrypt.testing.DeviceKey;

/** The one table of all that decide about a record, accept.json: the packages, and the command. */
final class AcceptTest {
    private static final DevicePublicKey FIRST = key(1), SECOND = key(2);
    private static final Map<String, DevicePublicKey> KEYS = Map.of("1A", FIRST, "1B", SECOND, "2Q", later(FIRST), "2R", later(SECOND));

    private static DevicePublicKey key(int seed) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) seed);
        return DeviceKey.of(bytes).publicKey();
    }

    private static DevicePublicKey later(DevicePublicKey key) {
        return DevicePublicKey.of(Bytes.concat(new byte[1184], key.bytes()));
    }

    private static String text(Map<?, ?> row, String name, String other) {
        return row.get(name) == null ? other : (String) row.get(name);
    }

    private static Long number(Map<?, ?> row, String name, Long other) {
        return row.get(name) == null ? other : Long.valueOf(((BigDecimal) row.get(name)).longValueExact());
    }

    private static String updateKey(Map<?, ?> row) {
        Object name = row.get("update_key");
        return name == null ? null : Envelope.encode(SigningKey.of(Arrays.copyOf(new byte[] {(byte) ((String) name).charAt(0)}, 32)).publicKey);
    }

    /** A row as a record. What is never compared is left out. */
    private static DeviceRecord record(Map<?, ?> row, String topic, boolean isRemoved) {
        DevicePublicKey key = KEYS.get(text(row, "key", "1A"));
        String token = isRemoved ? null : text(row, "token", null);
        return new DeviceRecord(
            text(row, "id", "d"), key, List.of(key.suite()), text(row, "topic", topic), number(row, "generation", 1L), isRemoved ? null : number(row, "created", 100L), null,
            null, null, token, token == null ? null : "production", null, updateKey(row), number(row, "sequence", null));
    }

    private static StoredDevice device(Map<?, ?> row, String topic) {
        boolean isRemoved = row.get("removed") != null;
        return new StoredDevice(record(row, topic, isRemoved), text(row, "user", null), isRemoved);
    }

    private static String shown(StoredDevice device) {
        DeviceRecord own = device.record();
        return List.of(own.deviceId(), own.publicKey(), own.topic(), own.generation(), "" + (device.isRemoved() ? null : own.created()), "" + own.token(), "" + own.updateKey(),
            "" + own.sequence(), "" + device.user(), device.isRemoved()).toString();
    }

    private static List<?> list(Object value) {
        return value == null ? List.of() : (List<?>) value;
    }

    @Test
    void cases() {
        int count = 0;
        List<String> failures = new ArrayList<>();
        for (Object one : list(Vectors.read("accept.json").get("cases"))) {
            Map<?, ?> test = (Map<?, ?>) one, record = test.get("record") == null ? Map.of() : (Map<?, ?>) test.get("record");
            boolean isPost = "session".equals(record.get("way")) && record.get("update_key").equals(record.get("signed"));
            if (!isPost && !"bare".equals(record.get("way")) || number(test, "suite", 1L) == 2) continue;
            count++;
            Map<?, ?> held = test.get("held") == null ? null : (Map<?, ?>) test.get("held");
            String topic = text(record, "topic", held == null ? Fixtures.TOPIC : text(held, "topic", Fixtures.TOPIC)), expected = (String) test.get("expect"), found;
            Map<String, StoredDevice> rows = new HashMap<>();
            for (Object row : list(test.get("holders"))) rows.put(device((Map<?, ?>) row, topic).deviceId(), device((Map<?, ?>) row, topic));
            if (held != null) rows.put(device(held, topic).deviceId(), device(held, topic));
            AcceptOptions.Builder options = AcceptOptions.builder(Fixtures.PROVIDER.publicKey(), topic);
            if (Boolean.TRUE.equals(record.get("replace"))) options.replace();
            DeviceRecord sent = DeviceRecord.fromJson(record(record, null, false).toJson());
            try {
                List<StoredDevice> changes = Registration.accept(sent, new Fixtures.Table(rows), text(record, "user", null), options.build()).changes();
                found = changes.stream().map(AcceptTest::shown).sorted().toList().toString();
                if (!List.of("added", "updated", "unchanged").contains(expected)) failures.add(test.get("name") + ": accepted, and not " + expected);
            } catch (PushcryptException refused) {
                found = refused.code().toString();
                if (test.get("after") == null && found.equals(expected)) continue;
            }
            String after = list(test.get("after")).stream().map(row -> shown(device((Map<?, ?>) row, topic))).sorted().toList().toString();
            if (!found.equals(after)) failures.add(test.get("name") + ": " + found + ", and not " + after);
        }
        assertEquals(List.of(), failures);
        assertTrue(count > 45);
    }
}

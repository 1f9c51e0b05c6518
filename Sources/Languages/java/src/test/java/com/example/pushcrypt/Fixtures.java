package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.function.Executable;
import com.example.pushcrypt.internal.Times;

/** What several test classes share. */
final class Fixtures {
    static final String HALF = "\ud800", TOPIC = "com.example.app", PAYLOAD = "{\"aps\":{\"alert\":\"a\",\"sound\":\"b\"}}";
    static final ProviderKey PROVIDER = ProviderKey.parse(Vectors.PROVIDER_SECRET);
    static final DevicePublicKey DEVICE = DevicePublicKey.parse("pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx");

    /** The device with the key, as it is stored. */
    static final StoredDevice PHONE = stored(DEVICE, TOPIC);

    /** A provider's devices. */
    record Table(Map<String, StoredDevice> rows) implements Devices {
        static Table of(StoredDevice... held) {
            Map<String, StoredDevice> rows = new LinkedHashMap<>();
            for (StoredDevice one : held) if (one != null) rows.put(one.deviceId(), one);
            return new Table(rows);
        }

        @Override
        public StoredDevice find(String deviceId) {
            return rows.get(deviceId);
        }

        @Override
        public List<StoredDevice> holders(DevicePublicKey key, String token) {
            return rows.values().stream().filter(one -> one.publicKey().equals(key) || token != null && token.equals(one.token())).toList();
        }
    }

    private Fixtures() {}

    static StoredDevice stored(DevicePublicKey key, String topic) {
        return new StoredDevice(DeviceRecord.of(key, topic, 1).withDeviceId("phone1"), null, false);
    }

    /** Runs at a time of the package's clock. */
    static <T> T at(Instant time, Supplier<T> call) {
        Times.clock = Clock.fixed(time, ZoneOffset.UTC);
        try {
            return call.get();
        } finally {
            Times.clock = Clock.systemUTC();
        }
    }

    /** The call is refused with the code, and says something that quotes none of the secrets of these tests. */
    static PushcryptException refused(Code code, Executable call) {
        PushcryptException refused = assertThrows(PushcryptException.class, call);
        assertEquals(code, refused.code());
        assertTrue(refused.getMessage().startsWith(code + ": ") && refused.getMessage().endsWith("(" + refused.url() + ")"));
        assertTrue(refused.url().endsWith("Codes.md#" + code));
        assertFalse(refused.getMessage().contains(HALF) || refused.getMessage().length() > 500);
        assertEquals(code.isRetryable(), refused.isRetryable());
        return refused;
    }

    /** The call is a fault of the program. */
    static void fault(Executable call) {
        Throwable thrown = assertThrows(RuntimeException.class, call);
        assertEquals(true, thrown instanceof NullPointerException || thrown instanceof IllegalArgumentException, () -> thrown.toString());
    }

    static Reference reference(byte[] key, String type) {
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(key);
        return new Reference("https://a", text, 22, text, type, "a");
    }
}

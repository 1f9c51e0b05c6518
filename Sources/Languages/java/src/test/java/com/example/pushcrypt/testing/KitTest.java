package com.example.pushcrypt.testing;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import com.example.pushcrypt.Reference;
import com.example.pushcrypt.Certificate;
import com.example.pushcrypt.DevicePublicKey;
import com.example.pushcrypt.ProviderKey;
import com.example.pushcrypt.ProviderPublicKey;
import com.example.pushcrypt.PushType;
import com.example.pushcrypt.PushcryptException;
import com.example.pushcrypt.Sealer;
import com.example.pushcrypt.SigningKey;
import com.example.pushcrypt.Vectors;
import com.example.pushcrypt.Vectors.Case;
import com.example.pushcrypt.internal.Envelope;
import com.example.pushcrypt.internal.Format;

/** The groups of the test kit that are not about records, plans and payloads. */
final class KitTest {
    /** Groups of the other class, the phone's. */
    private static final Set<String> OTHERS = Set.of(
        "records", "plans", "payloads", "attachments", "attachment-lists", "envelopes", "notifications", "posts", "pushes", "replies",
        "reserved", "sequences", "suite-2-envelopes");

    @Test
    void eachGroupIsKnown() {
        Set<String> known = new TreeSet<>(OTHERS);
        known.addAll(List.of("certificates", "contexts", "keys", "suite-2-keys", "references", "full-bodies"));
        assertEquals(known, new TreeSet<>(Vectors.groups()));
    }

    /** One at a time, under the first pin that verifies it. */
    @TestFactory
    Stream<DynamicTest> certificates() {
        return Vectors.kit("certificates", test -> {
            test.all("learned");
            test.all("learned-after");
            String topic = test.one("context");
            List<String> expected = test.all("expect").stream()
                .map(one -> List.of("unchanged", "certificate-conflict").contains(one) ? "accepted" : one).toList(), found = new ArrayList<>();
            for (String line : test.text().split("\n", -1)) {
                String last = "";
                for (String pin : test.all("pin")) {
                    if (last.equals("accepted")) break;
                    last = test.outcome(() -> {
                        Certificate.of(Base64.getUrlDecoder().decode(line)).verify(ProviderPublicKey.parse(pin), topic);
                        return "accepted";
                    });
                }
                found.add(last);
            }
            assertEquals(expected, found);
        });
    }

    /** The messages are signed well, and the provider did not make their certificates. */
    @Test
    void aCertificateOfAnotherKeyOpensNothing() {
        Map<String, Object> kit = Vectors.read("kit/envelopes.json");
        ProviderPublicKey pin = ProviderPublicKey.parse((String) ((List<?>) ((Map<?, ?>) kit.get("shared")).get("pin")).get(0));
        Phone phone = new Phone("com.example.app", DeviceKey.parse(Vectors.DEVICE_SECRET), pin);
        int count = 0;
        for (Object one : (List<?>) kit.get("tests")) {
            Map<?, ?> message = (Map<?, ?>) one;
            String name = (String) message.get("name"), push = "{\"ENCRYPTED_DATA\":\"" + message.get("body") + "\"}";
            Executable open = () -> Vectors.at(Instant.EPOCH, () -> phone.open(push, PushType.ALERT, Instant.EPOCH));
            if (name.equals("a-message-with-the-first-certificate")) assertDoesNotThrow(open);
            if (!name.startsWith("a-message-whose-certificate-")) continue;
            assertThrows(PushcryptException.class, open, name);
            count++;
        }
        assertTrue(count > 15);
    }

    @TestFactory
    Stream<DynamicTest> contexts() {
        return Vectors.kit("contexts", test -> {
            // The code for a topic is not part of the format.
            String found = test.outcome(() -> {
                new Sealer(ProviderKey.generate(), test.text());
                return "accepted";
            });
            assertEquals(test.expect, found.equals("wrong-topic") ? "refused" : found);
            assertEquals(test.expect.equals("accepted"), Envelope.isContext(test.text()));
        });
    }

    @TestFactory
    Stream<DynamicTest> keys() {
        return Vectors.kit("keys", test -> key(test, test.expect));
    }

    /** Public keys of suite 2 may be held. Secret ones are read as texts, and no more: a good one is of a suite that is not known. */
    @TestFactory
    Stream<DynamicTest> suite2Keys() {
        return Vectors.kit("suite-2-keys", test -> {
            boolean isSecret = !test.one("kind").equals("device-public") && List.of("accepted", "weak-key").contains(test.expect);
            test.all("public-key");
            key(test, isSecret ? "unsupported-suite" : test.expect);
            if (isSecret) test.all("bytes");
            if (isSecret) test.all("key-id");
        });
    }

    private static void key(Case test, String expected) {
        String kind = test.one("kind"), text = test.text(), bare = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        assertEquals(expected, test.outcome(() -> {
            switch (kind) {
                case "device-public" -> {
                    DevicePublicKey key = DevicePublicKey.parse(text);
                    test.check("bytes", HexFormat.of().formatHex(key.bytes()));
                    test.check("key-id", key.id());
                    assertEquals(bare, key.toString());
                    assertEquals(key, DevicePublicKey.of(key.bytes()));
                }
                case "provider-public" -> {
                    ProviderPublicKey key = ProviderPublicKey.parse(text);
                    test.check("bytes", HexFormat.of().formatHex(key.bytes()));
                    test.check("key-id", key.id());
                    assertEquals(bare, key.toString());
                    assertEquals(key, ProviderPublicKey.of(key.bytes()));
                }
                case "device-secret" -> secret(test, bare, DeviceKey.parse(text).publicKey().bytes(), DeviceKey.parse(text).secretText(),
                    DeviceKey.of(Vectors.hex(test.one("bytes"))).secretText());
                case "provider-secret" -> secret(test, bare, ProviderKey.parse(text).publicKey().bytes(), ProviderKey.parse(text).secretText(),
                    ProviderKey.of(Vectors.hex(test.one("bytes"))).secretText());
                case "signing-secret" -> secret(test, bare, Base64.getUrlDecoder().decode(SigningKey.parse(text).publicText()), SigningKey.parse(text).secretText(),
                    SigningKey.of(Vectors.hex(test.one("bytes"))).secretText());
                default -> throw new AssertionError(kind);
            }
            return "accepted";
        }));
        // A weak key is refused as bytes too.
        if (!expected.equals("weak-key") || !test.has("bytes")) return;
        byte[] bytes = Vectors.hex(test.one("bytes"));
        assertEquals("weak-key", test.outcome(() -> kind.equals("device-public") ? DevicePublicKey.of(bytes).toString() : ProviderPublicKey.of(bytes).toString()));
    }

    private static void secret(Case test, String bare, byte[] publicKey, String text, String ofBytes) {
        test.check("public-key", HexFormat.of().formatHex(publicKey));
        assertEquals(bare, text);
        assertEquals(bare, ofBytes);
    }

    @TestFactory
    Stream<DynamicTest> references() {
        return Vectors.kit("references", test -> test.outcome("accepted", () -> {
            Reference reference = Reference.fromJson(test.body);
            test.check("url", reference.url());
            test.check("type", reference.type());
            test.check("file-name", reference.name());
            test.check("key", hex(reference.key()));
            test.check("sha256", hex(reference.sha256()));
            test.check("size", reference.size());
            assertEquals(reference, Reference.fromJson(reference.toJson()));
        }));
    }

    private static String hex(String base64url) {
        return HexFormat.of().formatHex(Base64.getUrlDecoder().decode(base64url));
    }

    @TestFactory
    Stream<DynamicTest> fullBodies() {
        Sealer sealer = new Sealer(ProviderKey.generate(), "a");
        return Vectors.kit("full-bodies", test -> {
            String text;
            try {
                text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(test.body)).toString();
            } catch (CharacterCodingException noText) {
                assertEquals("malformed-file", test.expect);
                return;
            }
            assertEquals(test.body.length > Format.LONGEST_FULL_BODY ? "body-too-long" : test.expect, test.outcome(() -> {
                sealer.sealFullBody(text, "https://a");
                return "accepted";
            }));
        });
    }
}

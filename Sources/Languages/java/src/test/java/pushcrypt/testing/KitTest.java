package pushcrypt.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import pushcrypt.AttachmentReference;
import pushcrypt.Certificate;
import pushcrypt.Code;
import pushcrypt.DevicePublicKey;
import pushcrypt.ProviderKey;
import pushcrypt.ProviderPublicKey;
import pushcrypt.PushType;
import pushcrypt.PushcryptException;
import pushcrypt.Reply;
import pushcrypt.SigningKey;
import pushcrypt.Vectors;
import pushcrypt.Vectors.Case;
import pushcrypt.internal.Envelope;
import pushcrypt.internal.Payload;
import pushcrypt.internal.Times;

/** The groups of the test kit that are about receivers. */
final class KitTest {
    /** Groups of the other class, and of what this package does not have: notifications, and opening with suite 2. */
    private static final Set<String> OTHERS = Set.of(
        "records", "plans", "payloads", "notifications", "sequences", "suite-2-envelopes");

    @Test
    void eachGroupIsKnown() {
        Set<String> known = new TreeSet<>(OTHERS);
        known.addAll(List.of(
            "envelopes", "pushes", "certificates", "contexts", "keys", "suite-2-keys", "attachments", "references", "attachment-lists", "reserved",
            "full-bodies", "replies"));
        assertEquals(known, new TreeSet<>(Vectors.groups()));
    }

    private static Trust trust(Case test) {
        Map<ProviderPublicKey, Learned> learned = new HashMap<>();
        for (String line : test.all("learned")) {
            String[] parts = line.split(" ");
            learned.put(ProviderPublicKey.parse(parts[0]), new Learned(Certificate.parse(parts[1]), Long.parseLong(parts[2])));
        }
        return new Trust(test.all("pin").stream().map(ProviderPublicKey::parse).toList(), learned);
    }

    /** What is known afterwards, of pins and of other keys. The trust also passes through JSON. */
    private static void checkLearned(Case test, Trust trust) {
        assertEquals(trust, Trust.fromJson(trust.toJson()));
        Set<String> keys = new LinkedHashSet<>(trust.pins().stream().map(Object::toString).toList()), lines = new TreeSet<>();
        for (String line : test.all("learned")) keys.add(line.split(" ")[0]);
        for (String key : keys) {
            Learned known = trust.learned(ProviderPublicKey.parse(key));
            if (known.certificate() != null) lines.add(key + " " + known.certificate() + " " + known.floor());
        }
        assertEquals(new TreeSet<>(test.has("learned-after") ? test.all("learned-after") : test.all("learned")), lines);
    }

    private static void opening(Case test, boolean isPush) throws Exception {
        List<DeviceKey> devices = new ArrayList<>();
        for (String line : test.all("device")) {
            String[] parts = line.split(" ");
            DeviceKey key = DeviceKey.parse(parts[0]);
            devices.add(parts.length > 1 ? key.retiringAt(Times.instant(Long.parseUnsignedLong(parts[1]))) : key);
        }
        Trust trust = trust(test), before = trust(test);
        Instant now = Times.instant(Long.parseUnsignedLong(test.one("time")));
        PushType type = PushType.of(test.oneOr("push-type", "alert"));
        String topic = test.one("context");
        OpenedPush[] opened = new OpenedPush[1];
        test.outcome("opened", () -> {
            Receiver receiver = new Receiver(topic);
            opened[0] = isPush ? receiver.open(test.body, devices, trust, type, now) : receiver.openEnvelope(test.text(), devices, trust, type, now);
        });
        assertEquals(before, trust);
        if (opened[0] == null) return;
        test.check("payload-sha256", HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(opened[0].payload().getBytes(StandardCharsets.UTF_8))));
        test.check("message-id", opened[0].messageId());
        test.check("sent-at", opened[0].sentAt().toEpochMilli());
        test.check("time-to-live", opened[0].timeToLive().toSeconds());
        test.check("provider", opened[0].provider());
        test.check("epoch", opened[0].epoch());
        test.check("told", opened[0].hasCertificateConflict() ? "certificate-conflict" : null);
        if (opened[0].learned().certificate() != null) trust.learn(opened[0].provider(), opened[0].learned());
        checkLearned(test, trust);
    }

    @TestFactory
    Stream<DynamicTest> envelopes() {
        return Vectors.kit("envelopes", test -> {
            test.check("fingerprint", Receiver.fingerprint(test.text()));
            if (test.has("bucket")) {
                byte[] envelope = Receiver.decode(test.text());
                test.check("recipient-key-id", HexFormat.of().formatHex(envelope, 1, 5));
                test.check("bucket", envelope.length - 53);
            } else {
                assertEquals(test.expect, assertThrows(PushcryptException.class, () -> Receiver.decode(test.text())).code().toString());
            }
            opening(test, false);
        });
    }

    @TestFactory
    Stream<DynamicTest> pushes() {
        return Vectors.kit("pushes", test -> opening(test, true));
    }

    @TestFactory
    Stream<DynamicTest> certificates() {
        return Vectors.kit("certificates", test -> {
            Trust trust = trust(test);
            String topic = test.one("context");
            List<String> outcomes = new ArrayList<>();
            for (String line : test.text().split("\n", -1)) {
                outcomes.add(test.outcome(() -> switch (trust.accept(Certificate.of(Base64.getUrlDecoder().decode(line)), topic)) {
                    case RAISED -> "accepted";
                    case UNCHANGED -> "unchanged";
                    case CONFLICT -> "certificate-conflict";
                }));
            }
            assertEquals(test.all("expect"), outcomes);
            checkLearned(test, trust);
        });
    }

    @TestFactory
    Stream<DynamicTest> contexts() {
        return Vectors.kit("contexts", test -> {
            // The code for a topic is not part of the format.
            String found = test.outcome(() -> {
                new Receiver(test.text());
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

    /** In several pieces each, because the outcome must not depend on them. */
    @TestFactory
    Stream<DynamicTest> attachments() {
        return Vectors.kit("attachments", test -> {
            byte[] key = Vectors.hex(test.one("key")), sha256 = Vectors.hex(test.one("sha256"));
            long size = Long.parseLong(test.one("size"));
            int length = test.body.length;
            for (int step : new int[] {Math.max(length, 1), 65552, length < 3000 ? 1 : 4099, length / 3 + 1}) {
                ByteArrayOutputStream plain = new ByteArrayOutputStream();
                test.outcome("opened", () -> {
                    FileOpener opener = new FileOpener(key, size, sha256);
                    for (int at = 0; at < length; at += step) plain.writeBytes(opener.update(Arrays.copyOfRange(test.body, at, Math.min(length, at + step))));
                    plain.writeBytes(opener.finish());
                });
                if (!test.expect.equals("opened")) continue;
                test.check("plain-size", plain.size());
                test.check("plain-sha256", HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(plain.toByteArray())));
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> references() {
        return Vectors.kit("references", test -> test.outcome("accepted", () -> {
            AttachmentReference reference = AttachmentReference.fromJson(test.body);
            test.check("url", reference.url());
            test.check("type", reference.type());
            test.check("file-name", reference.name());
            test.check("key", hex(reference.key()));
            test.check("sha256", hex(reference.sha256()));
            test.check("size", reference.size());
            assertEquals(reference, AttachmentReference.fromJson(reference.toJson()));
        }));
    }

    private static String hex(String base64url) {
        return HexFormat.of().formatHex(Base64.getUrlDecoder().decode(base64url));
    }

    private static Extras extras(Case test) {
        return Extras.read(Payload.parse(test.body, Code.MALFORMED_PAYLOAD), "");
    }

    @TestFactory
    Stream<DynamicTest> attachmentLists() {
        return Vectors.kit("attachment-lists", test -> test.outcome("opened", () -> {
            Extras extras = extras(test);
            test.check("attachment", extras.attachments().stream().map(AttachmentReference::name).toList());
            test.check("full-body", extras.fullBody() == null ? null : extras.fullBody().url());
            assertEquals(test.all("dropped").stream().sorted().toList(), extras.dropped().stream().map(Object::toString).sorted().toList());
        }));
    }

    @TestFactory
    Stream<DynamicTest> reserved() {
        return Vectors.kit("reserved", test -> test.outcome("opened", () -> {
            Extras extras = extras(test);
            test.check("withdraws", extras.withdraws());
            test.check("drop", extras.isDropped() ? "yes" : null);
            test.check("sender-name", extras.sender() == null ? null : extras.sender().name());
            test.check("handle", extras.sender() == null ? null : extras.sender().handle());
            test.check("conversation", extras.sender() == null ? null : extras.sender().conversation());
            test.check("recipient", extras.sender() == null ? null : extras.sender().recipients());
            test.check("avatar", extras.sender() == null || extras.sender().avatar() == null ? null : extras.sender().avatar().url());
            test.check("dropped", extras.dropped());
        }));
    }

    @TestFactory
    Stream<DynamicTest> fullBodies() {
        return Vectors.kit("full-bodies", test -> test.outcome("accepted", () -> FileOpener.fullBody(test.body)));
    }

    @TestFactory
    Stream<DynamicTest> replies() {
        return Vectors.kit("replies", test -> {
            Trust trust = trust(test);
            DevicePublicKey key = DeviceKey.parse(test.one("device")).publicKey();
            String topic = test.one("context");
            boolean isBuiltIn = test.has("built-in");
            test.outcome("accepted", () -> {
                Reply reply = Reply.fromJson(Payload.decode(test.body, Code.MALFORMED_RECORD));
                test.check("acknowledged", reply.acknowledged());
                test.check("refused", reply.refused());
                test.check("provider", reply.provider());
                test.check("certificate", reply.certificate());
                test.check("push-key", reply.pushKey() == null ? null : HexFormat.of().formatHex(Base64.getUrlDecoder().decode(reply.pushKey())));
                assertEquals(test.oneOr("suites", "1"), String.join(" ", reply.suites().stream().map(Object::toString).toList()));
                test.check("foreign", reply.foreign());
                Reply again = Reply.fromJson(reply.toJson());
                if (reply.refusedCertificate() == null) assertEquals(reply, again);
                assertEquals(reply.toJson(), again.toJson());
                Replies.Applied applied = Replies.apply(reply, key, trust, topic, isBuiltIn);
                test.check("confirms", applied.confirms() ? "yes" : "no");
                test.check("told", applied.told());
                List<String> pins = test.has("pin-after") ? test.all("pin-after") : test.all("pin");
                assertEquals(pins, trust.pins().stream().map(Object::toString).toList());
                checkLearned(test, trust);
            });
        });
    }
}

package com.example.pushcrypt;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import com.example.pushcrypt.Fixtures.Table;
import com.example.pushcrypt.Vectors.Case;
import com.example.pushcrypt.internal.Envelope;
import com.example.pushcrypt.internal.Hpke;
import com.example.pushcrypt.internal.Payload;
import com.example.pushcrypt.testing.DeviceKey;
import com.example.pushcrypt.testing.OpenedPush;
import com.example.pushcrypt.testing.Phone;

/** The groups of the test kit that are about providers, and the vectors that a seal, a file and a certificate have to be, byte for byte. */
final class ProviderKitTest {
    private static final String TOPIC = "com.example.app";
    private static final DeviceKey DEVICE = DeviceKey.parse(Vectors.DEVICE_SECRET);
    private static final ProviderKey PROVIDER = ProviderKey.parse(Vectors.PROVIDER_SECRET);

    private static Certificate certificate(String text) {
        return text == null ? null : Certificate.parse(text);
    }

    @TestFactory
    Stream<DynamicTest> plans() {
        return Vectors.kit("plans", test -> {
            List<CertificatePlan.PastEpoch> past = new ArrayList<>();
            for (String line : test.all("past")) {
                String[] parts = line.split(" ");
                past.add(new CertificatePlan.PastEpoch(parts[0].equals("-") ? null : Certificate.parse(parts[0]), Instant.ofEpochMilli(Long.parseLong(parts[1]))));
            }
            Duration lifetime = test.has("lifetime") ? Duration.ofSeconds(Long.parseLong(test.one("lifetime"))) : null;
            CertificatePlan plan = CertificatePlan.after(certificate(test.oneOr("certificate", null))).withPast(past)
                .withProven(certificate(test.oneOr("proven", null))).withLifetime(lifetime);
            boolean isStolen = test.one("kind").equals("stolen");
            if (!isStolen) assertEquals("planned", test.one("kind"));
            long now = Long.parseUnsignedLong(test.one("time"));
            test.outcome("accepted", () -> {
                CertificatePlan.Claim claim = (isStolen ? plan.stolen() : plan).claim(now);
                test.check("epoch", claim.epoch());
                test.check("floor", claim.floor());
                test.check("grace-until", Long.toUnsignedString(claim.graceUntil()));
                test.check("expires-at", Long.toUnsignedString(claim.expiresAt()));
            });
        });
    }

    @TestFactory
    Stream<DynamicTest> records() {
        return Vectors.kit("records", test -> {
            // This package does not seal to suite 2.
            boolean isLeftOut = test.oneOr("seals", "1").equals("1 2") && test.expect.equals("accepted");
            String expected = isLeftOut ? "unsupported-suite" : test.expect;
            // Phones read those of providers.
            boolean isOther = test.one("kind").equals("provider");
            if (!isOther) assertEquals(expected, test.outcome(() -> deviceRecord(test)));
            if (isLeftOut || isOther) {
                List.of("key", "generation", "device", "suites", "topic", "created", "provider", "certificate", "app-version", "token", "environment", "update-key",
                    "sequence", "nonce", "grant").forEach(test::all);
            }
        });
    }

    private static String deviceRecord(Case test) {
        DeviceRecord record = DeviceRecord.fromJson(test.body);
        assertEquals(record, DeviceRecord.fromJson(record.toJson()));
        String user = test.oneOr("user", null), heldUser = test.oneOr("held-user", null), elsewhere = test.oneOr("elsewhere", null);
        boolean isRemoved = test.has("removed"), isHeld = test.has("held-key");
        StoredDevice held = null;
        String heldTopic = test.oneOr("held-topic", null);
        if (isHeld) {
            DevicePublicKey key = DevicePublicKey.parse(test.one("held-key"));
            DeviceRecord of = DeviceRecord.of(key, heldTopic == null ? record.topic() == null ? TOPIC : record.topic() : heldTopic, Long.parseLong(test.one("held-generation")));
            held = new StoredDevice(of.withDeviceId(record.deviceId() == null ? "phone1" : record.deviceId()), heldUser, isRemoved);
            assertEquals(held, StoredDevice.fromJson(held.toJson()));
        }
        // The kit's provider has no app.
        String topic = record.topic() != null && (heldTopic == null || test.has("replace") || isRemoved) ? record.topic() : heldTopic != null ? heldTopic : TOPIC;
        List<ProviderPublicKey> own = test.all("provider-has").stream().map(ProviderPublicKey::parse).toList();
        AcceptOptions.Builder options = AcceptOptions.builder(own.isEmpty() ? PROVIDER.publicKey() : own.get(0), topic).ownKeys(own);
        List<Certificate> issued = test.all("issued").stream().map(Certificate::parse).toList();
        options.issued(issued).certificate(issued.stream().max(Comparator.comparingLong(Certificate::epoch)).orElse(null));
        boolean isChecked = test.has("checked");
        if (test.has("replace") || !isChecked) options.replace();
        StoredDevice other = elsewhere == null ? null
            : new StoredDevice(DeviceRecord.of(record.publicKey(), topic, 1).withDeviceId("elsewhere"), elsewhere.equals("-") ? null : elsewhere, false);
        Accepted accepted = Registration.accept(record, Table.of(held, other), user, options.deviceId("phone1").build());

        DeviceRecord stored = accepted.device().record();
        test.check("key", stored.publicKey());
        test.check("generation", stored.generation());
        test.check("device", record.deviceId());
        assertEquals(record.deviceId() == null ? "phone1" : record.deviceId(), stored.deviceId());
        test.check("suites", String.join(" ", stored.suites().stream().map(Object::toString).toList()));
        if (test.has("topic")) test.check("topic", stored.topic());
        test.check("created", stored.created());
        test.check("provider", stored.provider());
        test.check("certificate", record.certificate());
        test.check("app-version", stored.appVersion());
        test.check("token", stored.token());
        test.check("environment", stored.environment());
        test.check("update-key", stored.updateKey() == null ? null : hex(stored.updateKey()));
        test.check("sequence", stored.sequence());
        test.all("nonce");
        test.check("grant", stored.grant());
        if (!own.isEmpty()) test.check("foreign", accepted.foreign());
        test.check("stale", !own.isEmpty() && accepted.staleStore() != null ? "yes" : null);
        assertEquals(elsewhere != null && (held == null || !held.publicKey().equals(record.publicKey())) ? 2 : 1, accepted.changes().size());
        assertEquals(record.publicKey(), accepted.reply().acknowledged());
        assertEquals(accepted.device(), StoredDevice.fromJson(accepted.device().toJson()));
        return "accepted";
    }

    private static Clock at(long milliseconds) {
        return Clock.fixed(Instant.ofEpochMilli(milliseconds), ZoneOffset.UTC);
    }

    private static Clock at(Object number) {
        return at(((BigDecimal) number).longValueExact());
    }

    @TestFactory
    Stream<DynamicTest> payloads() {
        SigningKey key = SigningKey.of(new byte[32]);
        return Vectors.kit("payloads", test -> {
            long time = Long.parseLong(test.one("time"));
            PushType[] type = new PushType[1];
            String found = test.outcome(() -> {
                Placeholder placeholder = Placeholder.STANDARD;
                if (test.has("title")) placeholder = placeholder.withTitle(test.one("title"));
                if (test.has("clear-sound")) placeholder = test.one("clear-sound").equals("none") ? placeholder.withoutSound() : placeholder.withSound(test.one("clear-sound"));
                List<String> kept = test.all("kept");
                placeholder = placeholder.withClear(Arrays.stream(Placeholder.ClearField.values())
                    .filter(field -> kept.contains(field.toString())).toArray(Placeholder.ClearField[]::new));
                SealOptions.Builder options = SealOptions.builder();
                if (test.has("sent-exactly")) options.exact();
                List<Reference> attachments = new ArrayList<>();
                List<String> references = test.all("attachment");
                String life = test.one("time-to-live"), name = test.one("push-type");
                boolean isCertified = test.has("certificate");
                CertificatePlan.Claim claim = new CertificatePlan.Claim(1, 0, 1, Long.parseUnsignedLong(test.oneOr("certificate-expires-at", "18446744073709551615")));
                Credential certified = new Credential(key, Certificate.issue(claim, key.publicKey, PROVIDER, TOPIC), PROVIDER.publicKey());
                type[0] = PushType.of(name);
                options.pushType(type[0]).timeToLive(Duration.ofSeconds(Long.parseLong(life)));
                references.forEach(reference -> attachments.add(Reference.fromJson(reference)));
                options.attachments(attachments);
                Sealer sealer = (isCertified ? Sealer.builder(certified, TOPIC) : Sealer.builder(PROVIDER, TOPIC)).placeholder(placeholder).clock(at(time)).build();
                checkSealed(test, sealer.seal(test.body, DEVICE.device(TOPIC), options.build()), type[0], time);
                return "accepted";
            });
            assertEquals(test.expect, found.equals("accepted") ? found : "refused");
            // A refusal looks at no more than it needs.
            if (!found.equals("accepted")) List.of("title", "clear-sound", "kept", "attachment", "certificate", "certificate-expires-at", "sent-exactly", "time-to-live", "push-type").forEach(test::all);
        });
    }

    private static void checkSealed(Case test, SealedPush push, PushType type, long time) {
        String json = push.json();
        int start = json.indexOf(",\"ENCRYPTED_DATA\":\"");
        Object clear = Vectors.plain(Payload.parse(json.substring(0, start) + "}", Code.MALFORMED_PAYLOAD));
        assertEquals(Vectors.plain(Payload.parse(test.one("clear"), Code.MALFORMED_PAYLOAD)), clear);
        test.check("length", push.bytes().length);
        test.check("widest-length", push.widest());
        int text = json.length() - start - ",\"ENCRYPTED_DATA\":\"\"}".length();
        test.check("bucket", text * 3 / 4 - 53);
        Instant now = Instant.ofEpochMilli(time);
        OpenedPush opened = Fixtures.at(now, () -> new Phone(TOPIC, DEVICE, PROVIDER.publicKey()).open(push.json(), type, now));
        try {
            test.check("payload-sha256", HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(opened.payload().getBytes(StandardCharsets.UTF_8))));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** What signs in a vector. */
    private static Sealer.Builder sealer(Map<String, Object> one, String topic) {
        byte[] seed = Vectors.hex(one.get("signingSeed") == null ? one.get("providerSeed") : one.get("signingSeed"));
        if (one.get("certificate") == null) return Sealer.builder(ProviderKey.of(one.get("providerSeed") == null ? seed : Vectors.hex(one.get("providerSeed"))), topic);
        Certificate certificate = Certificate.of(Vectors.hex(one.get("certificate")));
        return Sealer.builder(new Credential(SigningKey.of(seed), certificate, ProviderPublicKey.of(Vectors.hex(one.get("providerPublic")))), topic);
    }

    private static RequestOptions requestOptions(Map<String, Object> one) {
        RequestOptions.Builder options = RequestOptions.builder();
        if (one.get("collapseName") != null) options.collapseName((String) one.get("collapseName"));
        return options.build();
    }

    /** The device of a vector, as it is stored. */
    private static StoredDevice device(Map<String, Object> one, DevicePublicKey key) {
        String id = one.get("device") == null ? "phone1" : (String) one.get("device");
        return new StoredDevice(DeviceRecord.of(key, (String) one.get("topic"), 1).withDeviceId(id), null, false);
    }

    private static String hex(String base64url) {
        return HexFormat.of().formatHex(Base64.getUrlDecoder().decode(base64url));
    }

    private static byte[] drawn(Object digits) {
        return digits == null ? new byte[32] : Vectors.hex(digits);
    }

    @TestFactory
    Stream<DynamicTest> seals() {
        return Vectors.cases("envelopes.json", "seal", one -> {
            Placeholder placeholder = Placeholder.STANDARD;
            if (one.get("title") != null) placeholder = placeholder.withTitle((String) one.get("title"));
            if (one.get("clearSound") != null) placeholder = one.get("clearSound").equals("") ? placeholder.withoutSound() : placeholder.withSound((String) one.get("clearSound"));
            List<?> kept = one.get("kept") == null ? List.of() : (List<?>) one.get("kept");
            placeholder = placeholder.withClear(Arrays.stream(Placeholder.ClearField.values())
                .filter(field -> kept.contains(field.toString())).toArray(Placeholder.ClearField[]::new));
            SealOptions.Builder options = SealOptions.builder().pushType(PushType.of((String) one.get("pushType")));
            if (one.get("callerID") != null) options.messageId((String) one.get("callerID"));
            Sealing.Fixed fixed = new Sealing.Fixed(drawn(one.get("rMessageID")), drawn(one.get("rEphemeral")), ((BigDecimal) one.get("ttl")).longValueExact());
            Sealer sealer = sealer(one, (String) one.get("topic")).placeholder(placeholder).clock(at(one.get("sentAt"))).build();
            StoredDevice device = device(one, DevicePublicKey.of(Vectors.hex(one.get("devicePublic"))));
            SealedPush push = sealer.seal((String) one.get("payload"), device, options.build(), fixed);
            assertEquals(one.get("push"), push.json());
            assertEquals(one.get("messageID"), push.messageId());
            assertEquals(((BigDecimal) one.get("widestLength")).intValueExact(), push.widest());
            if (one.get("device") != null) assertEquals(one.get("collapseID"), sealer.request(push, requestOptions(one)).headers().get("apns-collapse-id"));
        });
    }

    @TestFactory
    Stream<DynamicTest> collapseIds() {
        return Vectors.cases("requests.json", "collapse", one -> {
            // Nothing is sealed to other devices, and a stored one has an id.
            if (!(one.get("devicePublic") instanceof String key && key.length() == 64 && one.get("device") != null)) return;
            byte[] message = Envelope.namedMessageID((String) one.get("callerID")), provider = Vectors.hex(one.get("providerPublic"));
            assertEquals(one.get("collapseID"), Sealer.collapseId(provider, (String) one.get("topic"), (String) one.get("device"), message, requestOptions(one).pushes));
        });
    }

    @TestFactory
    Stream<DynamicTest> expirations() {
        return Vectors.cases("requests.json", "expiration", one -> {
            SealOptions options = SealOptions.builder().pushType(PushType.of((String) one.get("pushType")))
                .timeToLive(Duration.ofSeconds(((BigDecimal) one.get("requested")).longValueExact())).build();
            Sealer sealer = Sealer.builder(PROVIDER, TOPIC).clock(at(one.get("sentAt"))).build();
            SealedPush push = sealer.seal("{\"aps\":{\"alert\":\"a\"}}", DEVICE.device(TOPIC), options);
            assertEquals(one.get("expiration").toString(), sealer.request(push).headers().get("apns-expiration"));
            assertEquals(one.get("expiration").toString(), Long.toString(push.expiration()));
            assertEquals(one.get("ttl").toString(), Long.toString(push.timeToLive().toSeconds()));
        });
    }

    @TestFactory
    Stream<DynamicTest> certificates() {
        return Vectors.cases("trust.json", "certificates", one -> {
            CertificatePlan.Claim claim = new CertificatePlan.Claim(
                Long.parseLong(one.get("epoch").toString()), Long.parseLong(one.get("floor").toString()), Long.parseUnsignedLong(one.get("graceUntil").toString()),
                Long.parseUnsignedLong(one.get("expiresAt").toString()));
            ProviderKey provider = ProviderKey.of(Vectors.hex(one.get("providerSeed")));
            SigningKey signing = SigningKey.of(Vectors.hex(one.get("signingSeed")));
            Certificate made = Certificate.issue(claim, signing.publicKey, provider, (String) one.get("topic"));
            assertEquals(one.get("text"), made.toString());
            assertEquals(one.get("certificate"), HexFormat.of().formatHex(made.bytes()));
            assertEquals(made, Certificate.parse(made.toString()));
        });
    }

    @TestFactory
    Stream<DynamicTest> files() {
        return Vectors.cases("attachments.json", "seal", one -> {
            Sealer sealer = sealer(one, "a").build();
            SealedFile file = sealer.sealFile(Vectors.pieces((List<?>) one.get("plain")), "https://a", "a.b", "a", Vectors.hex(one.get("r")));
            assertEquals(one.get("key"), hex(file.reference().key()));
            assertEquals(one.get("size").toString(), Long.toString(file.reference().size()));
            assertEquals(one.get("sha256"), hex(file.reference().sha256()));
        });
    }

    @TestFactory
    Stream<DynamicTest> hpkeRecipients() {
        return Vectors.cases("hpke.json", "refusedRecipients", one -> {
            Fixtures.refused(Code.UNUSABLE_KEY, () -> Hpke.setupBaseS(Vectors.hex(one.get("pkRm")), new byte[0], Vectors.hex(one.get("ikmE"))));
        });
    }

    @TestFactory
    Stream<DynamicTest> hpkeVectors() {
        return Vectors.cases("hpke.json", "vectors", one -> {
            Hpke.Setup setup = Hpke.setupBaseS(Vectors.hex(one.get("pkRm")), Vectors.hex(one.get("info")), Vectors.hex(one.get("ikmE")));
            assertEquals(one.get("enc"), HexFormat.of().formatHex(setup.enc()));
            assertEquals(one.get("key"), HexFormat.of().formatHex(setup.context().key()));
            assertEquals(one.get("base_nonce"), HexFormat.of().formatHex(setup.context().baseNonce()));
        });
    }
}

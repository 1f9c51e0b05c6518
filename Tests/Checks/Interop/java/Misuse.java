import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pushcrypt.AttachmentReference;
import pushcrypt.Certificate;
import pushcrypt.CertificatePlan;
import pushcrypt.Credential;
import pushcrypt.DeviceKey;
import pushcrypt.DevicePublicKey;
import pushcrypt.DeviceRecord;
import pushcrypt.FileOpener;
import pushcrypt.Inside;
import pushcrypt.Learned;
import pushcrypt.MessageSender;
import pushcrypt.OpenedPush;
import pushcrypt.Placeholder;
import pushcrypt.ProviderKey;
import pushcrypt.ProviderPublicKey;
import pushcrypt.ProviderRecord;
import pushcrypt.PushType;
import pushcrypt.PushcryptException;
import pushcrypt.Receiver;
import pushcrypt.Registration;
import pushcrypt.Reply;
import pushcrypt.SealOptions;
import pushcrypt.SealedPush;
import pushcrypt.Sealer;
import pushcrypt.Signer;
import pushcrypt.SigningKey;
import pushcrypt.Trust;

/** What a caller can get wrong, and no file of the kit can ask about: each has to be refused, or to do no harm. */
final class Misuse {
    private static final String HALF = "\ud800", PAYLOAD = "{\"aps\":{\"alert\":\"a\",\"sound\":\"b\"}}";
    private static final SealOptions STANDARD = SealOptions.STANDARD;

    private final Map<String, Boolean> good = new LinkedHashMap<>();
    private final DevicePublicKey device;
    private final ProviderKey provider;
    private final Sealer sealer;

    private Misuse(DevicePublicKey device, ProviderKey provider) throws PushcryptException {
        this.device = device;
        this.provider = provider;
        this.sealer = new Sealer(provider, "a");
    }

    private interface Call {
        Object run() throws PushcryptException;
    }

    /** The call must be refused with the code. */
    private void refused(String name, String code, Call call) {
        good.put(name, isRefused(code, call));
    }

    private static boolean isRefused(String code, Call call) {
        try {
            call.run();
            return false;
        } catch (PushcryptException refused) {
            return refused.code().equals(code) && !refused.getMessage().isEmpty();
        }
    }

    /** The call must be a fault of the program. */
    private void fault(String name, Call call) {
        try {
            call.run();
            good.put(name, false);
        } catch (NullPointerException | IllegalArgumentException fault) {
            good.put(name, true);
        } catch (PushcryptException refused) {
            good.put(name, false);
        }
    }

    private SealedPush seal(SealOptions options) throws PushcryptException {
        return sealer.seal(PAYLOAD, device, options);
    }

    /** The names of those that are not as they must be. The keys are good ones. */
    static List<String> wrong(DevicePublicKey device, ProviderKey provider) throws PushcryptException {
        Misuse misuse = new Misuse(device, provider);
        misuse.options();
        misuse.payloads();
        misuse.trusts();
        misuse.records();
        misuse.secrets();
        return misuse.good.entrySet().stream().filter(entry -> !entry.getValue()).map(Map.Entry::getKey).toList();
    }

    private void options() throws PushcryptException {
        refused("a name with half of a pair", "invalid-request", () -> STANDARD.messageName(HALF));
        refused("an empty name", "invalid-request", () -> STANDARD.messageName(""));
        fault("a name that is null", () -> STANDARD.messageName(null));
        refused("a time to live of a millisecond", "invalid-time", () -> STANDARD.timeToLive(Duration.ofMillis(1500)));
        refused("a time to live of 31 days", "invalid-time", () -> STANDARD.timeToLive(Duration.ofDays(31)));
        fault("a time before 1970", () -> sealer.seal(PAYLOAD.getBytes(), device, Instant.ofEpochMilli(-1), STANDARD));
        refused("a time after 2^53", "invalid-time", () -> sealer.seal(PAYLOAD.getBytes(), device, Instant.ofEpochMilli(1L << 53), STANDARD));
        refused("a time beyond 64 bits", "invalid-time", () -> sealer.seal(PAYLOAD.getBytes(), device, Instant.MAX, STANDARD));
        refused("a push type of the system", "push-type-not-sealable", () -> PushType.of("liveactivity"));
        refused("a push type in capitals", "push-type-not-sealable", () -> PushType.of("ALERT"));
        refused("65 withdrawals", "invalid-request", () -> seal(STANDARD.withdrawing(Collections.nCopies(65, "a"))));
        refused("a withdrawal of itself", "invalid-request", () -> seal(STANDARD.messageName("b").withdrawing(List.of("b"))));
        refused("a withdrawal without a name", "invalid-request", () -> seal(STANDARD.withdrawing(List.of(""))));
        refused("a withdrawal with half of a pair", "invalid-request", () -> seal(STANDARD.withdrawing(List.of(HALF))));
        refused("a sender of two lines", "invalid-request", () -> seal(STANDARD.from(MessageSender.of("Anna\nBen"))));
        refused("a sender with half of a pair", "invalid-request", () -> seal(STANDARD.from(MessageSender.of(HALF))));
        refused("nine recipients", "invalid-request", () -> seal(STANDARD.from(new MessageSender("Anna", "u", null, Collections.nCopies(9, "Ben"), null))));
        AttachmentReference film = Inside.reference(new byte[32], "public.mpeg-4");
        refused("an avatar that is a film", "malformed-reference", () -> seal(STANDARD.from(new MessageSender("Anna", "u", null, List.of(), film))));
        refused("a full body that is a film", "malformed-reference", () -> seal(STANDARD.fullBody(film)));
        refused("nine attachments", "too-many-attachments", () -> seal(STANDARD.attachments(Collections.nCopies(9, film))));
        refused("a title with half of a pair", "invalid-request", () -> Placeholder.STANDARD.withTitle(HALF));
        refused("a sound with half of a pair", "invalid-request", () -> Placeholder.STANDARD.withSound(HALF));
        refused("a title of spaces", "invalid-placeholder", () -> Placeholder.STANDARD.withTitle(" \u00a0\u2003"));
        refused("a title of 4,097 bytes", "invalid-placeholder", () -> Placeholder.STANDARD.withTitle("a".repeat(4097)));
        refused("a topic with a space", "wrong-topic", () -> new Sealer(provider, "a b"));
        fault("a topic that is null", () -> new Sealer(provider, null));
        fault("a key that is null", () -> new Sealer((ProviderKey) null, "a"));
        refused("a signature by another key", "wrong-signature", () -> new Sealer(signer(new byte[64]), "a", Placeholder.STANDARD));
        refused("a signature of 63 bytes", "wrong-signature", () -> new Sealer(signer(new byte[63]), "a", Placeholder.STANDARD));
        fault("a signature that is null", () -> new Sealer(signer(null), "a", Placeholder.STANDARD));
        fault("a device that is null", () -> sealer.seal(PAYLOAD, null, STANDARD));
        fault("31 bytes as a key", () -> ProviderKey.of(new byte[31]));
        SealedPush push = seal(STANDARD), background = seal(STANDARD.pushType(PushType.BACKGROUND));
        refused("an empty collapse name", "invalid-request", () -> sealer.request(push, null, "", 10));
        refused("an empty device name", "invalid-request", () -> sealer.request(push, "", null, 10));
        refused("a device name of 256 bytes", "invalid-request", () -> sealer.request(push, "é".repeat(128), null, 10));
        refused("a background push at once", "invalid-request", () -> sealer.request(background, null, null, 10));
        fault("a priority of 7", () -> sealer.request(push, null, null, 7));
        good.put("a background push by itself", sealer.request(background).headers().get("apns-priority").equals("5"));
    }

    private Signer signer(byte[] signature) {
        return new Signer() {
            @Override
            public byte[] publicKey() {
                return provider.publicKey().bytes();
            }

            @Override
            public byte[] sign(byte[] message) {
                return signature;
            }
        };
    }

    private void payload(String name, String code, String json) {
        refused(name, code, () -> sealer.seal(json, device, STANDARD));
    }

    private void changed(String name, Object value) {
        Map<String, Object> payload = new HashMap<>(Map.of("aps", Map.of("alert", "a")));
        payload.put("value", value);
        refused(name + " in a payload", "malformed-payload", () -> sealer.seal(payload, device, STANDARD));
    }

    private void payloads() throws PushcryptException {
        payload("no aps", "missing-aps", "{\"a\":1}");
        payload("aps beside ENCRYPTED_DATA", "reserved-key", "{\"ENCRYPTED_DATA\":null}");
        payload("aps beside pushcrypt", "reserved-key", "{\"pushcrypt\":{}}");
        payload("a badge as text", "invalid-field", "{\"aps\":{\"alert\":\"a\",\"badge\":\"1\"}}");
        payload("a sound's volume of 2", "invalid-field", "{\"aps\":{\"alert\":\"a\",\"sound\":{\"volume\":2}}}");
        payload("a relevance of 1e400", "invalid-field", "{\"aps\":{\"alert\":\"a\",\"relevance-score\":1e400}}");
        payload("a title that is a number", "invalid-field", "{\"aps\":{\"alert\":{\"title\":1}}}");
        payload("an alert without text", "nothing-to-show", "{\"aps\":{\"alert\":{\"body\":\"\"}}}");
        payload("no alert", "nothing-to-show", "{\"aps\":{}}");
        payload("a name twice", "malformed-payload", "{\"aps\":{\"alert\":\"a\"},\"a\":1,\"a\":null}");
        payload("a text with half of a pair", "malformed-payload", "{\"aps\":{\"alert\":\"" + HALF + "\"}}");
        fault("a payload that is null", () -> sealer.seal((byte[]) null, device, Instant.EPOCH, STANDARD));
        changed("NaN", Double.NaN);
        try {
            sealer.seal(Map.of("aps", Map.of("secretName", Double.NaN)), device, STANDARD);
        } catch (PushcryptException refused) {
            good.put("an error that names nothing of the payload", !refused.getMessage().contains("secretName"));
        }
        changed("infinity", Float.POSITIVE_INFINITY);
        changed("half of a pair", HALF);
        changed("a time", Instant.EPOCH);
        changed("bytes", new byte[1]);
        changed("a number as a name", Map.of(1, 1));
        changed("a name with half of a pair", Map.of(HALF, 1));
        changed("a character", 'a');
        List<Object> deep = new ArrayList<>();
        deep.add(deep);
        changed("a list in itself", deep);
        DeviceKey key = DeviceKey.generate();
        Map<String, Object> written = new LinkedHashMap<>();
        written.put("aps", Map.of("alert", "a"));
        written.put("list", Arrays.asList(1, -5L, 0.5, null, true, new BigInteger("12345678901234567890"), new BigDecimal("1E+400"), "\ud83d\ude00\u0001"));
        String expected = "{\"aps\":{\"alert\":\"a\"},\"list\":[1,-5,0.5,null,true,12345678901234567890,1E+400,\"\ud83d\ude00\\u0001\"]}";
        good.put("a payload that JSON keeps", new String(opened(sealer.seal(written, key.publicKey(), STANDARD), key).payload()).equals(expected));
        String text = "{\"aps\":{\"alert\":\"\\u0041\"}, \"big\":123456789012345678901234567890,\"f\":1.0,\"e\":1E+2,\"pushcryptx\":1}";
        OpenedPush opened = opened(sealer.seal(text, key.publicKey(), STANDARD.withdrawing(List.of("b")).drop()), key);
        good.put("text with large numbers", new String(opened.payload()).startsWith(text.replace(", ", ",").substring(0, 90)));
        good.put("the payload without the format's own member",
            !opened.content().containsKey("pushcrypt") && opened.content().get("big").equals(new BigDecimal("123456789012345678901234567890")));
        good.put("what the format's own member says", opened.extras().isDropped() && opened.extras().withdraws().size() == 1);
        good.put("an opened payload that is printed", !opened.toString().contains("alert"));
    }

    private OpenedPush opened(SealedPush push, DeviceKey key) throws PushcryptException {
        Trust trust = Trust.of(provider.publicKey());
        return new Receiver("a").open(push.bytes(), List.of(key), trust, PushType.ALERT, Instant.now());
    }

    private void trusts() throws PushcryptException {
        ProviderPublicKey pin = provider.publicKey();
        Instant now = Instant.ofEpochMilli(1_767_225_600_000L);
        SigningKey key = SigningKey.generate();
        Certificate first = CertificatePlan.FIRST.issue(key.publicBytes(), provider, "a", now);
        CertificatePlan stolen = new CertificatePlan(first, List.of(), null, true, null);
        Certificate second = stolen.issue(key.publicBytes(), provider, "a", now);
        refused("a pin of zeros", "weak-key", () -> ProviderPublicKey.of(new byte[32]));
        List<ProviderPublicKey> three = List.of(pin, ProviderKey.generate().publicKey(), ProviderKey.generate().publicKey());
        refused("three pins", "too-many-pins", () -> new Trust(three, Map.of()));
        refused("one pin twice", "too-many-pins", () -> new Trust(List.of(pin, pin), Map.of()));
        fault("a pin that is null", () -> Trust.of(null));
        refused("a certificate for nobody", "bad-certificate-signature", () -> new Trust(List.of(), Map.of()).accept(first, "a"));
        Trust trust = Trust.of(pin);
        good.put("a certificate", trust.accept(first, "a") == Trust.Change.RAISED && trust.accept(first, "a") == Trust.Change.UNCHANGED);
        Learned stored = new Learned(Certificate.parse(trust.learned(pin).certificate().toString()), trust.learned(pin).floor());
        good.put("what was stored", stored.equals(trust.learned(pin)));
        trust.accept(second, "a");
        trust.learn(pin, stored);
        good.put("an older state that is merged", trust.learned(pin).equals(new Learned(second, second.epoch())));
        refused("an epoch of the day after tomorrow", "implausible-epoch", () -> new CertificatePlan(second, List.of(), null, false, null)
            .issue(key.publicBytes(), provider, "a", now.minusSeconds(86_401)));
        refused("the provider key as signing key", "weak-key", () -> CertificatePlan.FIRST.issue(pin.bytes(), provider, "a", now));
        fault("the certificate of another key", () -> new Credential(SigningKey.generate(), first, pin));
        Credential credential = new Credential(key, first, pin);
        refused("the certificate of another app", "bad-certificate-signature", () -> new Sealer(credential, "b", Placeholder.STANDARD));
        refused("a signer of another key", "wrong-certificate",
            () -> new Sealer(Inside.signer(SigningKey.generate()), first, pin, "a", Placeholder.STANDARD));
        good.put("a signing key file", Credential.parse(credential.secretText()).secretText().equals(credential.secretText()));
        String[] lines = credential.secretText().split("\n");
        refused("a signing key file of two lines", "malformed-key", () -> Credential.parse(lines[0] + "\n" + lines[1]));
        refused("a signing key file of another key", "wrong-certificate",
            () -> Credential.parse(credential.secretText().replace(lines[0], SigningKey.generate().secretText())));
        good.put("a credential that is printed", !credential.toString().contains(key.secretText()));
        DeviceRecord record = new DeviceRecord(null, device, List.of(1), "a", 1, null, pin, first, null, null, null, null, null);
        good.put("a certificate that was never issued", record.showsStaleStore(pin, "a", List.of(second)) && !record.showsStaleStore(pin, "a", List.of(first)));
        FileOpener opener = Inside.opener(new byte[32], 22, new byte[32]);
        boolean isRefused = isRefused("not-a-sealed-file", () -> opener.update(new byte[22]));
        good.put("a file after it was refused", isRefused && isRefused("malformed-file", () -> opener.update(new byte[1])) && isRefused("malformed-file", opener::finish));
    }

    private void records() throws PushcryptException {
        DeviceRecord record = new DeviceRecord(
            "a", device, List.of(1), "a", 2, 5L, provider.publicKey(), null, "1", "00ff", "production", "0".repeat(32), "grant-word");
        good.put("a record that is read and written", DeviceRecord.parse(record.json().getBytes()).equals(record));
        good.put("a grant that is printed", !record.toString().contains("grant-word"));
        Registration.Held held = new Registration.Held(DeviceKey.generate().publicKey().toString(), 1, null, "alice", false);
        Registration.Held same = new Registration.Held(device.toString(), 1, null, "alice", false);
        refused("another key from a session without a user", "user-mismatch",
            () -> Registration.check(record, new Registration.Situation(null, held, null, false, null)));
        good.put("the same key from one", Registration.check(record, new Registration.Situation(null, same, null, false, null)).user().equals("alice"));
        for (String id : List.of(" ", "a\u200b")) {
            refused("a device of " + id, "malformed-record",
                () -> new DeviceRecord(id, device, List.of(1), null, 1, null, null, null, null, null, null, null, null).json());
        }
        refused("a token of one digit", "malformed-record",
            () -> new DeviceRecord(null, device, List.of(1), null, 1, null, null, null, null, "a", null, null, null).json());
        refused("a reply of both kinds", "malformed-record", () -> new Reply(device, "key-taken", null, null, List.of(1), List.of(), null, null).json());
        good.put("a reply that is written", Reply.parse(Reply.acknowledge(device, provider.publicKey(), null).json().getBytes()).acknowledged().equals(device));
        ProviderRecord own = new ProviderRecord(provider.publicKey(), "a", 1, null, null);
        good.put("a provider's record", ProviderRecord.parse(own.json().getBytes()).equals(own));
    }

    private void secrets() throws PushcryptException {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) 0x5a);
        AttachmentReference reference = Inside.reference(key, "a.b");
        Object[] all = {reference, ProviderKey.of(key), DeviceKey.of(key), SigningKey.of(key), new FileOpener(reference), sealer};
        String printed = Arrays.toString(all), text = ProviderKey.of(key).secretText();
        good.put("a key that is printed", !printed.contains(HexFormat.of().formatHex(key).substring(0, 8)) && !printed.contains("WlpaWl") && !printed.contains(text));
        byte[] own = device.bytes();
        own[0] ^= 1;
        good.put("bytes that the caller changes", !Arrays.equals(own, device.bytes()));
        refused("a type of many labels", "malformed-reference", () -> Inside.reference(key, "a.".repeat(50_000) + "a"));
    }
}

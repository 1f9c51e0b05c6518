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
import pushcrypt.AnnouncedStatements;
import pushcrypt.AttachmentReference;
import pushcrypt.DeviceKey;
import pushcrypt.DevicePublicKey;
import pushcrypt.DeviceRecord;
import pushcrypt.FileOpener;
import pushcrypt.Inside;
import pushcrypt.MessageSender;
import pushcrypt.OpenedPush;
import pushcrypt.Placeholder;
import pushcrypt.PushType;
import pushcrypt.PushcryptException;
import pushcrypt.Receiver;
import pushcrypt.RecoveryKey;
import pushcrypt.Registration;
import pushcrypt.Reply;
import pushcrypt.SealOptions;
import pushcrypt.SealedPush;
import pushcrypt.Sealer;
import pushcrypt.SenderKey;
import pushcrypt.SenderPublicKey;
import pushcrypt.SenderRecord;
import pushcrypt.Signer;
import pushcrypt.Statement;
import pushcrypt.Trust;
import pushcrypt.TrustedSender;

/** What a caller can get wrong, and no file of the kit can ask about: each has to be refused, or to do no harm. */
final class Misuse {
    private static final String HALF = "\ud800", PAYLOAD = "{\"aps\":{\"alert\":\"a\",\"sound\":\"b\"}}";
    private static final SealOptions STANDARD = SealOptions.STANDARD;

    private final Map<String, Boolean> good = new LinkedHashMap<>();
    private final DevicePublicKey device;
    private final SenderKey sender;
    private final Sealer sealer;

    private Misuse(DevicePublicKey device, SenderKey sender) throws PushcryptException {
        this.device = device;
        this.sender = sender;
        this.sealer = new Sealer(sender, "a");
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
    static List<String> wrong(DevicePublicKey device, SenderKey sender) throws PushcryptException {
        Misuse misuse = new Misuse(device, sender);
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
        Statement statement = Statement.rotation(sender, SenderKey.generate(), Instant.EPOCH, Statement.STANDARD_ACCEPT_FOR, Statement.STANDARD_OVERLAP);
        refused("five statements", "invalid-request", () -> seal(STANDARD.announcing(Collections.nCopies(5, statement))));
        announced();
        refused("a statement of 180 bytes", "malformed-statement", () -> Statement.of(new byte[180]));
        refused("a title with half of a pair", "invalid-request", () -> Placeholder.STANDARD.withTitle(HALF));
        refused("a sound with half of a pair", "invalid-request", () -> Placeholder.STANDARD.withSound(HALF));
        refused("a title of spaces", "invalid-placeholder", () -> Placeholder.STANDARD.withTitle(" \u00a0\u2003"));
        refused("a title of 4,097 bytes", "invalid-placeholder", () -> Placeholder.STANDARD.withTitle("a".repeat(4097)));
        refused("a topic with a space", "wrong-topic", () -> new Sealer(sender, "a b"));
        fault("a topic that is null", () -> new Sealer(sender, null));
        fault("a sender that is null", () -> new Sealer(null, "a"));
        refused("a signature by another key", "wrong-signature", () -> new Sealer(signer(new byte[64]), "a", Placeholder.STANDARD));
        refused("a signature of 63 bytes", "wrong-signature", () -> new Sealer(signer(new byte[63]), "a", Placeholder.STANDARD));
        fault("a signature that is null", () -> new Sealer(signer(null), "a", Placeholder.STANDARD));
        fault("a device that is null", () -> sealer.seal(PAYLOAD, null, STANDARD));
        fault("31 bytes as a key", () -> SenderKey.of(new byte[31]));
        refused("an overlap of 61 days", "overlap-too-long",
            () -> Statement.rotation(sender, SenderKey.generate(), Instant.EPOCH, Statement.STANDARD_ACCEPT_FOR, Duration.ofDays(61)));
        refused("a key that replaces itself", "superseded-new-key",
            () -> Statement.rotation(sender, sender, Instant.EPOCH, Statement.STANDARD_ACCEPT_FOR, Statement.STANDARD_OVERLAP));
        fault("a serial of 0", () -> Statement.recovery(RecoveryKey.generate(), sender, "a", 0, Instant.EPOCH));
        SealedPush push = seal(STANDARD), background = seal(STANDARD.pushType(PushType.BACKGROUND));
        refused("an empty collapse name", "invalid-request", () -> sealer.request(push, null, "", 10));
        refused("an empty device name", "invalid-request", () -> sealer.request(push, "", null, 10));
        refused("a device name of 256 bytes", "invalid-request", () -> sealer.request(push, "é".repeat(128), null, 10));
        refused("a background push at once", "invalid-request", () -> sealer.request(background, null, null, 10));
        fault("a priority of 7", () -> sealer.request(push, null, null, 7));
        good.put("a background push by itself", sealer.request(background).headers().get("apns-priority").equals("5"));
    }

    /** The text of statements, in messages. */
    private void announced() throws PushcryptException {
        SenderKey next = SenderKey.generate();
        DeviceKey phone = DeviceKey.generate();
        Statement statement = Statement.rotation(sender, next, Instant.EPOCH, Statement.STANDARD_ACCEPT_FOR, Statement.STANDARD_OVERLAP);
        AnnouncedStatements statements = AnnouncedStatements.parse(statement.line(sender.publicKey()), next.publicKey());
        SealOptions options = STANDARD.announcing(statements);
        for (Instant at : List.of(Instant.EPOCH, Instant.EPOCH.plus(Duration.ofDays(400)).plusMillis(1))) {
            List<Statement> expected = at.equals(Instant.EPOCH) ? List.of(statement) : List.of();
            SealedPush push = new Sealer(next, "a").seal(PAYLOAD.getBytes(), phone.publicKey(), at, options);
            Trust trust = new Trust(List.of(TrustedSender.of("a", expected.isEmpty() ? next.publicKey() : sender.publicKey())));
            good.put(expected.size() + " statements of a text", new Receiver("a").open(push.bytes(), List.of(phone), trust, at).statements().equals(expected));
        }
        refused("statements to another key", "untrusted-old-key", () -> seal(options));
        added(statement, statements, next);
        Statement recovery = Statement.recovery(RecoveryKey.generate(), next, "a", 1, Instant.EPOCH);
        for (Statement one : List.of(statement, recovery)) fault("the line of a statement without a key, " + one.bytes()[0], () -> one.line(null));
        fault("statements that are null", () -> STANDARD.announcing((AnnouncedStatements) null));
        fault("a text that is null", () -> AnnouncedStatements.parse(null, next.publicKey()));
    }

    /** A rotation is added to another, for the usual time. */
    private void added(Statement first, AnnouncedStatements before, SenderKey next) throws PushcryptException {
        SenderKey third = SenderKey.generate();
        Duration usual = AnnouncedStatements.STANDARD_ANNOUNCEMENT;
        for (int days : new int[] {59, 61}) {
            Instant at = Instant.EPOCH.plus(Duration.ofDays(days));
            Statement second = Statement.rotation(next, third, at, Statement.STANDARD_ACCEPT_FOR, Statement.STANDARD_OVERLAP);
            List<Statement> expected = days < 60 ? List.of(first, second) : List.of(second);
            AnnouncedStatements again = AnnouncedStatements.parse(before.adding(second, usual, at).text(), third.publicKey());
            good.put("a rotation " + days + " days after another", again.accepted(at).equals(expected));
            Trust trust = new Trust(List.of(TrustedSender.of("a", days < 60 ? sender.publicKey() : next.publicKey())));
            good.put("phones " + days + " days later", trust.follow(again.accepted(at), "a", at).accepted().equals(expected)
                && trust.senders().get(0).pinned().equals(third.publicKey()));
            fault("an announcement before a rotation", () -> before.adding(second, Duration.ofSeconds(-1), at));
            fault("an announcement of half a second", () -> before.adding(second, Duration.ofMillis(500), at));
            fault("a rotation before 1970", () -> before.adding(second, usual, Instant.EPOCH.minusMillis(1)));
            fault("no announcement", () -> before.adding(second, null, at));
        }
        fault("no rotation", () -> before.adding(null, usual, Instant.EPOCH));
    }

    private Signer signer(byte[] signature) {
        return new Signer() {
            @Override
            public SenderPublicKey publicKey() {
                return sender.publicKey();
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
        Trust trust = new Trust(List.of(TrustedSender.of("a", sender.publicKey())));
        return new Receiver("a").open(push.bytes(), List.of(key), trust, Instant.now());
    }

    private static Trust trust(SenderPublicKey pinned, List<TrustedSender.Superseded> superseded, RecoveryKey recovery, int length) throws PushcryptException {
        return new Trust(List.of(new TrustedSender("a", pinned, superseded, recovery == null ? List.of() : List.of(recovery.publicKey()), new byte[length])));
    }

    private void trusts() throws PushcryptException {
        SenderPublicKey own = sender.publicKey();
        byte[] bytes = new byte[181], seven = new byte[32];
        bytes[0] = 1;
        Arrays.fill(seven, (byte) 7);
        Statement statement = Statement.of(bytes);
        List<TrustedSender.Superseded> none = List.of(), old = List.of(new TrustedSender.Superseded(own, statement));
        refused("a pin of zeros", "weak-key", () -> SenderPublicKey.of(new byte[32]));
        refused("a key that is pinned and superseded", "sender-superseded", () -> trust(own, old, null, 0));
        RecoveryKey recovery = RecoveryKey.of(seven);
        refused("a key that is a sender's and a recovery key", "sender-superseded", () -> trust(SenderKey.of(seven).publicKey(), none, recovery, 0));
        refused("a last recovery of 52 bytes", "corrupt-store", () -> trust(own, none, null, 52));
        good.put("the same statement of a sender without a pin", !trust(null, old, null, 0).evaluate(statement, "a", Instant.EPOCH).changed());
        Trust trust = trust(own, none, recovery, 0);
        SenderKey next = SenderKey.generate();
        Statement rotation = Statement.rotation(sender, next, Instant.EPOCH, Statement.STANDARD_ACCEPT_FOR, Statement.STANDARD_OVERLAP);
        trust.follow(List.of(rotation, Statement.recovery(recovery, SenderKey.generate(), "a", 3, Instant.EPOCH)), "a", Instant.EPOCH);
        good.put("a trust that was stored", Trust.parse(trust.json()).json().equals(trust.json()) && trust.senders().get(0).superseded().size() == 2);
        refused("a stored trust that lacks a member", "corrupt-store", () -> Trust.parse("[{\"name\":\"a\",\"pinned\":null}]"));
        refused("a stored trust that ends early", "corrupt-store", () -> Trust.parse(trust.json().substring(1)));
        FileOpener opener = Inside.opener(new byte[32], 46, new byte[32]);
        boolean first = isRefused("not-a-sealed-file", () -> opener.update(new byte[46]));
        good.put("a file after it was refused", first && isRefused("malformed-file", () -> opener.update(new byte[1])) && isRefused("malformed-file", opener::finish));
    }

    private void records() throws PushcryptException {
        DeviceRecord record = new DeviceRecord("a", device, List.of(1), "a", 2, 5L, sender.publicKey(), List.of(), "1");
        good.put("a record that is read and written", DeviceRecord.parse(record.json().getBytes()).equals(record));
        Registration.Held held = new Registration.Held(DeviceKey.generate().publicKey().toString(), 1, null, "alice"), same = new Registration.Held(device.toString(), 1, null, "alice");
        refused("another key from a session without a user", "user-mismatch",
            () -> Registration.check(record, new Registration.Situation(null, held, null, false, null)));
        good.put("the same key from one", Registration.check(record, new Registration.Situation(null, same, null, false, null)).user().equals("alice"));
        refused("a device of spaces", "malformed-record", () -> new DeviceRecord(" ", device, List.of(1), null, 1, null, null, List.of(), null).json());
        refused("a reply of both kinds", "malformed-record", () -> new Reply(device, "key-taken", null, List.of(), List.of()).json());
        good.put("a reply that is written", Reply.parse(Reply.acknowledge(device, sender.publicKey()).json().getBytes()).acknowledged().equals(device));
        SenderRecord own = new SenderRecord(sender.publicKey(), "a", 1, null, List.of());
        good.put("a sender's record", SenderRecord.parse(own.json().getBytes()).equals(own));
    }

    private void secrets() throws PushcryptException {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) 0x5a);
        AttachmentReference reference = Inside.reference(key, "a.b");
        Object[] all = {reference, SenderKey.of(key), DeviceKey.of(key), RecoveryKey.of(key), new FileOpener(reference), sealer};
        String printed = Arrays.toString(all), text = SenderKey.of(key).secretText();
        good.put("a key that is printed", !printed.contains(HexFormat.of().formatHex(key).substring(0, 8)) && !printed.contains("WlpaWl") && !printed.contains(text));
        byte[] own = device.bytes();
        own[0] ^= 1;
        good.put("bytes that the caller changes", !Arrays.equals(own, device.bytes()));
        refused("a type of many labels", "malformed-reference", () -> Inside.reference(key, "a.".repeat(50_000) + "a"));
    }
}

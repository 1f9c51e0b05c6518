import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import pushcrypt.AttachmentReference;
import pushcrypt.Certificate;
import pushcrypt.CertificatePlan;
import pushcrypt.Credential;
import pushcrypt.DeviceKey;
import pushcrypt.DevicePublicKey;
import pushcrypt.DeviceRecord;
import pushcrypt.Extras;
import pushcrypt.FileOpener;
import pushcrypt.Inside;
import pushcrypt.Learned;
import pushcrypt.OpenedPush;
import pushcrypt.Placeholder;
import pushcrypt.ProviderKey;
import pushcrypt.ProviderPublicKey;
import pushcrypt.ProviderRecord;
import pushcrypt.PushRequest;
import pushcrypt.PushType;
import pushcrypt.PushcryptException;
import pushcrypt.Receiver;
import pushcrypt.Registration;
import pushcrypt.Reply;
import pushcrypt.SealOptions;
import pushcrypt.SealedFile;
import pushcrypt.SealedPush;
import pushcrypt.Sealer;
import pushcrypt.SigningKey;
import pushcrypt.Trust;

/** Reads questions from standard input, a line each, and answers them with the installed package. ../README.md has the language. */
public final class Driver {
    private static final Map<String, ProviderKey> PROVIDERS = new HashMap<>();
    private static final Map<String, List<DeviceKey>> DEVICES = new HashMap<>();

    private Driver() {}

    private static byte[] data(String word) {
        return word.equals("-") ? new byte[0] : HexFormat.of().parseHex(word);
    }

    private static String text(String word) {
        return new String(data(word), StandardCharsets.UTF_8);
    }

    private static String word(byte[] data) {
        return data == null || data.length == 0 ? "-" : HexFormat.of().formatHex(data);
    }

    private static String word(String text) {
        return word(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> several(String text) {
        return text.equals("-") ? List.of() : List.of(text.split(","));
    }

    private static String joined(List<String> words) {
        return words.isEmpty() ? "-" : String.join(",", words);
    }

    private static ProviderKey provider(String text) throws PushcryptException {
        ProviderKey key = PROVIDERS.get(text);
        if (key == null) PROVIDERS.put(text, key = ProviderKey.parse(text));
        return key;
    }

    private static List<DeviceKey> devices(String text) throws PushcryptException {
        List<DeviceKey> known = DEVICES.get(text);
        if (known != null) return known;
        List<DeviceKey> keys = new ArrayList<>();
        for (String device : several(text)) {
            String[] parts = device.split("@");
            DeviceKey key = DeviceKey.parse(parts[0]);
            keys.add(parts.length > 1 ? key.retiringAt(Inside.instant(parts[1])) : key);
        }
        DEVICES.put(text, keys);
        return keys;
    }

    private static Trust trust(String pins, String learned) throws PushcryptException {
        List<ProviderPublicKey> keys = new ArrayList<>();
        Map<ProviderPublicKey, Learned> known = new HashMap<>();
        for (String pin : several(pins)) keys.add(ProviderPublicKey.parse(pin));
        for (String line : several(learned)) {
            String[] parts = line.split(":");
            known.put(ProviderPublicKey.parse(parts[0]), new Learned(Certificate.parse(parts[1]), Long.parseLong(parts[2])));
        }
        return new Trust(keys, known);
    }

    private static String written(Trust trust) {
        List<String> lines = new ArrayList<>();
        for (ProviderPublicKey pin : trust.pins()) {
            Learned known = trust.learned(pin);
            if (known.certificate() != null) lines.add(pin + ":" + known.certificate() + ":" + known.floor());
        }
        return joined(lines);
    }

    /** Words `name=hex` from one on, as lists. */
    private static Map<String, List<byte[]>> options(String[] words, int from) {
        Map<String, List<byte[]>> options = new HashMap<>();
        for (String each : Arrays.asList(words).subList(from, words.length)) {
            String[] parts = each.split("=", 2);
            options.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(data(parts[1].isEmpty() ? "-" : parts[1]));
        }
        return options;
    }

    private static String one(Map<String, List<byte[]>> options, String name) {
        return options.containsKey(name) ? new String(options.get(name).get(0), StandardCharsets.UTF_8) : null;
    }

    private static List<String> all(Map<String, List<byte[]>> options, String name) {
        return options.getOrDefault(name, List.of()).stream().map(value -> new String(value, StandardCharsets.UTF_8)).toList();
    }

    /** The same back: values that are null are left out, lists repeat the name. */
    private static String written(Object... namesAndValues) {
        StringBuilder words = new StringBuilder();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            Object value = namesAndValues[at + 1];
            for (Object each : value instanceof List<?> list ? list : value == null ? List.of() : List.of(value)) {
                words.append(' ').append(namesAndValues[at]).append('=').append(HexFormat.of().formatHex(each.toString().getBytes(StandardCharsets.UTF_8)));
            }
        }
        return words.toString();
    }

    private static String answerKey(String kind, String text) throws PushcryptException {
        byte[] found = Inside.parseKey(kind, text);
        String bare = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        if (!bare.equals(Inside.keyText(kind, found))) return "broken another text";
        return "ok " + word(found) + switch (kind) {
            case "pcr" -> " " + DevicePublicKey.parse(text).id() + " -";
            case "pcs" -> " " + ProviderPublicKey.parse(text).id() + " -";
            case "pcr-secret-" -> " - " + word(DeviceKey.parse(text).publicKey().bytes());
            case "pcs-secret-" -> " - " + word(ProviderKey.parse(text).publicKey().bytes());
            default -> " - " + word(SigningKey.parse(text).publicBytes());
        };
    }

    private static String answerCheck(String kind, byte[] key) throws PushcryptException {
        if (kind.equals("pcr")) DevicePublicKey.of(key);
        if (kind.equals("pcs")) ProviderPublicKey.of(key);
        return "ok";
    }

    private static String answerContext(String text) throws PushcryptException {
        Inside.checkContext(text);
        return "ok";
    }

    private static String answerText(String text) throws PushcryptException {
        byte[] decoded = Inside.decode(text);
        if (!Inside.encode(decoded).equals(text)) return "broken encodes as another text";
        return "ok " + word(Arrays.copyOfRange(decoded, 1, 5)) + " " + (decoded.length - Inside.OUTSIDE);
    }

    private static String answerOpened(String[] words) throws PushcryptException {
        Trust trust = trust(words[3], words[4]);
        PushType type = PushType.of(words[5]);
        Instant now = Inside.instant(words[6]);
        Receiver receiver = new Receiver(words[1]);
        OpenedPush opened = words[0].equals("open") ? receiver.openEnvelope(text(words[7]), devices(words[2]), trust, type, now)
            : receiver.open(data(words[7]), devices(words[2]), trust, type, now);
        trust.learn(opened.provider(), opened.learned());
        return String.join(" ", "opened", word(opened.payload()), opened.messageId(), Long.toString(opened.sentAt().toEpochMilli()),
            Long.toString(opened.timeToLive().toSeconds()), opened.provider().toString(), Long.toString(opened.epoch()), written(trust),
            opened.hasCertificateConflict() ? "certificate-conflict" : "-");
    }

    private static String answerCertificate(String[] words) throws PushcryptException {
        Trust trust = trust(words[2], words[3]);
        return switch (trust.accept(Inside.certificate(data(words[4])), words[1])) {
            case RAISED -> "accepted";
            case UNCHANGED -> "unchanged";
            case CONFLICT -> "certificate-conflict";
        } + " " + written(trust);
    }

    private static Certificate certificate(String text) throws PushcryptException {
        return text == null ? null : Certificate.parse(text);
    }

    private static String answerPlan(String[] words) throws PushcryptException {
        Map<String, List<byte[]>> given = options(words, 1);
        List<CertificatePlan.PastEpoch> past = new ArrayList<>();
        for (String line : all(given, "past")) {
            String[] parts = line.split(" ");
            past.add(new CertificatePlan.PastEpoch(Long.parseLong(parts[0]), Inside.instant(parts[1])));
        }
        Duration lifetime = given.containsKey("lifetime") ? Duration.ofSeconds(Long.parseLong(one(given, "lifetime"))) : null;
        CertificatePlan plan = new CertificatePlan(
            certificate(one(given, "certificate")), past, certificate(one(given, "proven")), one(given, "kind").equals("stolen"), lifetime);
        String[] claim = Inside.claim(plan, one(given, "time"));
        return "ok" + written("epoch", claim[0], "floor", claim[1], "grace-until", claim[2], "expires-at", claim[3]);
    }

    private static String answerCertify(String[] words) throws PushcryptException {
        Certificate made = Inside.certify(provider(words[2]), words[1], Arrays.copyOfRange(words, 3, 7), SigningKey.parse(words[7]).publicBytes());
        return "ok " + word(Inside.bytes(made)) + " " + made;
    }

    private static Placeholder placeholder(Map<String, List<byte[]>> given) throws PushcryptException {
        Placeholder placeholder = Placeholder.STANDARD;
        String title = one(given, "title"), sound = one(given, "sound");
        if (title != null) placeholder = placeholder.withTitle(title);
        if (sound != null) placeholder = sound.isEmpty() ? placeholder.withoutSound() : placeholder.withSound(sound);
        List<String> kept = all(given, "kept");
        return placeholder.withClearFields(
            Arrays.stream(Placeholder.ClearField.values()).filter(field -> kept.contains(field.toString())).toArray(Placeholder.ClearField[]::new));
    }

    private static SealOptions sealOptions(Map<String, List<byte[]>> given) throws PushcryptException {
        SealOptions options = SealOptions.STANDARD;
        if (given.containsKey("push-type")) options = options.pushType(PushType.of(one(given, "push-type")));
        if (given.containsKey("id")) options = options.messageName(one(given, "id"));
        if (given.containsKey("time-to-live")) options = options.timeToLive(Duration.ofSeconds(Long.parseLong(one(given, "time-to-live"))));
        if (given.containsKey("sent-exactly")) options = options.sentExactly();
        List<AttachmentReference> attachments = new ArrayList<>();
        for (byte[] json : given.getOrDefault("attachment", List.of())) attachments.add(AttachmentReference.parse(json));
        return options.attachments(attachments);
    }

    /** With a provider's secret key, or the three lines of a signing key file; either may be in a service. */
    private static Sealer sealer(String secret, String topic, Placeholder placeholder, boolean isElsewhere) throws PushcryptException {
        if (!secret.contains(",")) {
            ProviderKey key = provider(secret);
            return isElsewhere ? new Sealer(Inside.signer(key), topic, placeholder) : new Sealer(key, topic, placeholder);
        }
        Credential own = Credential.parse(secret.replace(',', '\n'));
        if (!isElsewhere) return new Sealer(own, topic, placeholder);
        return new Sealer(Inside.signer(own.key()), own.certificate(), own.provider(), topic, placeholder);
    }

    private static String answerMessage(String[] words) throws PushcryptException {
        Map<String, List<byte[]>> given = options(words, 6);
        Sealer sealer = sealer(words[3], words[1], placeholder(given), given.containsKey("hedge-signature"));
        List<byte[]> drawn = Arrays.asList(
            given.getOrDefault("r-message-id", Arrays.asList((byte[]) null)).get(0), given.getOrDefault("r-ephemeral", Arrays.asList((byte[]) null)).get(0));
        long life = given.containsKey("sealed-life") ? Long.parseLong(one(given, "sealed-life")) : 0;
        SealedPush push = Inside.seal(sealer, data(words[5]), DevicePublicKey.parse(words[2]), Long.parseLong(words[4]), sealOptions(given), drawn, life);
        PushRequest request = sealer.request(push);
        if (given.containsKey("device") || given.containsKey("collapse-name")) {
            request = sealer.request(push, one(given, "device"), one(given, "collapse-name"), 5);
        }
        return "sealed " + word(push.bytes()) + written(
            "message-id", push.messageId(), "time-to-live", push.timeToLive().toSeconds(), "widest-length", push.widestLength(),
            "expiration", request.headers().get("apns-expiration"), "collapse-id", request.headers().get("apns-collapse-id"));
    }

    private static String answerRecord(String[] words) throws PushcryptException {
        if (words[1].equals("provider")) {
            ProviderRecord record = ProviderRecord.parse(data(words[2]));
            return "ok" + written("key", record.publicKey(), "generation", record.generation(), "topic", record.topic(), "created", record.created(),
                "certificate", record.certificate());
        }
        DeviceRecord record = DeviceRecord.parse(data(words[2]));
        if (!DeviceRecord.parse(record.json().getBytes(StandardCharsets.UTF_8)).equals(record)) return "broken another record is written";
        Map<String, List<byte[]>> given = options(words, 3);
        Registration.Held held = null;
        if (given.containsKey("held-key")) {
            held = new Registration.Held(one(given, "held-key"), Long.parseLong(one(given, "held-generation")), one(given, "held-topic"),
                one(given, "held-user"), given.containsKey("removed"));
        }
        String elsewhere = one(given, "elsewhere");
        Registration.SameKey sameKey = elsewhere == null ? null : new Registration.SameKey(elsewhere.equals("-") ? null : elsewhere);
        String user = one(given, "user");
        Registration registration = Registration.check(record, new Registration.Situation(
            user, held, sameKey, given.containsKey("replace"), given.containsKey("provider-has") ? new HashSet<>(all(given, "provider-has")) : null));
        List<Certificate> issued = new ArrayList<>();
        for (String text : all(given, "issued")) issued.add(Certificate.parse(text));
        boolean isStale = given.containsKey("provider-has") && registration.topic() != null
            && record.showsStaleStore(ProviderPublicKey.parse(one(given, "provider-has")), registration.topic(), issued);
        return "ok" + written("key", record.publicKey(), "generation", record.generation(), "device", record.deviceId(),
            "suites", record.suites().stream().map(Object::toString).collect(Collectors.joining(" ")), "topic", registration.topic(),
            "created", record.created(), "provider", record.provider(), "certificate", record.certificate(), "app-version", record.appVersion(),
            "token", record.token(), "environment", record.environment(), "withdrawal", record.withdrawal(), "grant", record.grant(),
            "foreign", registration.foreign(), "stale", isStale ? "yes" : null);
    }

    private static String answerReply(String[] words) throws PushcryptException {
        Reply reply = Reply.parse(data(words[2])), again = Reply.parse(reply.json().getBytes(StandardCharsets.UTF_8));
        if (!again.json().equals(reply.json()) || reply.refusedCertificate() == null && !again.equals(reply)) return "broken another reply is written";
        Map<String, List<byte[]>> given = options(words, 3);
        Trust trust = given.containsKey("pins") ? trust(one(given, "pins"), one(given, "learned")) : trust("-", "-");
        Reply.Applied applied = reply.apply(
            devices(words[1]).get(0).publicKey(), trust, given.containsKey("context") ? one(given, "context") : "a", given.containsKey("built-in"));
        return "ok" + written("acknowledged", reply.acknowledged(), "refused", reply.refused(), "provider", reply.provider(), "certificate", reply.certificate(),
            "push-key", reply.pushKey() == null ? null : HexFormat.of().formatHex(Base64.getUrlDecoder().decode(reply.pushKey())),
            "suites", reply.suites().stream().map(Object::toString).collect(Collectors.joining(" ")), "foreign", reply.foreign(),
            "confirms", applied.confirms() ? "yes" : "no", "pins", joined(trust.pins().stream().map(Object::toString).toList()), "learned", written(trust),
            "told", applied.told());
    }

    private static String answerReserved(byte[] payload) throws PushcryptException {
        Extras extras = Inside.extras(payload);
        Map<String, Object> sender = new LinkedHashMap<>();
        if (extras.sender() != null) {
            sender.put("sender-name", extras.sender().name());
            sender.put("handle", extras.sender().handle());
            sender.put("conversation", extras.sender().conversation());
            sender.put("recipient", extras.sender().recipients());
            sender.put("avatar", extras.sender().avatar() == null ? null : extras.sender().avatar().url());
        }
        StringBuilder words = new StringBuilder("ok" + written("withdraws", extras.withdraws(), "drop", extras.isDropped() ? "yes" : null));
        sender.forEach((name, value) -> words.append(written(name, value)));
        return words + written("dropped", extras.dropped());
    }

    private static String answerReference(byte[] json) throws PushcryptException {
        AttachmentReference reference = AttachmentReference.parse(json);
        if (!AttachmentReference.parse(reference.json().getBytes(StandardCharsets.UTF_8)).json().equals(reference.json())) return "broken another reference";
        return String.join(" ", "ok", word(reference.url()), word(reference.type()), word(reference.name()), word(reference.key()),
            word(reference.sha256()), Long.toString(reference.size()));
    }

    private static String answerAttachments(byte[] payload) throws PushcryptException {
        Extras extras = Inside.extras(payload);
        List<String> names = extras.attachments().stream().map(reference -> word(reference.name())).toList();
        return String.join(" ", "ok", joined(names), extras.fullBody() == null ? "-" : word(extras.fullBody().url()), joined(extras.dropped()));
    }

    private static String answerFullBody(byte[] plain) throws PushcryptException {
        FileOpener.fullBody(plain);
        return "ok";
    }

    private static String answerFile(String key, String size, String sha256, String pieces) throws GeneralSecurityException, PushcryptException {
        FileOpener opener = Inside.opener(data(key), Long.parseLong(size), data(sha256));
        MessageDigest hash = MessageDigest.getInstance("SHA-256");
        long length = 0;
        List<byte[]> plain = new ArrayList<>();
        for (String piece : several(pieces)) plain.add(opener.update(data(piece)));
        plain.add(opener.finish());
        for (byte[] part : plain) {
            hash.update(part);
            length += part.length;
        }
        return "opened " + length + " " + word(hash.digest());
    }

    private static String answerSealedFile(String secret, byte[] plain) throws PushcryptException {
        SealedFile sealed = sealer(secret, "a", Placeholder.STANDARD, false).sealFile(plain, "https://a", "a.b", "a");
        return "sealed " + word(sealed.reference().key()) + " " + word(sealed.bytes());
    }

    private static String answerHedgedFile(String[] words) throws PushcryptException {
        Sealer sealer = sealer(words[1], "a", Placeholder.STANDARD, false);
        AttachmentReference reference = Inside.sealFile(sealer, data(words[3]), data(words[2])).reference();
        return "ok " + word(reference.key()) + " " + reference.size() + " " + word(reference.sha256());
    }

    private static String answerMisuse(String device, String secret) throws PushcryptException {
        List<String> wrong = Misuse.wrong(DevicePublicKey.parse(device), provider(secret));
        return wrong.isEmpty() ? "ok" : "broken " + String.join(", ", wrong);
    }

    private static String answer(String[] words) throws GeneralSecurityException, PushcryptException {
        return switch (words[0]) {
            case "key" -> answerKey(words[1], text(words[2]));
            case "check" -> answerCheck(words[1], data(words[2]));
            case "context" -> answerContext(text(words[1]));
            case "text" -> answerText(text(words[1]));
            case "fingerprint" -> "ok " + Inside.fingerprint(text(words[1]));
            case "open", "push" -> answerOpened(words);
            case "certificate" -> answerCertificate(words);
            case "plan" -> answerPlan(words);
            case "certify" -> answerCertify(words);
            case "message" -> answerMessage(words);
            case "record" -> answerRecord(words);
            case "reply" -> answerReply(words);
            case "reserved" -> answerReserved(data(words[1]));
            case "hedgedfile" -> answerHedgedFile(words);
            case "reference" -> answerReference(data(words[1]));
            case "attachments" -> answerAttachments(data(words[1]));
            case "fullbody" -> answerFullBody(data(words[1]));
            case "file" -> answerFile(words[1], words[2], words[3], words[4]);
            case "sealfile" -> answerSealedFile(words[1], data(words[2]));
            case "misuse" -> answerMisuse(words[1], words[2]);
            default -> "broken no such question";
        };
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            try {
                output.println(answer(line.split(" ")));
            } catch (PushcryptException refused) {
                output.println("refused " + refused.code());
            } catch (Exception error) {
                output.println("broken " + error.toString().replace('\n', ' ') + " " + Arrays.toString(error.getStackTrace()));
            }
            output.flush();
        }
    }
}

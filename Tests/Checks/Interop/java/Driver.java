import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import pushcrypt.Attachments;
import pushcrypt.Envelope;
import pushcrypt.Keys;
import pushcrypt.Payload;
import pushcrypt.Refused;
import pushcrypt.Seal;
import pushcrypt.SealedFile;
import pushcrypt.Trust;

/** Reads questions from standard input, a line each, and answers them with the receiver in Java. ../README.md has the language. */
final class Driver {
    private static final Map<String, byte[]> KEYS = new HashMap<>();
    private static final Map<String, List<Envelope.DeviceKey>> DEVICES = new HashMap<>();
    private static final Map<String, Seal.SenderKey> SENDERS = new HashMap<>();
    private static final Map<String, Trust> TRUSTS = new HashMap<>();

    private Driver() {}

    private static byte[] data(String word) {
        return word.equals("-") ? new byte[0] : HexFormat.of().parseHex(word);
    }

    private static byte[] optional(String word) {
        return word.equals("-") ? null : data(word);
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
        return text.equals("-") ? List.of() : Arrays.asList(text.split(","));
    }

    private static String joined(List<String> words) {
        return words.isEmpty() ? "-" : String.join(",", words);
    }

    private static Keys.Kind kind(String prefix) {
        return Arrays.stream(Keys.Kind.values()).filter(kind -> kind.prefix.equals(prefix)).findFirst().orElseThrow();
    }

    private static byte[] key(String text, Keys.Kind kind) throws GeneralSecurityException, Refused {
        byte[] known = KEYS.get(text);
        if (known == null) KEYS.put(text, known = Keys.parseKey(text, kind));
        return known;
    }

    private static List<Envelope.DeviceKey> devices(String text) throws GeneralSecurityException, Refused {
        List<Envelope.DeviceKey> devices = DEVICES.get(text);
        if (devices != null) return devices;
        devices = new ArrayList<>();
        for (String device : several(text)) {
            String[] parts = device.split("@");
            long end = parts.length > 1 ? Long.parseUnsignedLong(parts[1]) : Trust.NEVER;
            devices.add(Envelope.DeviceKey.of(key(parts[0], Keys.Kind.DEVICE_SECRET), end));
        }
        DEVICES.put(text, devices);
        return devices;
    }

    private static Seal.SenderKey sender(String text) throws GeneralSecurityException, Refused {
        Seal.SenderKey sender = SENDERS.get(text);
        if (sender == null) SENDERS.put(text, sender = Seal.SenderKey.of(key(text, Keys.Kind.SENDER_SECRET)));
        return sender;
    }

    private static Trust readTrust(String text) throws GeneralSecurityException, Refused {
        Trust known = TRUSTS.get(text);
        if (known != null) return known.copy();
        List<Trust.Sender> senders = new ArrayList<>();
        for (String one : text.equals("-") ? new String[0] : text.split("/")) senders.add(readSender(one));
        TRUSTS.put(text, known = new Trust(senders));
        return known.copy();
    }

    private static Trust.Sender readSender(String text) throws GeneralSecurityException, Refused {
        String[] parts = text.split(";");
        List<Trust.Superseded> superseded = new ArrayList<>();
        List<byte[]> recovery = new ArrayList<>();
        for (String old : several(parts[2])) {
            String[] pair = old.split(":");
            superseded.add(new Trust.Superseded(key(pair[0], Keys.Kind.SENDER_PUBLIC), optional(pair[1])));
        }
        for (String own : several(parts[3])) recovery.add(key(own, Keys.Kind.RECOVERY_PUBLIC));
        byte[] pinned = parts[1].equals("-") ? null : key(parts[1], Keys.Kind.SENDER_PUBLIC);
        return new Trust.Sender(parts[0], pinned, superseded, recovery, data(parts[4]));
    }

    private static String writeTrust(Trust trust) {
        List<String> senders = trust.senders().stream().map(Driver::writeSender).toList();
        return senders.isEmpty() ? "-" : String.join("/", senders);
    }

    private static String writeSender(Trust.Sender sender) {
        List<String> superseded = sender.superseded().stream().map(old -> senderText(old.key()) + ":" + word(old.statement())).toList();
        List<String> recovery = sender.recovery().stream().map(own -> Keys.keyText(own, Keys.Kind.RECOVERY_PUBLIC)).toList();
        String pinned = sender.pinned() == null ? "-" : senderText(sender.pinned());
        return String.join(";", sender.name(), pinned, joined(superseded), joined(recovery), word(sender.lastRecovery()));
    }

    private static String senderText(byte[] key) {
        return Keys.keyText(key, Keys.Kind.SENDER_PUBLIC);
    }

    private static String answerKey(Keys.Kind kind, String text) throws GeneralSecurityException, Refused {
        byte[] found = Keys.parseKey(text, kind);
        String bare = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        if (!bare.equals(Keys.keyText(found, kind))) return "broken another text";
        return "ok " + word(found) + switch (kind) {
            case DEVICE_PUBLIC -> " " + word(Keys.keyID(Keys.X25519, found)) + " -";
            case SENDER_PUBLIC -> " " + word(Keys.keyID(Keys.ED25519, found)) + " -";
            case RECOVERY_PUBLIC -> " " + word(Keys.keyID(Keys.RECOVERY, found)) + " -";
            case DEVICE_SECRET -> " - " + word(Envelope.DeviceKey.of(found, Trust.NEVER).publicKey());
            case SENDER_SECRET, RECOVERY_SECRET -> " - " + word(Seal.SenderKey.of(found).publicKey());
        };
    }

    private static String answerCheck(Keys.Kind kind, byte[] key) throws GeneralSecurityException, Refused {
        if (kind == Keys.Kind.DEVICE_PUBLIC) Keys.checkDeviceKey(key);
        if (kind != Keys.Kind.DEVICE_PUBLIC) Keys.checkSenderKey(key);
        return "ok";
    }

    private static String answerContext(String text) throws Refused {
        Envelope.checkContext(text);
        return "ok";
    }

    private static String answerText(String text) throws Refused {
        byte[] decoded = Envelope.decode(text);
        if (!Envelope.encode(decoded).equals(text)) return "broken encodes as another text";
        return "ok " + word(Arrays.copyOfRange(decoded, 1, 5)) + " " + (decoded.length - Envelope.OUTSIDE);
    }

    private static String answerOpened(Envelope.Opened opened, String context, Trust after, long now) throws GeneralSecurityException, Refused {
        Trust.Followed again = after.follow(opened.statements(), context, now);
        if (again.accepted().size() != opened.statements().size()) return "broken the statements are not accepted again";
        return String.join(" ", "opened", word(opened.payload()), word(opened.messageID()), Long.toString(opened.sentAt()),
            Long.toString(opened.timeToLive()), senderText(opened.sender()), writeTrust(after),
            joined(opened.told()));
    }

    private static String answerStatement(String trust, String context, String now, String statement)
        throws GeneralSecurityException, Refused {
        Trust after = readTrust(trust);
        Trust.Evaluated evaluated = after.evaluate(data(statement), context, Long.parseUnsignedLong(now));
        String conflict = evaluated.conflict() == null ? "-" : evaluated.conflict();
        return String.join(" ", evaluated.changed() ? "accepted" : "unchanged", writeTrust(after), conflict);
    }

    private static String answerSeal(String[] words) throws GeneralSecurityException, Refused {
        boolean known = Arrays.stream(Seal.PushType.values()).anyMatch(type -> type.name().toLowerCase(Locale.ROOT).equals(words[6]));
        if (!known) return "refused push-type-not-sealable";
        List<byte[]> statements = several(words[11]).stream().map(Driver::data).toList();
        Seal.Message message = new Seal.Message(data(words[12]), words[1], Long.parseLong(words[4]), Long.parseLong(words[5]),
            Seal.PushType.valueOf(words[6].toUpperCase(Locale.ROOT)), text(words[7]), words[8].equals("-") ? null : text(words[8]),
            optional(words[9]), optional(words[10]), statements);
        return "sealed " + word(Seal.seal(message, key(words[2], Keys.Kind.DEVICE_PUBLIC), sender(words[3])));
    }

    private static String answerReference(Attachments.Reference reference) {
        return String.join(" ", "ok", word(reference.url()), word(reference.type()), word(reference.name()), word(reference.key()),
            word(reference.sha256()), Long.toString(reference.size()));
    }

    private static String answerAttachments(String payload) throws Refused {
        Map<String, Object> members = Payload.checkPayload(data(payload));
        Attachments.Found found = Attachments.attachments(members);
        Attachments.Reference body = null;
        try {
            body = Attachments.fullBody(members);
        } catch (Refused refused) {
            found.dropped().add(refused.code);
        }
        List<String> names = found.references().stream().map(reference -> word(reference.name())).toList();
        return String.join(" ", "ok", joined(names), body == null ? "-" : word(body.url()), joined(found.dropped()));
    }

    private static String answerFullBody(byte[] plain) throws Refused {
        Attachments.checkFullBody(plain);
        return "ok";
    }

    private static String answerFile(String key, String size, String sha256, String pieces) throws GeneralSecurityException, Refused {
        SealedFile.Opener opener = new SealedFile.Opener(data(key), Long.parseLong(size), data(sha256));
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

    private static String answerMisuse(String device, String secret) throws GeneralSecurityException, Refused {
        List<String> wrong = Misuse.wrong(key(device, Keys.Kind.DEVICE_PUBLIC), sender(secret));
        return wrong.isEmpty() ? "ok" : "broken " + String.join(", ", wrong);
    }

    private static String answer(String[] words) throws GeneralSecurityException, Refused {
        return switch (words[0]) {
            case "key" -> answerKey(kind(words[1]), text(words[2]));
            case "check" -> answerCheck(kind(words[1]), data(words[2]));
            case "context" -> answerContext(text(words[1]));
            case "text" -> answerText(text(words[1]));
            case "fingerprint" -> "ok " + Envelope.fingerprint(text(words[1]));
            case "open", "push" -> {
                Trust trust = readTrust(words[3]);
                long now = Long.parseUnsignedLong(words[4]);
                List<Envelope.DeviceKey> devices = devices(words[2]);
                Envelope.Opened opened = words[0].equals("open") ? Envelope.openText(text(words[5]), words[1], devices, trust, now)
                    : Envelope.openPush(data(words[5]), words[1], devices, trust, now);
                yield answerOpened(opened, words[1], trust, now);
            }
            case "statement" -> answerStatement(words[1], words[2], words[3], words[4]);
            case "seal" -> answerSeal(words);
            case "reference" -> answerReference(Attachments.parseReference(Payload.parseObject(data(words[1]), "malformed-reference")));
            case "attachments" -> answerAttachments(words[1]);
            case "fullbody" -> answerFullBody(data(words[1]));
            case "file" -> answerFile(words[1], words[2], words[3], words[4]);
            case "sealfile" -> "sealed " + word(SealedFile.seal(data(words[2]), data(words[1])));
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
            } catch (Refused refused) {
                output.println("refused " + refused.code);
            } catch (Exception error) {
                output.println("broken " + error.toString().replace('\n', ' '));
            }
            output.flush();
        }
    }
}

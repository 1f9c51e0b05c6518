import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import pushcrypt.AttachmentReference;
import pushcrypt.Certificate;
import pushcrypt.Credential;
import pushcrypt.DevicePublicKey;
import pushcrypt.Placeholder;
import pushcrypt.ProviderKey;
import pushcrypt.ProviderPublicKey;
import pushcrypt.PushType;
import pushcrypt.PushcryptException;
import pushcrypt.SealOptions;
import pushcrypt.SealedFile;
import pushcrypt.SealedPush;
import pushcrypt.Sealer;
import pushcrypt.testing.DeviceKey;
import pushcrypt.testing.FileOpener;
import pushcrypt.testing.Learned;
import pushcrypt.testing.OpenedPush;
import pushcrypt.testing.Receiver;
import pushcrypt.testing.Trust;

/** Reads questions from standard input, a line each, and answers them with the installed package. ../README.md has the language. */
public final class Driver {
    private static final Map<String, ProviderKey> PROVIDERS = new HashMap<>();
    private static final Map<String, List<DeviceKey>> DEVICES = new HashMap<>();

    private Driver() {}

    private static byte[] data(String word) {
        return word.equals("-") ? new byte[0] : HexFormat.of().parseHex(word);
    }

    private static String word(byte[] data) {
        return data.length == 0 ? "-" : HexFormat.of().formatHex(data);
    }

    private static String word(String text) {
        return word(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> several(String text) {
        return text.equals("-") ? List.of() : List.of(text.split(","));
    }

    private static Instant instant(String milliseconds) {
        return Instant.ofEpochMilli(Long.parseLong(milliseconds));
    }

    private static List<DeviceKey> devices(String texts) {
        List<DeviceKey> keys = new ArrayList<>();
        for (String device : several(texts)) {
            String[] parts = device.split("@");
            DeviceKey key = DeviceKey.parse(parts[0]);
            keys.add(parts.length > 1 ? key.retiringAt(instant(parts[1])) : key);
        }
        return keys;
    }

    private static Trust trust(String pins, String learned) {
        Map<ProviderPublicKey, Learned> known = new HashMap<>();
        for (String line : several(learned)) {
            String[] parts = line.split(":");
            known.put(ProviderPublicKey.parse(parts[0]), new Learned(Certificate.parse(parts[1]), Long.parseLong(parts[2])));
        }
        return new Trust(several(pins).stream().map(ProviderPublicKey::parse).toList(), known);
    }

    private static String written(Trust trust) {
        List<String> lines = new ArrayList<>();
        for (ProviderPublicKey pin : trust.pins()) {
            Learned known = trust.learned(pin);
            if (known.certificate() != null) lines.add(pin + ":" + known.certificate() + ":" + known.floor());
        }
        return lines.isEmpty() ? "-" : String.join(",", lines);
    }

    private static String answerPush(String[] words) {
        Trust trust = trust(words[3], words[4]);
        OpenedPush opened = new Receiver(words[1]).open(
            data(words[7]), DEVICES.computeIfAbsent(words[2], Driver::devices), trust, PushType.of(words[5]), instant(words[6]));
        trust.learn(opened.provider(), opened.learned());
        return String.join(" ", "opened", word(opened.payload()), opened.messageId(), Long.toString(opened.sentAt().toEpochMilli()),
            Long.toString(opened.timeToLive().toSeconds()), opened.provider().toString(), Long.toString(opened.epoch()), written(trust),
            opened.hasCertificateConflict() ? "certificate-conflict" : "-");
    }

    /** With a provider's secret key, or the three lines of a signing key file. */
    private static Sealer.Builder sealer(String secret, String topic) {
        if (secret.contains(",")) return Sealer.builder(Credential.parse(secret.replace(',', '\n')), topic);
        return Sealer.builder(PROVIDERS.computeIfAbsent(secret, ProviderKey::parse), topic);
    }

    private static String answerMessage(String[] words) {
        Map<String, String> given = new HashMap<>();
        for (String each : Arrays.asList(words).subList(6, words.length)) {
            String[] parts = each.split("=", 2);
            given.put(parts[0], new String(HexFormat.of().parseHex(parts[1]), StandardCharsets.UTF_8));
        }
        Placeholder placeholder = Placeholder.STANDARD;
        if (given.containsKey("title")) placeholder = placeholder.withTitle(given.get("title"));
        if (given.containsKey("sound")) placeholder = given.get("sound").isEmpty() ? placeholder.withoutSound() : placeholder.withSound(given.get("sound"));
        SealOptions.Builder options = SealOptions.builder();
        if (given.containsKey("push-type")) options.pushType(PushType.of(given.get("push-type")));
        if (given.containsKey("id")) options.messageId(given.get("id"));
        if (given.containsKey("time-to-live")) options.timeToLive(Duration.ofSeconds(Long.parseLong(given.get("time-to-live"))));
        Clock clock = Clock.fixed(instant(words[4]), ZoneOffset.UTC);
        Sealer sealer = sealer(words[3], words[1]).placeholder(placeholder).clock(clock).build();
        SealedPush push = sealer.seal(data(words[5]), DevicePublicKey.parse(words[2]), options.build());
        return "sealed " + word(push.bytes());
    }

    private static String answerReference(byte[] json) {
        AttachmentReference reference = AttachmentReference.fromJson(json);
        return String.join(" ", "ok", word(reference.url()), word(reference.type()), word(reference.name()), bytes(reference.key()),
            bytes(reference.sha256()), Long.toString(reference.size()));
    }

    private static String bytes(String base64url) {
        return word(Base64.getUrlDecoder().decode(base64url));
    }

    private static String base64url(String word) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data(word));
    }

    private static String answerFile(String key, String size, String sha256, String pieces) throws GeneralSecurityException {
        FileOpener opener = new FileOpener(AttachmentReference.fromJson("{\"url\":\"https://a\",\"type\":\"a.b\",\"name\":\"a\",\"size\":" + size
            + ",\"key\":\"" + base64url(key) + "\",\"sha256\":\"" + base64url(sha256) + "\"}"));
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

    private static String answerSealedFile(String secret, byte[] plain) {
        SealedFile sealed = sealer(secret, "a").build().sealFile(plain, "https://a", "a.b", "a");
        return "sealed " + bytes(sealed.reference().key()) + " " + word(sealed.bytes());
    }

    private static String answer(String[] words) throws GeneralSecurityException {
        return switch (words[0]) {
            case "push" -> answerPush(words);
            case "message" -> answerMessage(words);
            case "reference" -> answerReference(data(words[1]));
            case "file" -> answerFile(words[1], words[2], words[3], words[4]);
            case "sealfile" -> answerSealedFile(words[1], data(words[2]));
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

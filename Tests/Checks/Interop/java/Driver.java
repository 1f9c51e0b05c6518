import com.example.pushcrypt.Credential;
import com.example.pushcrypt.DevicePublicKey;
import com.example.pushcrypt.DeviceRecord;
import com.example.pushcrypt.Placeholder;
import com.example.pushcrypt.ProviderKey;
import com.example.pushcrypt.PushType;
import com.example.pushcrypt.PushcryptException;
import com.example.pushcrypt.SealOptions;
import com.example.pushcrypt.SealedFile;
import com.example.pushcrypt.SealedPush;
import com.example.pushcrypt.Sealer;
import com.example.pushcrypt.StoredDevice;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Reads questions from standard input, a line each, and answers them with the installed package. ../README.md has the language. */
public final class Driver {
    private static final Map<String, ProviderKey> PROVIDERS = new HashMap<>();

    private Driver() {}

    private static byte[] data(String word) {
        return word.equals("-") ? new byte[0] : HexFormat.of().parseHex(word);
    }

    private static String word(byte[] data) {
        return data.length == 0 ? "-" : HexFormat.of().formatHex(data);
    }

    private static Instant instant(String milliseconds) {
        return Instant.ofEpochMilli(Long.parseLong(milliseconds));
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
        DevicePublicKey key = DevicePublicKey.parse(words[2]);
        StoredDevice device = new StoredDevice(
            new DeviceRecord("phone1", key, List.of(key.suite()), words[1], 1, null, null, null, null, null, null, null, null, null), null, false);
        SealedPush push = sealer.seal(data(words[5]), device, options.build());
        return "sealed " + word(push.bytes());
    }

    private static String answerSealedFile(String secret, byte[] plain) {
        SealedFile sealed = sealer(secret, "a").build().sealFile(plain, "https://a", "a.b", "a");
        return "sealed " + word(Base64.getUrlDecoder().decode(sealed.reference().key())) + " " + word(sealed.bytes());
    }

    private static String answer(String[] words) {
        return switch (words[0]) {
            case "message" -> answerMessage(words);
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

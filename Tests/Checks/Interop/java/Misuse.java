import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import pushcrypt.Attachments;
import pushcrypt.Payload;
import pushcrypt.Refused;
import pushcrypt.Seal;
import pushcrypt.SealedFile;
import pushcrypt.Trust;

/** What a caller can get wrong, and no file of the kit can ask about: each has to be refused, or to do no harm. */
final class Misuse {
    private static final String HALF = "\ud800";

    private Misuse() {}

    private interface Call {
        Object run() throws GeneralSecurityException, Refused;
    }

    /** Whether the call is refused with the code. */
    private static boolean refused(String code, Call call) throws GeneralSecurityException {
        try {
            call.run();
            return false;
        } catch (Refused refused) {
            return refused.code.equals(code);
        }
    }

    private static Seal.Message message(String title, String sound, byte[] messageID, List<byte[]> statements) {
        byte[] payload = "{\"aps\":{\"alert\":\"a\",\"sound\":\"b\"}}".getBytes();
        return new Seal.Message(payload, "a", 0, 1, Seal.PushType.ALERT, title, sound, messageID, null, statements);
    }

    private static Trust trust(byte[] pinned, List<Trust.Superseded> superseded, List<byte[]> recovery, int length)
        throws GeneralSecurityException, Refused {
        return new Trust(List.of(new Trust.Sender("a", pinned, superseded, recovery, new byte[length])));
    }

    /** The names of those that are not as they must be. The keys are good ones. */
    static List<String> wrong(byte[] device, Seal.SenderKey sender) throws GeneralSecurityException, Refused {
        Map<String, Boolean> good = new HashMap<>();
        byte[] zeros = new byte[32], statement = new byte[Trust.STATEMENT], publicKey = sender.publicKey();
        statement[0] = 1;
        good.put("a title with half of a pair",
            refused("invalid-request", () -> Seal.seal(message(HALF, null, null, List.of()), device, sender)));
        good.put("a sound with half of a pair",
            refused("invalid-request", () -> Seal.seal(message("a", HALF, null, List.of()), device, sender)));
        good.put("a message id of 15 bytes",
            refused("invalid-request", () -> Seal.seal(message("a", null, new byte[15], List.of()), device, sender)));
        good.put("a statement of 180 bytes",
            refused("invalid-request", () -> Seal.seal(message("a", null, null, List.of(new byte[180])), device, sender)));
        List<Trust.Superseded> none = List.of();
        good.put("a pin of zeros", refused("weak-key", () -> new Trust(List.of(Trust.Sender.of("a", zeros)))));
        good.put("a superseded key of zeros",
            refused("weak-key", () -> trust(null, List.of(new Trust.Superseded(zeros, null)), List.of(), 0)));
        good.put("a recovery key of zeros", refused("weak-key", () -> trust(null, none, List.of(zeros), 0)));
        List<Trust.Superseded> old = List.of(new Trust.Superseded(publicKey, statement));
        good.put("a key that is pinned and superseded", refused("sender-superseded", () -> trust(publicKey, old, List.of(), 0)));
        good.put("a key that is a sender's and a recovery key",
            refused("key-has-two-uses", () -> trust(publicKey, none, List.of(publicKey), 0)));
        good.put("a last recovery of 52 bytes", refused("malformed-trust", () -> trust(publicKey, none, List.of(), 52)));
        good.put("the same statement of a sender without a pin", !trust(null, old, List.of(), 0).evaluate(statement, "a", 0).changed());
        SealedFile.Opener opener = new SealedFile.Opener(zeros, 46, zeros);
        boolean first = refused("not-a-sealed-file", () -> opener.update(new byte[46]));
        good.put("a file after it was refused",
            first && refused("malformed-file", () -> opener.update(zeros)) && refused("malformed-file", opener::finish));
        String key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        Map<String, Object> reference = new HashMap<>(Map.of("url", "https://a", "type", "a.b", "name", "a", "key", key, "sha256", key));
        reference.put("size", new Payload.Number("46"));
        good.put("a key that is printed",
            Arrays.stream(new Object[] {Attachments.parseReference(reference), sender}).noneMatch(each -> each.toString().contains("[")));
        reference.put("type", "a.".repeat(50_000) + "a");
        good.put("a type of many labels", refused("malformed-reference", () -> Attachments.parseReference(reference)));
        return good.entrySet().stream().filter(entry -> !entry.getValue()).map(Map.Entry::getKey).toList();
    }
}

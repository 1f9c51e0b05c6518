package pushcrypt;

import static pushcrypt.Bytes.ascii;
import static pushcrypt.Bytes.concat;
import static pushcrypt.Bytes.part;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The layout and opening of envelopes: Docs/Format.md, "Envelope", "Construction", "Inner plaintext" and "Opening".
 *
 * <p>There is no replay guard: an app that shows notifications needs its own store of shown messages ("Replay").
 * Nothing is wiped, and there is no constant-time guarantee except in {@link Hpke}.
 */
final class Envelope {
    static final int SUITE = 0x01, CONTENT = 68, BODY = 99, PAYLOAD = 0x01, STATEMENTS = 0x02, MOST_STATEMENTS = 4;
    static final List<Integer> BUCKETS = List.of(256, 512, 1024, 1536, 2048, 2560, 2816, 3584);
    static final long LONGEST_TIME_TO_LIVE = 2_592_000, LARGEST_TIME = (1L << 53) - 1;
    private static final int LONGEST_TEXT = 4850, LONGEST_PUSH = 65536;
    private static final Pattern CONTEXT = Pattern.compile("[A-Za-z0-9.-]{1,255}"), BASE64URL = Pattern.compile("[A-Za-z0-9_-]+");
    static final int OUTSIDE = 53;

    /** An authentic, fresh message, of which the app has to store and follow what {@link Receiver} says. */
    record Opened(byte[] payload, byte[] messageID, long sentAt, long timeToLive, byte[] sender, DeviceKey device,
        List<byte[]> statements, List<String> told) {}

    private Envelope() {}

    /**
     * Opens a push as received. `context` is the app's own bundle id, never a value from the push [O-0.2]. Reads
     * nothing of the push but the envelope [O-0.1].
     */
    static Opened openPush(byte[] push, String context, List<DeviceKey> devices, TrustRules trust, long now)
        throws GeneralSecurityException, PushcryptException {
        if (push.length > LONGEST_PUSH) throw new PushcryptException("malformed-notification");
        Object text = Payload.parseObject(push, "malformed-notification").get("ENCRYPTED_DATA");
        if (!(text instanceof String)) throw new PushcryptException("not-encrypted");
        return openText((String) text, context, devices, trust, now);
    }

    /** Opens the text of an envelope: steps 2 to 7. Changes nothing. */
    static Opened openText(String text, String context, List<DeviceKey> devices, TrustRules trust, long now)
        throws GeneralSecurityException, PushcryptException {
        checkContext(context);
        byte[] envelope = decode(text), header = part(envelope, 0, 5), enc = part(envelope, 5, 37);

        // Step 3. Exactly one key is tried [O-3.2].
        byte[] recipientKeyID = part(header, 1, 5);
        DeviceKey device = devices.stream().filter(key -> Arrays.equals(key.id, recipientKeyID) && !TrustRules.isAfter(now, key.end))
            .findFirst().orElseThrow(() -> new PushcryptException("unknown-recipient-key"));

        // Step 4.
        Hpke.Context encryption = Hpke.setupBaseR(enc, device.secret, device.publicKey, envelopeInfo(header, context));
        byte[] inner = encryption.open(new byte[0], part(envelope, 37, envelope.length));

        // Step 5.
        int end = BODY + (int) Bytes.number(inner, 97, 99);
        if (end > inner.length) throw new PushcryptException("authentication-failed");
        List<byte[]> statements = statements(inner[CONTENT], part(inner, BODY, end));
        List<byte[]> read = statements == null ? List.of() : statements, candidates;
        byte[] senderKeyID = part(inner, 0, 4), signature = part(inner, 4, CONTENT);
        byte[] sender = null, contentHash = Bytes.sha256(part(inner, CONTENT, inner.length));
        TrustRules.Followed followed;
        boolean isRecovered;
        do {
            TrustRules after = trust.copy();
            followed = after.follow(read, context, now);
            candidates = new ArrayList<>(after.candidates(senderKeyID, now));
            isRecovered = followed.accepted().stream().anyMatch(statement -> statement[0] == TrustRules.RECOVERS);
            if (!isRecovered) candidates.addAll(trust.candidates(senderKeyID, now));
            for (byte[] key : candidates) {
                byte[] signed = signed(header, enc, device.publicKey, key, context, contentHash);
                if (sender == null && TrustRules.verifies(key, signature, signed)) sender = key;
            }
            // Again without recoveries: they would revoke the key of a phone that was enrolled since.
            read = read.stream().filter(statement -> statement[0] != TrustRules.RECOVERS).toList();
        } while (sender == null && isRecovered);
        if (candidates.isEmpty() && !followed.told().isEmpty()) throw new PushcryptException(followed.told().get(0));
        int padding = 0;
        for (int at = end; at < inner.length; at++) padding |= inner[at];
        if (sender == null || padding != 0) throw new PushcryptException("authentication-failed");

        // Step 6.
        long sentAt = Bytes.number(inner, 85, 93), timeToLive = Bytes.number(inner, 93, 97);
        if (inner[CONTENT] != PAYLOAD && inner[CONTENT] != STATEMENTS) throw new PushcryptException("unsupported-message");
        if (timeToLive < 1 || timeToLive > LONGEST_TIME_TO_LIVE) throw new PushcryptException("unsupported-message");
        if (TrustRules.isAfter(sentAt, LARGEST_TIME)) throw new PushcryptException("unsupported-message");
        if (TrustRules.isAfter(now, TrustRules.later(sentAt, timeToLive))) throw new PushcryptException("expired");
        if (TrustRules.isAfter(sentAt, TrustRules.later(now, TrustRules.TOLERANCE))) throw new PushcryptException("not-yet-valid");

        // Step 7.
        if (statements == null) throw new PushcryptException("malformed-payload");
        int start = statements.isEmpty() ? BODY : BODY + 1 + TrustRules.STATEMENT * statements.size();
        byte[] payload = part(inner, start, end);
        Payload.checkPayload(payload);
        byte[] messageID = part(inner, 69, 85);
        return new Opened(payload, messageID, sentAt, timeToLive, sender, device, followed.accepted(), followed.told());
    }

    /** Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text. */
    static byte[] decode(String text) throws PushcryptException {
        if (text.length() > LONGEST_TEXT || text.length() % 4 == 1) throw new PushcryptException("malformed-envelope");
        if (!BASE64URL.matcher(text).matches()) throw new PushcryptException("malformed-envelope");
        byte[] envelope = Base64.getUrlDecoder().decode(text);
        if (!encode(envelope).equals(text)) throw new PushcryptException("malformed-envelope");
        if (envelope[0] != SUITE) throw new PushcryptException("unsupported-suite");
        if (!BUCKETS.contains(envelope.length - OUTSIDE)) throw new PushcryptException("malformed-envelope");
        return envelope;
    }

    static String encode(byte[] envelope) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(envelope);
    }

    /** The statements of a body; {@code null} if they are unreadable [O-7.1]. The trust ignores those of an unknown version. */
    private static List<byte[]> statements(int contentType, byte[] body) {
        List<byte[]> statements = new ArrayList<>();
        if (contentType != STATEMENTS) return statements;
        int count = body.length > 0 ? body[0] & 0xff : 0, end = 1 + TrustRules.STATEMENT * count;
        if (count < 1 || count > MOST_STATEMENTS || body.length < end) return null;
        for (int at = 1; at < end; at += TrustRules.STATEMENT) statements.add(part(body, at, at + TrustRules.STATEMENT));
        return statements;
    }

    /** Identifies an envelope in a log. Never decide anything by it. */
    static String fingerprint(String text) {
        return HexFormat.of().formatHex(Bytes.sha256(text.getBytes(StandardCharsets.UTF_8)), 0, 4);
    }

    /** Whether a text is a valid context, the app's bundle id without a suffix [K-2]. */
    static void checkContext(String context) throws PushcryptException {
        if (!isContext(context)) throw new PushcryptException("wrong-topic");
    }

    static boolean isContext(String context) {
        return CONTEXT.matcher(context).matches();
    }

    static byte[] envelopeInfo(byte[] header, String context) {
        return concat(ascii("pushcrypt/1 envelope\0"), header, lp16(context));
    }

    static byte[] signed(byte[] header, byte[] enc, byte[] recipient, byte[] sender, String context, byte[] contentHash) {
        return concat(ascii("pushcrypt/1 signature\0"), header, enc, recipient, sender, lp16(context), contentHash);
    }

    static byte[] lp16(String text) {
        return concat(Bytes.bigEndian(text.length(), 2), ascii(text));
    }
}

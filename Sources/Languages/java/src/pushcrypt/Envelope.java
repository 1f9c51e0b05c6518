package pushcrypt;

import static pushcrypt.Bytes.ascii;
import static pushcrypt.Bytes.concat;
import static pushcrypt.Bytes.part;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
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
    static final int SUITE = 0x01, CONTENT = 68, BODY = 99, CERTIFIED = 0x80;
    private static final int CLASS = 0x0f, RESERVED = 0x70;
    static final List<Integer> BUCKETS = List.of(256, 512, 1024, 1536, 2048, 2560, 2816, 3584);
    static final long LONGEST_TIME_TO_LIVE = 2_592_000, LARGEST_TIME = (1L << 53) - 1;
    private static final int LONGEST_TEXT = 4850, LONGEST_PUSH = 65536;
    private static final Pattern CONTEXT = Pattern.compile("[A-Za-z0-9.-]{1,255}"), BASE64URL = Pattern.compile("[A-Za-z0-9_-]+");
    static final int OUTSIDE = 53;

    /** An authentic, fresh message, of which the app has to store and follow what {@link Receiver} says. */
    record Opened(byte[] payload, byte[] messageID, long sentAt, long timeToLive, ProviderPublicKey provider, long epoch, Learned learned,
        boolean hasCertificateConflict, DeviceKey device) {}

    private Envelope() {}

    /**
     * Opens a push as received. `context` is the app's own bundle id, never a value from the push [O-0.2]. Reads
     * nothing of the push but the envelope [O-0.1].
     */
    static Opened openPush(byte[] push, String context, List<DeviceKey> devices, Trust trust, PushType pushType, long now)
        throws GeneralSecurityException, PushcryptException {
        if (push.length > LONGEST_PUSH) throw new PushcryptException("malformed-notification");
        Object text = Payload.parseObject(push, "malformed-notification").get("ENCRYPTED_DATA");
        if (!(text instanceof String)) throw new PushcryptException("not-encrypted");
        return openText((String) text, context, devices, trust, pushType, now);
    }

    /** Opens the text of an envelope: steps 2 to 7. Changes nothing. */
    static Opened openText(String text, String context, List<DeviceKey> devices, Trust trust, PushType pushType, long now)
        throws GeneralSecurityException, PushcryptException {
        checkContext(context);
        byte[] envelope = decode(text), header = part(envelope, 0, 5), enc = part(envelope, 5, 37);

        // Step 3. Exactly one key is tried [O-3.2].
        byte[] recipientKeyID = part(header, 1, 5);
        DeviceKey device = devices.stream().filter(key -> Arrays.equals(key.id, recipientKeyID) && !Times.isAfter(now, key.end))
            .findFirst().orElseThrow(() -> new PushcryptException("unknown-recipient-key"));

        // Step 4.
        Hpke.Context encryption = Hpke.setupBaseR(enc, device.secret, device.publicKey, envelopeInfo(header, context));
        byte[] inner = encryption.open(new byte[0], part(envelope, 37, envelope.length));

        // Step 5.
        int end = BODY + (int) Bytes.number(inner, 97, 99);
        if (end > inner.length) throw new PushcryptException("authentication-failed");
        int kind = inner[CONTENT] & 0xff;
        long epoch = Bytes.number(inner, 0, 4), sentAt = Bytes.number(inner, 85, 93), timeToLive = Bytes.number(inner, 93, 97);
        Certificate certificate = certificate(kind, epoch, part(inner, BODY, end));
        byte[] signature = part(inner, 4, CONTENT), contentHash = Bytes.sha256(part(inner, CONTENT, inner.length)), epochBytes = part(inner, 0, 4);
        ProviderPublicKey provider = null;
        for (ProviderPublicKey pin : trust.pins()) {
            Learned known = trust.learned(pin);
            // The one that is stored was verified before.
            boolean isOf = certificate == null || certificate.equals(known.certificate()) || isOf(certificate, pin, context);
            byte[] signingKey = certificate == null ? pin.key : certificate.signingKey();
            byte[] signed = signed(header, enc, device.publicKey, pin.key, signingKey, epochBytes, context, contentHash);
            boolean isFrom = provider == null && isOf && Keys.verifies(signingKey, signature, signed);
            if (isFrom && known.after(certificate).opens(epoch, certificate, sentAt, now)) provider = pin;
        }
        int padding = 0;
        for (int at = end; at < inner.length; at++) padding |= inner[at];
        if (provider == null || padding != 0) throw new PushcryptException("authentication-failed");

        // Step 6.
        if ((kind & CLASS) < 1 || (kind & CLASS) > PushType.values().length) throw new PushcryptException("unsupported-message");
        if ((kind & CLASS) != pushType.pushClass) throw new PushcryptException("wrong-push-class");
        if (timeToLive < 1 || timeToLive > LONGEST_TIME_TO_LIVE) throw new PushcryptException("unsupported-message");
        if (Times.isAfter(sentAt, LARGEST_TIME)) throw new PushcryptException("unsupported-message");
        if (Times.isAfter(now, Times.later(sentAt, timeToLive))) throw new PushcryptException("expired");
        if (Times.isAfter(sentAt, Times.later(now, Times.TOLERANCE))) throw new PushcryptException("not-yet-valid");

        // Step 7.
        byte[] payload = part(inner, certificate == null ? BODY : BODY + Certificate.LENGTH, end), messageID = part(inner, 69, 85);
        Payload.checkPayload(payload);
        Learned known = trust.learned(provider);
        boolean isConflict = certificate != null && certificate.conflicts(known.certificate());
        return new Opened(payload, messageID, sentAt, timeToLive, provider, epoch, known.after(certificate), isConflict, device);
    }

    /** The certificate with which the body of a message of epoch 1 or more begins, and of no other; or null [O-5.2]. */
    private static Certificate certificate(int kind, long epoch, byte[] body) throws PushcryptException {
        boolean isCertified = (kind & CERTIFIED) != 0;
        if ((kind & RESERVED) != 0 || isCertified != epoch > 0 || isCertified && body.length < Certificate.LENGTH) {
            throw new PushcryptException("authentication-failed");
        }
        if (!isCertified) return null;
        try {
            Certificate certificate = new Certificate(part(body, 0, Certificate.LENGTH));
            if (certificate.epoch() == epoch) return certificate;
        } catch (PushcryptException refused) {
            // Reported as what follows.
        }
        throw new PushcryptException("authentication-failed");
    }

    private static boolean isOf(Certificate certificate, ProviderPublicKey pin, String context) {
        try {
            certificate.check(pin.key, context);
            return true;
        } catch (PushcryptException refused) {
            return false;
        }
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

    static byte[] signed(byte[] header, byte[] enc, byte[] recipient, byte[] provider, byte[] signingKey, byte[] epoch, String context, byte[] contentHash) {
        return concat(ascii("pushcrypt/1 signature\0"), header, enc, recipient, provider, signingKey, epoch, lp16(context), contentHash);
    }

    static byte[] lp16(String text) {
        return concat(Bytes.bigEndian(text.length(), 2), ascii(text));
    }
}

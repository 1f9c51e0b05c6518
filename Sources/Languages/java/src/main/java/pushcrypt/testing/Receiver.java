package pushcrypt.testing;

import static pushcrypt.internal.Bytes.part;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import pushcrypt.*;
import pushcrypt.internal.*;

/**
 * Opens pushes for one app: Docs/Format.md, "Opening", steps 1 to 7.
 *
 * <p>There is no replay guard and no store. Opening changes nothing: let the stored trust {@link Trust#learn} what the message brought.
 */
public final class Receiver {
    private static final int ENC = 5, CIPHERTEXT = 37;

    private final String topic;

    /**
     * Creates a receiver.
     *
     * @param topic the app's own bundle id, never a value from a push [O-0.2]
     * @throws PushcryptException {@code wrong-topic}
     */
    public Receiver(String topic) {
        Envelope.checkContext(topic);
        this.topic = topic;
    }

    /**
     * Opens an alert as received, now.
     *
     * @param push the whole JSON
     * @param device the device's key
     * @param trust the account's trust
     * @return the message
     * @throws PushcryptException a code of Docs/Format.md, "Opening"
     */
    public OpenedPush open(String push, DeviceKey device, Trust trust) {
        return open(push.getBytes(StandardCharsets.UTF_8), List.of(device), trust, PushType.ALERT, Instant.now());
    }

    /**
     * Opens a push as received.
     *
     * @param push the whole JSON
     * @param devices the device's keys: active, pending and retiring
     * @param trust the account's trust
     * @param pushType with what the push came: a message that was sealed as another is refused
     * @param at the present time
     * @return the message
     * @throws PushcryptException a code of Docs/Format.md, "Opening"
     */
    public OpenedPush open(byte[] push, List<DeviceKey> devices, Trust trust, PushType pushType, Instant at) {
        if (push.length > Format.LONGEST_PUSH) throw new PushcryptException(Code.MALFORMED_NOTIFICATION);
        Object text = Payload.parse(push, Code.MALFORMED_NOTIFICATION).get("ENCRYPTED_DATA");
        if (!(text instanceof String)) throw new PushcryptException(Code.NOT_ENCRYPTED);
        return openEnvelope((String) text, devices, trust, pushType, at);
    }

    /**
     * Opens the value of {@code ENCRYPTED_DATA}.
     *
     * @param text the value
     * @param devices the device's keys: active, pending and retiring
     * @param trust the account's trust
     * @param pushType with what the push came: a message that was sealed as another is refused
     * @param at the present time
     * @return the message
     * @throws PushcryptException a code of Docs/Format.md, "Opening"
     */
    public OpenedPush openEnvelope(String text, List<DeviceKey> devices, Trust trust, PushType pushType, Instant at) {
        long now = Times.milliseconds(at);
        byte[] envelope = decode(text), header = part(envelope, 0, ENC), enc = part(envelope, ENC, CIPHERTEXT);

        // Step 3. Exactly one key is tried [O-3.2].
        byte[] recipientKeyID = part(header, 1, ENC);
        DeviceKey device = devices.stream().filter(key -> Arrays.equals(key.id, recipientKeyID) && !Times.isAfter(now, key.end))
            .findFirst().orElseThrow(() -> new PushcryptException(Code.UNKNOWN_RECIPIENT_KEY));

        // Step 4.
        Hpke.Context encryption = Hpke.setupBaseR(enc, device.secret, device.publicKey, Envelope.info(header, topic));
        byte[] inner = encryption.open(part(envelope, CIPHERTEXT, envelope.length));

        // Step 5.
        int end = Format.INNER_BODY + (int) Bytes.number(inner, 97, Format.INNER_BODY);
        if (end > inner.length) throw new PushcryptException(Code.AUTHENTICATION_FAILED);
        int kind = inner[Format.INNER_CONTENT] & 0xff;
        long epoch = Bytes.number(inner, 0, 4), sentAt = Bytes.number(inner, 85, 93), timeToLive = Bytes.number(inner, 93, 97);
        Certificate certificate = certificate(kind, epoch, part(inner, Format.INNER_BODY, end));
        byte[] signature = part(inner, 4, Format.INNER_CONTENT), epochBytes = part(inner, 0, 4);
        byte[] contentHash = Platform.sha256(part(inner, Format.INNER_CONTENT, inner.length));
        ProviderPublicKey provider = null;
        for (ProviderPublicKey pin : trust.pins()) {
            Learned known = trust.learned(pin);
            // The one that is stored was verified before.
            boolean isOf = certificate == null || certificate.equals(known.certificate()) || isOf(certificate, pin);
            byte[] signingKey = certificate == null ? pin.bytes() : certificate.signingKey();
            byte[] signed = Envelope.signed(header, enc, device.publicKey, pin.bytes(), signingKey, epochBytes, topic, contentHash);
            boolean isFrom = provider == null && isOf && Keys.verifies(signingKey, signature, signed);
            if (isFrom && known.after(certificate).opens(epoch, certificate, sentAt, now)) provider = pin;
        }
        int padding = 0;
        for (byte each : part(inner, end, inner.length)) padding |= each;
        if (provider == null || padding != 0) throw new PushcryptException(Code.AUTHENTICATION_FAILED);

        // Step 6.
        int pushClass = kind & Format.KIND_CLASS;
        if (pushClass < 1 || pushClass > PushType.values().length) throw new PushcryptException(Code.UNSUPPORTED_MESSAGE);
        // Classes count from 1 in the order of the types.
        if (pushClass != pushType.ordinal() + 1) throw new PushcryptException(Code.WRONG_PUSH_CLASS);
        if (timeToLive < 1 || timeToLive > Format.LONGEST_TIME_TO_LIVE) throw new PushcryptException(Code.UNSUPPORTED_MESSAGE);
        if (Times.isAfter(sentAt, Format.LARGEST_TIME)) throw new PushcryptException(Code.UNSUPPORTED_MESSAGE);
        if (Times.isAfter(now, Times.later(sentAt, timeToLive))) throw new PushcryptException(Code.EXPIRED);
        if (Times.isAfter(sentAt, Times.later(now, Format.CLOCK_TOLERANCE))) throw new PushcryptException(Code.NOT_YET_VALID);

        // Step 7.
        byte[] body = part(inner, Format.INNER_BODY + (certificate == null ? 0 : Format.CERTIFICATE_LENGTH), end);
        String payload = Payload.decode(body, Code.MALFORMED_PAYLOAD), messageId = HexFormat.of().formatHex(inner, 69, 85);
        if (!(Payload.parse(payload, Code.MALFORMED_PAYLOAD).get("aps") instanceof Payload.Members)) throw new PushcryptException(Code.MALFORMED_PAYLOAD);
        Learned known = trust.learned(provider);
        return new OpenedPush(
            messageId, Instant.ofEpochMilli(sentAt), Duration.ofSeconds(timeToLive), provider, epoch, known.after(certificate),
            known.conflictsWith(certificate), device, payload);
    }

    /**
     * Names an envelope in logs. It may decide nothing.
     *
     * @param text the value of {@code ENCRYPTED_DATA}
     * @return 8 hexadecimal digits
     */
    public static String fingerprint(String text) {
        return HexFormat.of().formatHex(Platform.sha256(text.getBytes(StandardCharsets.UTF_8)), 0, 4);
    }

    /** The certificate with which the body of a message of epoch 1 or more begins, and of no other; or null [O-5.2]. */
    private static Certificate certificate(int kind, long epoch, byte[] body) {
        boolean isCertified = (kind & Format.KIND_CERTIFIED) != 0;
        if ((kind & Format.KIND_RESERVED) != 0 || isCertified != epoch > 0 || isCertified && body.length < Format.CERTIFICATE_LENGTH) {
            throw new PushcryptException(Code.AUTHENTICATION_FAILED);
        }
        if (!isCertified) return null;
        try {
            Certificate certificate = Certificate.of(part(body, 0, Format.CERTIFICATE_LENGTH));
            if (certificate.epoch() == epoch) return certificate;
        } catch (PushcryptException refused) {
            // Reported as what follows.
        }
        throw new PushcryptException(Code.AUTHENTICATION_FAILED);
    }

    private boolean isOf(Certificate certificate, ProviderPublicKey pin) {
        try {
            certificate.verify(pin, topic);
            return true;
        } catch (PushcryptException refused) {
            return false;
        }
    }

    /** Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text. */
    static byte[] decode(String text) {
        byte[] envelope = Envelope.decode(text, Code.MALFORMED_ENVELOPE);
        if (text.isEmpty() || text.length() > Format.LONGEST_ENVELOPE_TEXT) throw new PushcryptException(Code.MALFORMED_ENVELOPE);
        if (envelope[0] != Format.SUITE) throw new PushcryptException(Code.UNSUPPORTED_SUITE);
        if (!Format.BUCKETS.contains(envelope.length - Format.ENVELOPE_OVERHEAD)) throw new PushcryptException(Code.MALFORMED_ENVELOPE);
        return envelope;
    }
}

package pushcrypt;

import static pushcrypt.Bytes.ascii;
import static pushcrypt.Bytes.concat;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Sealing a payload for one device: Docs/Format.md, "Clear part", "Size" and "Sealing"; Docs/FormatNotes.md, "Randomness". */
final class Sealing {
    /** Ten minutes, in milliseconds: when a message ends does not tell the relay when it was sent. */
    private static final BigInteger END_UNIT = BigInteger.valueOf(600_000), SECOND = BigInteger.valueOf(1000);
    private static final int RANDOM = 32;

    /** The random bytes of one message, and of vectors the time to live as it is sealed. They must never be used twice [S-9]. */
    record Fixed(byte[] messageID, byte[] ephemeral, long sealedLife) {
        static Fixed random() {
            SecureRandom source = new SecureRandom();
            byte[] messageID = new byte[RANDOM], ephemeral = new byte[RANDOM];
            source.nextBytes(messageID);
            source.nextBytes(ephemeral);
            return new Fixed(messageID, ephemeral, 0);
        }
    }

    /** Whose messages are signed, by which key and certificate (null at epoch 0), the hedge key, and how it signs. */
    record Identity(byte[] provider, byte[] signingKey, Certificate certificate, byte[] hedge, Platform.Sign sign) {
        byte[] epoch() {
            return Bytes.bigEndian(certificate == null ? 0 : certificate.epoch(), 4);
        }
    }

    /** What was sealed. */
    record Sealed(String push, byte[] messageID, long timeToLive, int widestLength) {}

    private Sealing() {}

    /** The hedge key of a signing seed, or of a signature over the label that a key service made. */
    static byte[] hedgeKey(byte[] seed) {
        return hmac(seed, ascii("pushcrypt/1 hedge\0"));
    }

    private static byte[] hmac(byte[] key, byte[] data) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(data);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** An HMAC under the signer's hedge key, so that a cloned machine or a dead random source repeats nothing. */
    static byte[] hedged(Identity own, String label, byte[]... parts) {
        return hmac(own.hedge, concat(ascii(label), concat(parts)));
    }

    /** The id of a message that its caller named. */
    static byte[] namedMessageID(String name) {
        return Bytes.part(Bytes.sha256(ascii("pushcrypt/1 caller id\0"), name.getBytes(StandardCharsets.UTF_8)), 0, 16);
    }

    /** The time to live that is sealed: it ends at ten minutes, unless the push is a call. */
    private static long sealedTimeToLive(long timeToLive, long sentAt, PushType pushType) {
        if (pushType == PushType.VOIP) return timeToLive;
        BigInteger end = BigInteger.valueOf(sentAt).add(BigInteger.valueOf(timeToLive).multiply(SECOND));
        BigInteger floor = end.divide(END_UNIT).multiply(END_UNIT), ceiling = floor.equals(end) ? end : floor.add(END_UNIT);
        long rounded = life(ceiling, sentAt);
        return rounded <= Envelope.LONGEST_TIME_TO_LIVE ? rounded : life(floor, sentAt);
    }

    private static long life(BigInteger until, long sentAt) {
        return until.subtract(BigInteger.valueOf(sentAt)).add(BigInteger.valueOf(999)).divide(SECOND).longValueExact();
    }

    static Sealed seal(byte[] payload, Identity own, String topic, Placeholder placeholder, DevicePublicKey device, long sentAt, SealOptions options, Fixed fixed)
        throws GeneralSecurityException, PushcryptException {
        PushType pushType = options.pushType;
        if (options.timeToLive < 1 || options.timeToLive > Envelope.LONGEST_TIME_TO_LIVE || sentAt < 0 || sentAt > Envelope.LARGEST_TIME) {
            throw new PushcryptException("invalid-time");
        }
        String reserved = Reserved.write(options);
        Payload.Members aps = checkSealable(payload, pushType);
        String minified = Payload.minify(Payload.decode(payload, "malformed-payload"));
        byte[] whole = (reserved.isEmpty() ? minified : minified.substring(0, minified.length() - 1) + ",\"pushcrypt\":" + reserved + "}")
            .getBytes(StandardCharsets.UTF_8);
        byte[] body = own.certificate == null ? whole : concat(own.certificate.bytes, whole);
        int bucket = bucket(body.length, whole.length, pushType);
        String clear = clearPart(pushType, placeholder, aps);
        int text = (4 * (Envelope.OUTSIDE + bucket) + 2) / 3, widestLength = widest(clear + "\"}") + text;
        int length = options.sentExactly ? clear.getBytes(StandardCharsets.UTF_8).length + 2 + text : widestLength;
        if (length > pushType.limit) {
            throw new PushcryptException("push-too-large", "the push would have " + length + " bytes, " + (length - pushType.limit)
                + " more than Apple accepts; shorten the title or keep fewer fields in the clear");
        }

        long timeToLive = fixed.sealedLife != 0 ? fixed.sealedLife : sealedTimeToLive(options.timeToLive, sentAt, pushType);
        byte[] time = Bytes.bigEndian(sentAt, 8);
        byte[] messageID = options.messageName != null ? namedMessageID(options.messageName)
            : Bytes.part(hedged(own, "pushcrypt/1 message id\0", fixed.messageID, time, Bytes.sha256(body)), 0, 16);
        byte[] inner = new byte[bucket];
        byte[] content = concat(
            new byte[] {(byte) (pushType.pushClass | (own.certificate == null ? 0 : Envelope.CERTIFIED))}, messageID, time, Bytes.bigEndian(timeToLive, 4),
            Bytes.bigEndian(body.length, 2), body);
        System.arraycopy(own.epoch(), 0, inner, 0, 4);
        System.arraycopy(content, 0, inner, Envelope.CONTENT, content.length);
        byte[] header = concat(new byte[] {Envelope.SUITE}, device.id);
        byte[] contentHash = Bytes.sha256(Bytes.part(inner, Envelope.CONTENT, inner.length));
        byte[] ikmE = hedged(own, "pushcrypt/1 ephemeral\0", fixed.ephemeral, header, device.key, own.epoch(), Envelope.lp16(topic), contentHash);
        Hpke.Setup setup = Hpke.setupBaseS(device.key, Envelope.envelopeInfo(header, topic), ikmE);
        byte[] signature = own.sign.sign(
            Envelope.signed(header, setup.enc(), device.key, own.provider, own.signingKey, own.epoch(), topic, contentHash));
        System.arraycopy(signature, 0, inner, 4, signature.length);
        byte[] envelope = concat(header, setup.enc(), setup.context().seal(new byte[0], inner));
        return new Sealed(clear + Envelope.encode(envelope) + "\"}", messageID, timeToLive, widestLength);
    }

    /** Parses a payload, and refuses one that would not open or show [J-1] to [J-7], [S-8]. Returns `aps`. */
    private static Payload.Members checkSealable(byte[] payload, PushType pushType) throws PushcryptException {
        Map<String, Object> members = Payload.parseObject(payload, "malformed-payload");
        if (members.containsKey("ENCRYPTED_DATA")) {
            throw new PushcryptException("reserved-key", "the payload already has ENCRYPTED_DATA: seal the original payload, not a sealed one");
        }
        if (members.containsKey("pushcrypt")) {
            throw new PushcryptException("reserved-key",
                "the key pushcrypt at the top level is reserved for the format; rename yours, and pass attachments as an option");
        }
        if (!(members.get("aps") instanceof Payload.Members aps)) {
            throw new PushcryptException("missing-aps", "the payload has no aps object; a push without one is never shown");
        }
        Apple.check(aps, pushType);
        return aps;
    }

    /** The smallest bucket that holds the body [S-6]. */
    private static int bucket(int length, int payload, PushType pushType) throws PushcryptException {
        for (int size : Envelope.BUCKETS) if (Envelope.BODY + length <= size && size <= pushType.largestBucket) return size;
        int budget = pushType.maximumPayloadLength() - (length - payload);
        throw new PushcryptException("payload-too-large", "the payload has " + payload + " bytes without white space, " + (payload - budget)
            + " more than fit (" + budget + "); shorten it by that much");
    }

    static byte[] sign(PrivateKey key, byte[] data) throws GeneralSecurityException {
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(key);
        signer.update(data);
        return signer.sign();
    }

    /** The text before the envelope. With `"}` after the envelope, it is all that the relay sees of a push. */
    private static String clearPart(PushType pushType, Placeholder placeholder, Payload.Members aps) {
        StringBuilder clear = new StringBuilder();
        if (pushType == PushType.ALERT) {
            clear.append(",\"mutable-content\":1,\"alert\":{\"title\":").append(Json.quoted(placeholder.title));
            clear.append(",\"body\":\"(Encrypted)\"}");
            String sound = placeholder.isMatching ? aps.containsKey("sound") ? "default" : null : placeholder.sound;
            if (sound != null) clear.append(",\"sound\":").append(Json.quoted(sound));
            for (String name : aps.keySet()) {
                boolean isClear = placeholder.clearFields.stream().anyMatch(field -> field.toString().equals(name));
                if (isClear) clear.append(",\"").append(name).append("\":").append(aps.written(name));
            }
        }
        if (pushType == PushType.BACKGROUND || new Payload.Number("1").equals(aps.get("content-available"))) {
            clear.append(",\"content-available\":1");
        }
        return "{\"aps\":{" + (clear.isEmpty() ? "" : clear.substring(1)) + "},\"ENCRYPTED_DATA\":\"";
    }

    /** The length of a clear part in the longest form that a client may write [S-4]. */
    private static int widest(String json) {
        int count = 0;
        boolean inside = false;
        for (int at = 0; at < json.length(); at++) {
            char character = json.charAt(at);
            if (character == '"') inside = !inside;
            if (!inside) {
                count += character == ',' || character == ':' ? 2 : 1;
            } else if (character == '\\') {
                at += json.charAt(at + 1) == 'u' ? 5 : 1;
                count += 6;
            } else {
                // Two surrogates are one character of four UTF-8 bytes, and count 12.
                count += character >= 0x80 || "<>&'+=`\u007f".indexOf(character) >= 0 ? 6 : character == '/' ? 2 : 1;
            }
        }
        return count;
    }
}

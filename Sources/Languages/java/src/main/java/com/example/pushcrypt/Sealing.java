package com.example.pushcrypt;

import static com.example.pushcrypt.internal.Bytes.ascii;
import static com.example.pushcrypt.internal.Bytes.concat;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.HexFormat;
import com.example.pushcrypt.internal.*;

/** Sealing a payload for one device: Docs/Format.md, "Clear part", "Size", "Sealing" and "Randomness". */
final class Sealing {
    /** Ten minutes, in milliseconds: when a message ends does not tell the relay when it was sent. */
    private static final BigInteger END_UNIT = BigInteger.valueOf(Format.EXPIRATION_UNIT), SECOND = BigInteger.valueOf(1000);

    /** The random bytes of one message, and of vectors the time to live as it is sealed. They must never be used twice [S-12]. */
    record Fixed(byte[] messageID, byte[] ephemeral, long sealedLife) {
        static Fixed random() {
            return new Fixed(Platform.random(), Platform.random(), 0);
        }
    }

    /** Whose messages are signed, by which key and certificate (null at epoch 0), and the hedge key. */
    record Identity(AbstractSecretKey key, byte[] provider, Certificate certificate, byte[] hedge) {
        Identity(AbstractSecretKey key, byte[] provider, Certificate certificate) {
            this(key, provider, certificate, Platform.hmac(key.secret, ascii(Format.LABEL_HEDGE)));
        }

        byte[] epoch() {
            return Bytes.bigEndian(certificate == null ? 0 : certificate.epoch(), 4);
        }
    }

    private Sealing() {}

    /** An HMAC under the signer's hedge key, so that a cloned machine or a dead random source repeats nothing. */
    static byte[] hedged(Identity own, String label, byte[]... parts) {
        return Platform.hmac(own.hedge, ascii(label), concat(parts));
    }

    /** The time to live that is sealed: it ends at ten minutes, unless the push is a call; 0, for one attempt, leaves phones' clocks ten minutes. */
    private static long sealedTimeToLive(long timeToLive, long sentAt, PushType pushType) {
        if (timeToLive == 0) return Format.EXPIRATION_UNIT / 1000;
        if (pushType == PushType.VOIP) return timeToLive;
        BigInteger end = BigInteger.valueOf(sentAt).add(BigInteger.valueOf(timeToLive).multiply(SECOND));
        BigInteger floor = end.divide(END_UNIT).multiply(END_UNIT), ceiling = floor.equals(end) ? end : floor.add(END_UNIT);
        long rounded = life(ceiling, sentAt);
        return rounded <= Format.LONGEST_TIME_TO_LIVE ? rounded : life(floor, sentAt);
    }

    private static long life(BigInteger until, long sentAt) {
        return until.subtract(BigInteger.valueOf(sentAt)).add(BigInteger.valueOf(999)).divide(SECOND).longValueExact();
    }

    static SealedPush seal(String payload, Identity own, String topic, Placeholder placeholder, StoredDevice stored, long sentAt, SealOptions options, Fixed fixed) {
        DevicePublicKey device = stored.publicKey();
        PushType pushType = options.pushType;
        if (sentAt < 0 || sentAt > Format.LARGEST_TIME) throw new PushcryptException(Code.INVALID_TIME);
        if (own.certificate != null && Times.isAfter(sentAt, own.certificate.expiry())) {
            throw new PushcryptException(Code.INVALID_TIME, "the certificate expired at " + own.certificate.expiresAt() + ": rotate the signing key");
        }
        Payload.Members aps = checkSealable(payload, pushType);
        String minified = Payload.minify(payload);
        byte[] time = Bytes.bigEndian(sentAt, 8), body = body(minified, reserved(options, null), own);
        byte[] messageID = options.messageId != null ? Envelope.namedMessageID(options.messageId)
            : Bytes.part(hedged(own, Format.LABEL_MESSAGE_ID, fixed.messageID, time, Platform.sha256(body)), 0, Format.MESSAGE_ID_LENGTH);
        if (options.answers != null) body = body(minified, reserved(options, options.answers.member(device.key, topic, messageID, sentAt)), own);
        // The limits leave room for a certificate even if there is none [S-5].
        int whole = body.length - (own.certificate == null ? 0 : own.certificate.bytes.length);
        int budget = pushType.largestBucket - Format.INNER_BODY - Format.CERTIFICATE_LENGTH;
        if (whole > budget) {
            throw new PushcryptException(Code.PAYLOAD_TOO_LARGE, "the payload has " + whole + " bytes without white space, " + (whole - budget)
                + " more than fit (" + budget + "); shorten it by that much");
        }
        int bucket = smallestBucket(body.length), longestText = textLength(smallestBucket(Format.CERTIFICATE_LENGTH + whole));
        String clear = clearPart(pushType, placeholder, aps);
        int widest = widest(clear + "\"}");
        int length = (options.isExact ? clear.getBytes(StandardCharsets.UTF_8).length + 2 : widest) + longestText;
        if (length > pushType.limit) {
            throw new PushcryptException(Code.PUSH_TOO_LARGE, "the push would have " + length + " bytes, " + (length - pushType.limit)
                + " more than Apple accepts; shorten the title or keep fewer fields in the clear");
        }

        long timeToLive = fixed.sealedLife != 0 ? fixed.sealedLife : sealedTimeToLive(options.timeToLive, sentAt, pushType);
        byte[] inner = new byte[bucket];
        byte[] content = concat(
            new byte[] {(byte) (pushType.pushClass | (own.certificate == null ? 0 : Format.KIND_CERTIFIED))}, messageID, time, Bytes.bigEndian(timeToLive, 4),
            Bytes.bigEndian(body.length, 2), body);
        System.arraycopy(own.epoch(), 0, inner, 0, 4);
        System.arraycopy(content, 0, inner, Format.INNER_CONTENT, content.length);
        byte[] header = concat(new byte[] {Format.SUITE}, device.id);
        byte[] contentHash = Platform.sha256(Bytes.part(inner, Format.INNER_CONTENT, inner.length));
        byte[] ikmE = hedged(own, Format.LABEL_EPHEMERAL, fixed.ephemeral, header, device.key, own.epoch(), Envelope.lp16(topic), contentHash);
        Hpke.Setup setup = Hpke.setupBaseS(device.key, Envelope.info(header, topic), ikmE);
        byte[] signature = own.key.sign(
            Envelope.signed(header, setup.enc(), device.key, own.provider, own.key.publicKey, own.epoch(), topic, contentHash));
        System.arraycopy(signature, 0, inner, 4, signature.length);
        byte[] envelope = concat(header, setup.enc(), setup.context().seal(inner));
        return new SealedPush(
            clear + Envelope.encode(envelope) + "\"}", HexFormat.of().formatHex(messageID), Instant.ofEpochMilli(sentAt), Duration.ofSeconds(timeToLive),
            options.timeToLive == 0 ? 0 : (sentAt + 1000 * timeToLive) / 1000, widest + textLength(bucket), stored, pushType);
    }

    /** The certificate, then the payload with the member `pushcrypt`. */
    private static byte[] body(String minified, String reserved, Identity own) {
        String whole = reserved.isEmpty() ? minified : minified.substring(0, minified.length() - 1) + ",\"pushcrypt\":" + reserved + "}";
        byte[] bytes = whole.getBytes(StandardCharsets.UTF_8);
        return own.certificate == null ? bytes : concat(own.certificate.bytes, bytes);
    }

    /**
     * The member `pushcrypt`, or nothing: Docs/Format.md, "Withdrawal and drop" and "Sender"; Docs/FormatFiles.md. The message's id is
     * chosen before `answer`.
     */
    private static String reserved(SealOptions options, String answer) {
        String text = Json.object(
            "body", options.fullBody == null ? null : options.fullBody.toJson(),
            "attachments", Json.array(options.attachments.stream().map(Reference::toJson).toList()),
            "sender", options.person == null ? null : options.person.json(), "withdraw", Json.texts(options.withdraws),
            "drop", options.isDropped ? "true" : null, "answer", Json.quoted(answer));
        return text.equals("{}") ? "" : text;
    }

    /** Parses a payload, and refuses one that would not open or show [J-1] to [J-7], [S-8]. Returns `aps`. */
    private static Payload.Members checkSealable(String payload, PushType pushType) {
        Payload.Members members = Payload.parse(payload, Code.MALFORMED_PAYLOAD);
        if (members.containsKey("ENCRYPTED_DATA")) {
            throw new PushcryptException(Code.RESERVED_KEY, "the payload already has ENCRYPTED_DATA: seal the original payload, not a sealed one");
        }
        if (members.containsKey("pushcrypt")) {
            throw new PushcryptException(Code.RESERVED_KEY,
                "the key pushcrypt at the top level is reserved for the format; rename yours, and pass attachments as an option");
        }
        if (!(members.get("aps") instanceof Payload.Members aps)) {
            throw new PushcryptException(Code.MISSING_APS, "the payload has no aps object; a push without one is never shown");
        }
        Apple.check(aps, pushType);
        return aps;
    }

    /** The smallest bucket for a body [S-6]. */
    private static int smallestBucket(int length) {
        return Format.BUCKETS.stream().filter(size -> Format.INNER_BODY + length <= size).findFirst().orElseThrow();
    }

    /** The number of characters of an envelope. */
    private static int textLength(int bucket) {
        return (4 * (Format.ENVELOPE_OVERHEAD + bucket) + 2) / 3;
    }

    /** The text before the envelope. With `"}` after the envelope, it is all that the relay sees of a push. */
    private static String clearPart(PushType pushType, Placeholder placeholder, Payload.Members aps) {
        StringBuilder clear = new StringBuilder();
        if (pushType == PushType.ALERT) {
            clear.append(",\"mutable-content\":1,\"alert\":{\"title\":").append(Json.quoted(placeholder.title));
            clear.append(",\"body\":").append(Json.quoted(Format.CLEAR_BODY)).append('}');
            String sound = placeholder.isMatching ? Apple.has(aps, "sound") ? "default" : null : placeholder.sound;
            if (sound != null) clear.append(",\"sound\":").append(Json.quoted(sound));
            for (String name : aps.keySet()) {
                boolean isClear = Apple.has(aps, name) && placeholder.clearFields.stream().anyMatch(field -> field.toString().equals(name));
                if (isClear) clear.append(",\"").append(name).append("\":").append(Payload.minify(aps.written(name)));
            }
        }
        if (pushType == PushType.BACKGROUND || Apple.isSet(aps.get("content-available"))) {
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

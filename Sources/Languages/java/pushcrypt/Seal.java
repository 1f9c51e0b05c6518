package pushcrypt;

import static pushcrypt.Bytes.concat;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.Signature;
import java.util.List;
import java.util.Map;

/**
 * Sealing a payload for one device: Docs/Format.md, "Clear part", "Size" and "Sealing".
 *
 * <p>It uses plain randomness, which the format allows: a clone of a running machine may repeat an ephemeral key; the
 * Swift sealer hedges against this. No field of `aps` is kept in the clear, and a sound is named there only if the
 * payload has one. Violations of Apple's rules for payloads are not refused.
 */
public final class Seal {
    /** The push types, each with the most bytes that APNs accepts, and the largest bucket. */
    public enum PushType {
        ALERT(4096, 2816), BACKGROUND(4096, 2816), VOIP(5120, 3584);

        final int limit, largest;

        PushType(int limit, int largest) {
            this.limit = limit;
            this.largest = largest;
        }
    }

    /** A sender's secret key, and the public key that is signed and identified. */
    public record SenderKey(byte[] seed, byte[] publicKey) {
        public static SenderKey of(byte[] seed) throws GeneralSecurityException {
            return new SenderKey(seed, Keys.ed25519Public(seed));
        }

        @Override
        public String toString() {
            return "SenderKey";
        }
    }

    /**
     * A message to seal. `sound` may be null, and so may `messageID`, which has the same 16 bytes for a retry.
     *
     * <p>`ephemeral` is for vectors alone, otherwise null: the input of `DeriveKeyPair` instead of a random key,
     * which must never be used twice [S-9].
     */
    public record Message(byte[] payload, String context, long sentAt, long timeToLive, PushType pushType, String title, String sound,
        byte[] messageID, byte[] ephemeral, List<byte[]> statements) {}

    private Seal() {}

    /** Seals a payload for one device. Returns the push to send instead of the payload. */
    public static byte[] seal(Message message, byte[] device, SenderKey sender) throws GeneralSecurityException, Refused {
        Envelope.checkContext(message.context);
        Keys.checkDeviceKey(device);
        Map<String, Object> members = Payload.checkPayload(message.payload);
        if (members.containsKey("ENCRYPTED_DATA") || members.containsKey("pushcrypt")) throw new Refused("reserved-key");
        if (message.timeToLive < 1 || message.timeToLive > Envelope.LONGEST_TIME_TO_LIVE) throw new Refused("invalid-time");
        if (message.sentAt < 0 || message.sentAt > Envelope.LARGEST_TIME) throw new Refused("invalid-time");
        boolean whole = message.statements.stream().allMatch(statement -> statement.length == Trust.STATEMENT);
        if (message.statements.size() > Envelope.MOST_STATEMENTS || !whole) throw new Refused("invalid-request");
        if (message.messageID != null && message.messageID.length != 16) throw new Refused("invalid-request");
        if (!isUnicode(message.title) || message.sound != null && !isUnicode(message.sound)) throw new Refused("invalid-request");
        boolean carries = !message.statements.isEmpty();
        byte[] count = carries ? new byte[] {(byte) message.statements.size()} : new byte[0];
        byte[] body = concat(count, concat(message.statements.toArray(new byte[0][])), Payload.minify(message.payload));
        int bucket = Envelope.BUCKETS.stream().filter(size -> Envelope.BODY + body.length <= size && size <= message.pushType.largest)
            .findFirst().orElseThrow(() -> new Refused("payload-too-large"));
        String clear = clearPart(message, (Map<?, ?>) members.get("aps"));
        int textLength = (4 * (Envelope.OUTSIDE + bucket) + 2) / 3;
        if (widest(clear + "\"}") + textLength > message.pushType.limit) throw new Refused("push-too-large");

        byte[] messageID = message.messageID;
        if (messageID == null) new SecureRandom().nextBytes(messageID = new byte[16]);
        byte[] header = concat(new byte[] {Envelope.SUITE}, Keys.keyID(Keys.X25519, device));
        Hpke.Setup setup = Hpke.setupBaseS(device, Envelope.envelopeInfo(header, message.context), message.ephemeral);
        byte[] content = concat(
            new byte[] {carries ? (byte) Envelope.STATEMENTS : Envelope.PAYLOAD}, messageID, Bytes.bigEndian(message.sentAt, 8),
            Bytes.bigEndian(message.timeToLive, 4), Bytes.bigEndian(body.length, 2), body);
        byte[] inner = new byte[bucket];
        System.arraycopy(Keys.keyID(Keys.ED25519, sender.publicKey), 0, inner, 0, 4);
        System.arraycopy(content, 0, inner, Envelope.CONTENT, content.length);
        byte[] signature = sign(sender.seed, Envelope.signed(header, setup.enc(), device, sender.publicKey, message.context, inner));
        System.arraycopy(signature, 0, inner, 4, signature.length);
        byte[] envelope = concat(header, setup.enc(), setup.context().seal(new byte[0], inner));
        return (clear + Envelope.encode(envelope) + "\"}").getBytes(StandardCharsets.UTF_8);
    }

    static byte[] sign(byte[] seed, byte[] data) throws GeneralSecurityException {
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(Keys.privateKey("Ed25519", 0x70, seed));
        signer.update(data);
        return signer.sign();
    }

    /** Whether a text can be encoded as UTF-8: it has no lone surrogate. */
    private static boolean isUnicode(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    /** The text before the envelope. With `"}` after the envelope, it is all that the relay sees of a push. */
    private static String clearPart(Message message, Map<?, ?> aps) {
        StringBuilder clear = new StringBuilder();
        boolean sounds = message.sound != null && aps.containsKey("sound") && aps.get("sound") != Payload.NULL;
        if (message.pushType == PushType.ALERT) {
            clear.append(",\"mutable-content\":1,\"alert\":{\"title\":").append(quoted(message.title));
            clear.append(",\"body\":\"(Encrypted)\"}");
            if (sounds) clear.append(",\"sound\":").append(quoted(message.sound));
        }
        if (message.pushType == PushType.BACKGROUND || new Payload.Number("1").equals(aps.get("content-available"))) {
            clear.append(",\"content-available\":1");
        }
        return "{\"aps\":{" + (clear.isEmpty() ? "" : clear.substring(1)) + "},\"ENCRYPTED_DATA\":\"";
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char character : text.toCharArray()) {
            if (character < 0x20) quoted.append(String.format("\\u%04x", (int) character));
            else if (character == '"' || character == '\\') quoted.append('\\').append(character);
            else quoted.append(character);
        }
        return quoted.append('"').toString();
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

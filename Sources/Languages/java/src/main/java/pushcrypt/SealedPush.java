package pushcrypt;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;

/** A sealed payload. */
public final class SealedPush {
    final byte[] id;
    private final Sealing.Sealed sealed;
    private final DevicePublicKey recipient;
    private final long sentAt;
    private final PushType pushType;

    SealedPush(Sealing.Sealed sealed, DevicePublicKey recipient, long sentAt, PushType pushType) {
        this.id = sealed.messageID();
        this.sealed = sealed;
        this.recipient = recipient;
        this.sentAt = sentAt;
        this.pushType = pushType;
    }

    /**
     * Returns what to send instead of the payload, unchanged.
     *
     * @return JSON
     */
    public String json() {
        return sealed.push();
    }

    /**
     * Returns the same in UTF-8.
     *
     * @return the bytes
     */
    public byte[] bytes() {
        return sealed.push().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the id of the message, which a phone shows once.
     *
     * @return 32 hexadecimal digits
     */
    public String messageId() {
        return HexFormat.of().formatHex(id);
    }

    /**
     * Returns the time to live that was sealed.
     *
     * @return whole seconds
     */
    public Duration timeToLive() {
        return Duration.ofSeconds(sealed.timeToLive());
    }

    /**
     * Returns the last moment at which receivers accept the message.
     *
     * @return the end
     */
    public Instant expiresAt() {
        return Instant.ofEpochMilli(sentAt).plus(timeToLive());
    }

    /**
     * Returns the length of the longest form that a client may re-encode the JSON to.
     *
     * @return bytes
     */
    public int widestLength() {
        return sealed.widestLength();
    }

    /**
     * Returns the key that the message is sealed to.
     *
     * @return the device's key
     */
    public DevicePublicKey recipient() {
        return recipient;
    }

    /**
     * Returns the push type to send it as.
     *
     * @return the type
     */
    public PushType pushType() {
        return pushType;
    }
}

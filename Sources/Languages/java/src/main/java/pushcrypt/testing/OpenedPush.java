package pushcrypt.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import pushcrypt.ProviderPublicKey;
import pushcrypt.internal.Json;
import pushcrypt.internal.Payload;

/** An authentic, fresh message. Printing it does not show the payload. */
public final class OpenedPush {
    private final byte[] payload, messageID;
    private final Payload.Members members;
    private final long sentAt, timeToLive, epoch;
    private final ProviderPublicKey provider;
    private final Learned learned;
    private final boolean hasCertificateConflict;
    private final DeviceKey device;

    OpenedPush(
        byte[] payload, Payload.Members members, byte[] messageID, long sentAt, long timeToLive, ProviderPublicKey provider, long epoch, Learned learned,
        boolean hasCertificateConflict, DeviceKey device) {
        this.payload = payload;
        this.members = members;
        this.messageID = messageID;
        this.sentAt = sentAt;
        this.timeToLive = timeToLive;
        this.provider = provider;
        this.epoch = epoch;
        this.learned = learned;
        this.hasCertificateConflict = hasCertificateConflict;
        this.device = device;
    }

    /**
     * Returns the id of the message, which is shown once.
     *
     * @return 32 hexadecimal digits
     */
    public String messageId() {
        return HexFormat.of().formatHex(messageID);
    }

    /**
     * Returns when it was sealed.
     *
     * @return the provider's time
     */
    public Instant sentAt() {
        return Instant.ofEpochMilli(sentAt);
    }

    /**
     * Returns for how long it is shown.
     *
     * @return whole seconds
     */
    public Duration timeToLive() {
        return Duration.ofSeconds(timeToLive);
    }

    /**
     * Returns the pin under which it verified.
     *
     * @return the provider key
     */
    public ProviderPublicKey provider() {
        return provider;
    }

    /**
     * Returns the epoch of the key that signed it. A guard counts what it remembers of lower epochs than the floor of {@link #learned} as absent.
     *
     * @return 0 for the provider key itself
     */
    public long epoch() {
        return epoch;
    }

    /**
     * Returns what is known of the provider now, for {@link Trust#learn}.
     *
     * @return its highest certificate and floor, those of the message included
     */
    public Learned learned() {
        return learned;
    }

    /**
     * Returns whether another certificate of its epoch is known: of a restored store, or a stolen provider key. Tell the app.
     *
     * @return whether there is one
     */
    public boolean hasCertificateConflict() {
        return hasCertificateConflict;
    }

    /**
     * Returns the device key that opened it: a pending one becomes active [O-9.2].
     *
     * @return the key
     */
    public DeviceKey device() {
        return device;
    }

    /**
     * Returns the sealed payload. It has the keys of files: see {@link #content}.
     *
     * @return JSON in UTF-8
     */
    public byte[] payload() {
        return payload.clone();
    }

    /**
     * Returns the payload without {@code pushcrypt}, for the app.
     *
     * @return maps, lists, texts, booleans, {@code null}, and numbers as {@link java.math.BigDecimal}
     */
    public Map<String, Object> content() {
        Map<String, Object> content = new LinkedHashMap<>();
        members.forEach((name, value) -> content.put(name, Json.plain(value)));
        content.remove("pushcrypt");
        content.remove("ENCRYPTED_DATA");
        return content;
    }

    /**
     * Returns what the member {@code pushcrypt} says.
     *
     * @return files, withdrawals and sender
     */
    public Extras extras() {
        return Extras.read(members, messageId());
    }

    /** Returns the id. */
    @Override
    public String toString() {
        return "OpenedPush(" + messageId() + ")";
    }
}

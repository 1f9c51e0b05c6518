package pushcrypt;

import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** An authentic, fresh message. Printing it does not show the payload. */
public final class OpenedPush {
    private final Envelope.Opened opened;

    OpenedPush(Envelope.Opened opened) {
        this.opened = opened;
    }

    /**
     * Returns the id of the message, which is shown once.
     *
     * @return 32 hexadecimal digits
     */
    public String messageId() {
        return HexFormat.of().formatHex(opened.messageID());
    }

    /**
     * Returns when it was sealed.
     *
     * @return the provider's time
     */
    public Instant sentAt() {
        return Instant.ofEpochMilli(opened.sentAt());
    }

    /**
     * Returns for how long it is shown.
     *
     * @return whole seconds
     */
    public Duration timeToLive() {
        return Duration.ofSeconds(opened.timeToLive());
    }

    /**
     * Returns the pin under which it verified.
     *
     * @return the provider key
     */
    public ProviderPublicKey provider() {
        return opened.provider();
    }

    /**
     * Returns the epoch of the key that signed it. A guard counts what it remembers of lower epochs than the floor of {@link #learned} as absent.
     *
     * @return 0 for the provider key itself
     */
    public long epoch() {
        return opened.epoch();
    }

    /**
     * Returns what is known of the provider now, for {@link Trust#learn}.
     *
     * @return its highest certificate and floor, those of the message included
     */
    public Learned learned() {
        return opened.learned();
    }

    /**
     * Returns whether another certificate of its epoch is known: of a restored store, or a stolen provider key. Tell the app.
     *
     * @return whether there is one
     */
    public boolean hasCertificateConflict() {
        return opened.hasCertificateConflict();
    }

    /**
     * Returns the device key that opened it: a pending one becomes active [O-9.2].
     *
     * @return the key
     */
    public DeviceKey device() {
        return opened.device();
    }

    /**
     * Returns the sealed payload. It has the keys of files: see {@link #content}.
     *
     * @return JSON in UTF-8
     */
    public byte[] payload() {
        return opened.payload().clone();
    }

    /**
     * Returns the payload without {@code pushcrypt}, for the app.
     *
     * @return maps, lists, texts, booleans, {@code null}, and numbers as {@link java.math.BigDecimal}
     */
    public Map<String, Object> content() {
        Map<String, Object> content = new LinkedHashMap<>();
        members().forEach((name, value) -> content.put(name, Json.plain(value)));
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
        return Reserved.read(members(), messageId());
    }

    private Map<String, Object> members() {
        try {
            return Payload.checkPayload(opened.payload());
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Returns the id. */
    @Override
    public String toString() {
        return "OpenedPush(" + messageId() + ")";
    }
}

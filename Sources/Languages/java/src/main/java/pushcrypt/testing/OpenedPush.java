package pushcrypt.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import pushcrypt.Code;
import pushcrypt.ProviderPublicKey;
import pushcrypt.internal.Json;
import pushcrypt.internal.Payload;

/**
 * An authentic, fresh message. Printing it does not show the payload.
 *
 * @param messageId the id of the message, which is shown once: 32 hexadecimal digits
 * @param sentAt when it was sealed
 * @param timeToLive for how long it is shown, whole seconds
 * @param provider the pin under which it verified
 * @param epoch the epoch of the key that signed it; 0 for the provider key itself
 * @param learned what is known of the provider now, for {@link Trust#learn}
 * @param hasCertificateConflict whether another certificate of its epoch is known: of a restored store, or a stolen provider key
 * @param device the device key that opened it: a pending one becomes active [O-9.2]
 * @param payload the sealed payload, JSON. It has the keys of files: see {@link #content}
 */
public record OpenedPush(
    String messageId, Instant sentAt, Duration timeToLive, ProviderPublicKey provider, long epoch, Learned learned, boolean hasCertificateConflict,
    DeviceKey device, String payload) {
    /**
     * Returns the payload without {@code pushcrypt}, for the app.
     *
     * @return maps, lists, texts, booleans, {@code null}, and numbers as {@link java.math.BigDecimal}
     */
    public Map<String, Object> content() {
        Map<String, Object> content = new LinkedHashMap<>();
        Payload.parse(payload, Code.MALFORMED_PAYLOAD).forEach((name, value) -> content.put(name, Json.plain(value)));
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
        return Extras.read(Payload.parse(payload, Code.MALFORMED_PAYLOAD), messageId);
    }

    /** Returns the id. */
    @Override
    public String toString() {
        return "OpenedPush(" + messageId + ")";
    }
}

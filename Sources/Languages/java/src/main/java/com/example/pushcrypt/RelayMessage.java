package com.example.pushcrypt;

import java.util.*;
import com.example.pushcrypt.internal.*;

/**
 * One push, as a relay takes it. (Docs/Relay.md)
 *
 * @param grant the device's grant
 * @param data the envelope
 * @param kind {@code alert} or {@code background}, or {@code null} for an alert
 * @param priority 10, 5 or 1, or {@code null} for the kind's own
 * @param expiration until when APNs keeps the push, in seconds since 1970; 0 for one attempt
 * @param collapseId 1 to 64 visible ASCII characters, or {@code null}
 * @param sound a sound that the publisher configured, such as {@code default}, or {@code null}
 * @param contentAvailable whether the app is woken as well
 */
public record RelayMessage(
    String grant, String data, String kind, Integer priority, long expiration, String collapseId, String sound, boolean contentAvailable) {
    /**
     * Creates a message.
     *
     * @param grant the device's grant
     * @param data the envelope
     * @param kind {@code alert} or {@code background}, or {@code null} for an alert
     * @param priority 10, 5 or 1, or {@code null} for the kind's own
     * @param expiration until when APNs keeps the push, in seconds since 1970; 0 for one attempt
     * @param collapseId 1 to 64 visible ASCII characters, or {@code null}
     * @param sound a sound that the publisher configured, such as {@code default}, or {@code null}
     * @param contentAvailable whether the app is woken as well
     */
    public RelayMessage {
        Objects.requireNonNull(grant, "grant");
        Objects.requireNonNull(data, "data");
    }

    /**
     * Creates a message of a sealed push. The relay writes what the phone shows if it cannot open it: of the placeholder only the sound is used.
     *
     * @param request what {@link Sealer#request} returned
     * @return the message
     * @throws PushcryptException {@code push-type-not-sealable} for a call, {@code invalid-request} if the device has no grant
     */
    public static RelayMessage of(PushRequest request) {
        if (request.grant() == null) throw new PushcryptException(Code.INVALID_REQUEST, "the device has no grant: wait for its next record");
        Map<String, String> headers = request.headers();
        String kind = headers.get("apns-push-type");
        boolean isAlert = "alert".equals(kind);
        if (!isAlert && !"background".equals(kind)) {
            throw new PushcryptException(Code.PUSH_TYPE_NOT_SEALABLE, "a relay passes alerts and background pushes on, and no calls");
        }
        Payload.Members push = Payload.parse(request.body(), Code.MALFORMED_PAYLOAD), aps = (Payload.Members) push.get("aps");
        return new RelayMessage(
            request.grant(), (String) push.get("ENCRYPTED_DATA"), kind, Integer.valueOf(headers.get("apns-priority")), Long.parseLong(headers.get("apns-expiration")),
            headers.get("apns-collapse-id"), isAlert && aps.get("sound") instanceof String sound ? sound : null,
            isAlert && aps.containsKey("content-available"));
    }

    String json() {
        return Json.object(
            "grant", Json.quoted(grant), "data", Json.quoted(data), "kind", Json.quoted(kind), "priority", priority, "expiration",
            expiration == 0 ? null : expiration, "collapse_id", Json.quoted(collapseId), "sound", Json.quoted(sound), "content_available",
            contentAvailable ? true : null);
    }

    /** Returns nothing of the grant. */
    @Override
    public String toString() {
        return "RelayMessage";
    }
}

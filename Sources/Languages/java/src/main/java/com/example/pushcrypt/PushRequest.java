package com.example.pushcrypt;

import java.util.*;

/**
 * A request to APNs, without the provider's authentication.
 *
 * @param url where APNs gets it; {@code null} if the device has no token
 * @param token the device's token, or {@code null}
 * @param environment where the token is valid, {@code production} or {@code development}, or {@code null}
 * @param grant the device's permission to push by a relay, or {@code null}
 * @param headers {@code apns-topic}, {@code apns-push-type}, {@code apns-priority}, {@code apns-expiration} and {@code apns-collapse-id}
 * @param body the JSON to send, unchanged
 */
public record PushRequest(String url, String token, String environment, String grant, Map<String, String> headers, String body) {
    /**
     * Creates a request, and copies the headers.
     *
     * @param url where APNs gets it; {@code null} if the device has no token
     * @param token the device's token, or {@code null}
     * @param environment where the token is valid, {@code production} or {@code development}, or {@code null}
     * @param grant the device's permission to push by a relay, or {@code null}
     * @param headers {@code apns-topic}, {@code apns-push-type}, {@code apns-priority}, {@code apns-expiration} and {@code apns-collapse-id}
     * @param body the JSON to send, unchanged
     */
    public PushRequest {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** Returns nothing of the token and the grant. */
    @Override
    public String toString() {
        return "PushRequest(" + headers.get("apns-collapse-id") + ")";
    }
}

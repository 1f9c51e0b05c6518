package pushcrypt;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request to APNs, without the device token and the provider's authentication.
 *
 * @param headers {@code apns-topic}, {@code apns-push-type}, {@code apns-priority}, {@code apns-expiration} and {@code apns-collapse-id}
 * @param body the JSON to send, unchanged
 */
public record PushRequest(Map<String, String> headers, String body) {
    /**
     * Creates a request, and copies the headers.
     *
     * @param headers {@code apns-topic}, {@code apns-push-type}, {@code apns-priority}, {@code apns-expiration} and {@code apns-collapse-id}
     * @param body the JSON to send, unchanged
     */
    public PushRequest {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }
}

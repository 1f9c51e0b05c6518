package com.example.pushcrypt;

import static com.example.pushcrypt.internal.Bytes.ascii;
import static com.example.pushcrypt.internal.Bytes.bigEndian;
import static com.example.pushcrypt.internal.Bytes.concat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.*;
import java.util.regex.Pattern;
import com.example.pushcrypt.internal.*;

/**
 * A signed POST to a relay. Follow no redirect, and wait for 30 seconds. (Docs/Relay.md)
 *
 * @param url the relay's address
 * @param headers the push key, the time and the signature
 * @param body the JSON to send, unchanged, in UTF-8
 */
public record RelayRequest(String url, Map<String, String> headers, String body) {
    private static final String PATH = "/v1/push", LABEL = "pushcrypt/1 relay request\0";
    private static final int MOST_MESSAGES = 45;
    private static final Pattern ORIGIN = Pattern.compile("https?://[a-z0-9.:\\[\\]-]{1,247}");

    /**
     * Creates a request, and copies the headers.
     *
     * @param url the relay's address
     * @param headers the push key, the time and the signature
     * @param body the JSON to send, unchanged, in UTF-8
     */
    public RelayRequest {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /**
     * Signs a request now.
     *
     * @param origin the relay's, from your configuration, such as {@code https://push.example.com}
     * @param key the push key that the grants name
     * @param messages 1 to 45
     * @return the request
     * @throws PushcryptException {@code invalid-request}
     */
    public static RelayRequest sign(String origin, PushKey key, List<RelayMessage> messages) {
        return sign(origin, key, messages, Instant.now());
    }

    /**
     * Signs a request. After the refusal {@code clock} add the difference that its {@code now} shows.
     *
     * @param origin the relay's, from your configuration, such as {@code https://push.example.com}
     * @param key the push key that the grants name
     * @param messages 1 to 45
     * @param at the relay's time
     * @return the request
     * @throws PushcryptException {@code invalid-request} or {@code invalid-time}
     */
    public static RelayRequest sign(String origin, PushKey key, List<RelayMessage> messages, Instant at) {
        if (!ORIGIN.matcher(origin).matches()) {
            throw new PushcryptException(Code.INVALID_REQUEST, "the origin is not like https://push.example.com: lower case, without a path");
        }
        if (messages.isEmpty() || messages.size() > MOST_MESSAGES) {
            throw new PushcryptException(Code.INVALID_REQUEST, "a request has 1 to " + MOST_MESSAGES + " messages, not " + messages.size());
        }
        byte[] publicKey = key.publicKey();
        long time = Times.milliseconds(at);
        if (time < 0 || time > Format.LARGEST_TIME) throw new PushcryptException(Code.INVALID_TIME);
        String body = Json.object("messages", Json.array(messages.stream().map(RelayMessage::json).toList()));
        byte[] signature = key.sign(signed(origin, publicKey, time, body));
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("content-type", "application/json");
        headers.put("pushcrypt-key", Envelope.encode(publicKey));
        headers.put("pushcrypt-time", Long.toString(time));
        headers.put("pushcrypt-signature", Envelope.encode(signature));
        return new RelayRequest(origin + PATH, headers, body);
    }

    static byte[] signed(String origin, byte[] publicKey, long time, String body) {
        byte[] hash = Platform.sha256(body.getBytes(StandardCharsets.UTF_8));
        return concat(ascii(LABEL), Envelope.lp16(origin), Envelope.lp16(PATH), publicKey, bigEndian(time, 8), hash);
    }
}

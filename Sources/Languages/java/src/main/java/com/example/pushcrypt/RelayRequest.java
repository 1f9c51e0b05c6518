package com.example.pushcrypt;

import static com.example.pushcrypt.internal.Bytes.ascii;
import static com.example.pushcrypt.internal.Bytes.bigEndian;
import static com.example.pushcrypt.internal.Bytes.concat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.*;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import com.example.pushcrypt.internal.*;

/**
 * A signed POST to a relay. Follow no redirect, and wait for 30 seconds. (Docs/Relay.md)
 *
 * @param url the relay's address
 * @param headers the push key, the time and the signature
 * @param body the JSON to send, unchanged, in UTF-8
 */
public record RelayRequest(String url, Map<String, String> headers, String body) {
    private static final String PATH = "/v1/push", ANSWERS_PATH = "/v1/answers/take", LABEL = "pushcrypt/1 relay request\0";
    private static final int MOST_MESSAGES = 45, MOST_DONE = 200, LONGEST_WAIT = 25;
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
        if (messages.isEmpty() || messages.size() > MOST_MESSAGES) {
            throw new PushcryptException(Code.INVALID_REQUEST, "a request has 1 to " + MOST_MESSAGES + " messages, not " + messages.size());
        }
        return post(origin, PATH, key, Json.object("messages", Json.array(messages.stream().map(RelayMessage::json).toList())), at);
    }

    /**
     * Signs a request for the answers that phones have left for a push key: texts for an {@link AnswerOpener}, which come again, for an hour, until
     * they are done. Allow {@code wait} seconds more for its response.
     *
     * @param origin the relay's, from your configuration, such as {@code https://push.example.com}
     * @param key the push key
     * @param wait how many seconds the relay waits if there are no answers, 0 to 25
     * @param done up to 200 texts of the last response, which the relay then forgets
     * @param at the relay's time
     * @return the request
     * @throws PushcryptException {@code invalid-request} or {@code invalid-time}
     */
    public static RelayRequest answers(String origin, PushKey key, int wait, List<String> done, Instant at) {
        if (wait < 0 || wait > LONGEST_WAIT || done.size() > MOST_DONE) {
            String text = "a relay waits for 0 to " + LONGEST_WAIT + " seconds, and up to " + MOST_DONE + " texts are done";
            throw new PushcryptException(Code.INVALID_REQUEST, text);
        }
        String names = done.stream().map(text -> Json.quoted(Envelope.encode(Arrays.copyOf(Platform.sha256(text.getBytes(StandardCharsets.UTF_8)), 16))))
            .collect(Collectors.joining(",", "[", "]"));
        return post(origin, ANSWERS_PATH, key, Json.object("wait", Integer.toString(wait), "done", names), at);
    }

    private static RelayRequest post(String origin, String path, PushKey key, String body, Instant at) {
        if (!ORIGIN.matcher(origin).matches()) {
            throw new PushcryptException(Code.INVALID_REQUEST, "the origin is not like https://push.example.com: lower case, without a path");
        }
        byte[] publicKey = key.publicKey();
        long time = Times.milliseconds(at);
        if (time < 0 || time > Format.LARGEST_TIME) throw new PushcryptException(Code.INVALID_TIME);
        byte[] signature = key.sign(signed(origin, path, publicKey, time, body));
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("content-type", "application/json");
        headers.put("pushcrypt-key", Envelope.encode(publicKey));
        headers.put("pushcrypt-time", Long.toString(time));
        headers.put("pushcrypt-signature", Envelope.encode(signature));
        return new RelayRequest(origin + path, headers, body);
    }

    /** Returns nothing of the grants. */
    @Override
    public String toString() {
        return "RelayRequest(" + url + ")";
    }

    static byte[] signed(String origin, String path, byte[] publicKey, long time, String body) {
        byte[] hash = Platform.sha256(body.getBytes(StandardCharsets.UTF_8));
        return concat(ascii(LABEL), Envelope.lp16(origin), Envelope.lp16(path), publicKey, bigEndian(time, 8), hash);
    }
}

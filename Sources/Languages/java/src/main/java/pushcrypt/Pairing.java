package pushcrypt;

import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Objects;
import java.util.regex.Pattern;
import pushcrypt.internal.Bytes;
import pushcrypt.internal.Envelope;
import pushcrypt.internal.Format;
import pushcrypt.internal.Json;
import pushcrypt.internal.PairingExchange;
import pushcrypt.internal.Payload;
import pushcrypt.internal.Payload.Members;
import pushcrypt.internal.Platform;
import pushcrypt.internal.Times;

/**
 * A code for one phone, and what came of it, as a server without accounts stores it. Printing it shows nothing of its secret. (Docs/FormatPairing.md)
 *
 * <p>Show {@link #code} as a QR code to its user alone, and store {@link #toJson}, which is as secret, under {@link #id}. When a phone posts, find the pairing by
 * {@link #idOf} in a transaction that locks its row, and {@link #open} the body.
 */
public final class Pairing {
    private static final long LIFE = Duration.ofMinutes(10).toMillis();
    private static final Pattern SECRET = Pattern.compile("[A-Za-z0-9_-]{21}[AQgw]");

    final PairingExchange exchange;
    private final byte[] secret;
    private final ProviderPublicKey provider;
    private final String url, topic;
    private final long created;
    /** Null before a phone has paired. */
    private final Claim claim;

    /** The phone that has paired, and the reply record that it got. */
    private record Claim(long at, String device, String reply) {}

    private Pairing(byte[] secret, ProviderPublicKey provider, String url, String topic, long created, Claim claim) {
        this.secret = secret;
        this.provider = provider;
        this.url = url;
        this.topic = topic;
        this.created = created;
        this.claim = claim;
        exchange = new PairingExchange(secret, url, topic, PairingExchange.fingerprint(provider.key));
    }

    /**
     * Makes a code now.
     *
     * @param provider your provider key
     * @param url where the phone posts: https, or http to {@code localhost} or a private, link-local or loopback address [P-2]
     * @param topic the app's bundle id
     * @return the pairing
     * @throws PushcryptException {@code invalid-request} for the url, or {@code wrong-topic}
     */
    public static Pairing create(ProviderPublicKey provider, String url, String topic) {
        return create(provider, url, topic, Instant.now());
    }

    /**
     * Makes a code.
     *
     * @param provider your provider key
     * @param url where the phone posts: https, or http to {@code localhost} or a private, link-local or loopback address [P-2]
     * @param topic the app's bundle id
     * @param at the present time
     * @return the pairing
     * @throws PushcryptException {@code invalid-request} for the url, {@code wrong-topic} or {@code invalid-time}
     */
    public static Pairing create(ProviderPublicKey provider, String url, String topic, Instant at) {
        Objects.requireNonNull(provider, "provider");
        if (!PairingExchange.isUrl(url)) {
            throw new PushcryptException(Code.INVALID_REQUEST, "the url is not https, or http to a private address, without user and fragment");
        }
        Envelope.checkContext(topic);
        return new Pairing(Bytes.part(Platform.random(), 0, PairingExchange.SECRET), provider, url, topic, milliseconds(at), null);
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @param json the pairing
     * @return the pairing
     * @throws PushcryptException {@code malformed-record}, or the code of a key
     */
    public static Pairing fromJson(String json) {
        Members members = Payload.parse(json, Code.MALFORMED_RECORD);
        String secret = Records.matching(members, "secret", SECRET), url = Records.text(members, "url"), topic = Records.topic(members);
        String provider = Records.text(members, "provider"), device = Records.text(members, "device"), reply = Records.text(members, "reply");
        Long created = Records.integer(members, "created"), claimed = Records.integer(members, "claimed");
        Records.rule(secret != null && topic != null && provider != null && created != null, "a member is missing");
        Records.rule(url != null && PairingExchange.isUrl(url), "url breaks its rule");
        Records.rule((claimed == null) == (device == null) && (device == null) == (reply == null), "the claim is not whole");
        if (reply != null) Reply.fromJson(reply);
        Claim claim = claimed == null ? null : new Claim(claimed, device, reply);
        return new Pairing(Base64.getUrlDecoder().decode(secret), ProviderPublicKey.parse(provider), url, topic, created, claim);
    }

    /**
     * Writes what to store, with the secret: only the server may read it. Delete it when the code has ended.
     *
     * @return JSON
     */
    public String toJson() {
        boolean isClaimed = claim != null;
        return Json.object(
            "secret", Json.quoted(Envelope.encode(secret)), "url", Json.quoted(url), "topic", Json.quoted(topic), "provider", Json.quoted(provider),
            "created", created, "claimed", isClaimed ? claim.at : null, "device", isClaimed ? Json.quoted(claim.device) : null,
            "reply", isClaimed ? Json.quoted(claim.reply) : null);
    }

    /**
     * Returns what {@link #idOf} finds in the phone's request.
     *
     * @return 16 hexadecimal digits
     */
    public String id() {
        return HexFormat.of().formatHex(exchange.id());
    }

    /**
     * Returns the text for a QR code. Anyone who sees it can pair.
     *
     * @return 57 characters and the url
     */
    public String code() {
        return "pushcrypt:1?" + Envelope.encode(Bytes.concat(new byte[] {1}, secret, PairingExchange.fingerprint(provider.key))) + "&" + url;
    }

    /**
     * Returns when the pairing can be deleted: 10 minutes after the code was made [P-3] or, if a phone has paired, after that [P-6].
     *
     * @return the end
     */
    public Instant end() {
        return Times.instant((claim == null ? created : claim.at) + LIFE);
    }

    /**
     * Returns the device that has paired.
     *
     * @return its id, or {@code null} before
     */
    public String deviceId() {
        return claim == null ? null : claim.device;
    }

    /**
     * Returns the id of the pairing that a phone's request names. If there is none, answer 404.
     *
     * @param body what the phone posted
     * @return 16 hexadecimal digits
     * @throws PushcryptException {@code malformed-envelope}
     */
    public static String idOf(String body) {
        return HexFormat.of().formatHex(Bytes.part(PairingExchange.decode(body), 0, PairingExchange.ID));
    }

    /**
     * Opens what a phone posted, now. If this throws, answer 404, and change nothing [P-4].
     *
     * @param body what the phone posted
     * @return the request
     * @throws PushcryptException {@code malformed-envelope}, {@code authentication-failed}, or {@code expired} for a code that has ended
     */
    public PairingRequest open(String body) {
        return open(body, Instant.now());
    }

    /**
     * Opens what a phone posted. If this throws, answer 404, and change nothing [P-4].
     *
     * @param body what the phone posted
     * @param at the present time
     * @return the request
     * @throws PushcryptException {@code malformed-envelope}, {@code authentication-failed}, {@code expired} for a code that has ended, or {@code invalid-time}
     */
    public PairingRequest open(String body, Instant at) {
        byte[] request = PairingExchange.decode(body);
        long now = milliseconds(at);
        if (now >= (claim == null ? created : claim.at) + LIFE) throw new PushcryptException(Code.EXPIRED, "the code has ended");
        byte[] plain = exchange.openRequest(request);
        DeviceRecord record = null;
        try {
            record = DeviceRecord.fromJson(plain);
        } catch (PushcryptException malformed) {
            // Answered below.
        }
        if (record == null || record.deviceId() == null) return new PairingRequest(this, request, now, null, "{\"version\":1,\"refused\":\"malformed-record\"}");
        if (claim == null) return new PairingRequest(this, request, now, record, null);
        boolean isSame = record.deviceId().equals(claim.device) && record.publicKey().equals(Reply.fromJson(claim.reply).acknowledged());
        if (!isSame) return new PairingRequest(this, request, now, null, "{\"version\":1,\"refused\":\"pairing-used\"}");
        return new PairingRequest(this, request, now, record, claim.reply);
    }

    /** The pairing after a phone has paired; refuses a reply that breaks [P-7]. */
    Pairing claimed(long at, DeviceRecord record, Reply reply, String text) {
        if (!record.publicKey().equals(reply.acknowledged()) || !provider.equals(reply.provider())) {
            throw new PushcryptException(Code.INVALID_REQUEST, "the reply does not have the key of the record, or the provider key of the code");
        }
        return new Pairing(secret, provider, url, topic, created, new Claim(at, record.deviceId(), text));
    }

    private static long milliseconds(Instant at) {
        long time = Times.milliseconds(at);
        if (time < 0 || time > Format.LARGEST_TIME) throw new PushcryptException(Code.INVALID_TIME);
        return time;
    }

    /** Returns the id. */
    @Override
    public String toString() {
        return "Pairing(" + id() + ")";
    }
}

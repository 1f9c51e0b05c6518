package pushcrypt.testing;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import pushcrypt.Code;
import pushcrypt.DeviceRecord;
import pushcrypt.PushcryptException;
import pushcrypt.Reply;
import pushcrypt.internal.Bytes;
import pushcrypt.internal.Envelope;
import pushcrypt.internal.PairingExchange;
import pushcrypt.internal.Payload;
import pushcrypt.internal.Platform;

/**
 * A code as a phone reads it. The app shows the host of its {@link #url} and asks the user, posts {@link #request} there, and follows no redirect.
 * (Docs/FormatPairing.md)
 */
public final class PairingCode {
    private static final Pattern TEXT = Pattern.compile("pushcrypt:1\\?([A-Za-z0-9_-]{44})&(.+)");

    private final String url;
    private final byte[] fingerprint;
    private final PairingExchange exchange;

    private PairingCode(byte[] code, String url, String topic) {
        this.url = url;
        fingerprint = Bytes.part(code, 17, 33);
        exchange = new PairingExchange(Bytes.part(code, 1, 17), url, topic, fingerprint);
    }

    /**
     * Reads a code.
     *
     * @param text the code
     * @param topic the app's bundle id
     * @return the code
     * @throws PushcryptException {@code invalid-request} for what is no code, or has an address that is not allowed; {@code wrong-topic}
     */
    public static PairingCode parse(String text, String topic) {
        Envelope.checkContext(topic);
        Matcher parts = TEXT.matcher(text);
        byte[] code = parts.matches() ? Envelope.decode(parts.group(1), Code.INVALID_REQUEST) : new byte[1];
        if (code[0] != 1 || !PairingExchange.isUrl(parts.group(2))) throw new PushcryptException(Code.INVALID_REQUEST, "this is not the code of a server");
        return new PairingCode(code, parts.group(2), topic);
    }

    /**
     * Returns where to post.
     *
     * @return the address
     */
    public String url() {
        return url;
    }

    /**
     * Seals a record. After a lost reply, post the same again.
     *
     * @param record the phone's record, with its device id
     * @return what to post
     */
    public String request(DeviceRecord record) {
        return seal(record.toJson(), Bytes.part(Platform.random(), 0, PairingExchange.SALT));
    }

    String seal(String record, byte[] salt) {
        return exchange.sealRequest(record.getBytes(StandardCharsets.UTF_8), salt);
    }

    /**
     * Opens what came back with status 200.
     *
     * @param request what was posted
     * @param reply the body
     * @return the reply
     * @throws PushcryptException {@code malformed-envelope}, {@code malformed-record}, and {@code authentication-failed}, also for another provider key [P-8]
     */
    public Reply open(String request, String reply) {
        byte[] text = exchange.openReply(PairingExchange.decode(request), PairingExchange.decode(reply));
        Reply found = Reply.fromJson(Payload.decode(text, Code.MALFORMED_RECORD));
        boolean isRight = found.provider() == null
            ? found.refused() != null : MessageDigest.isEqual(fingerprint, PairingExchange.fingerprint(found.provider().bytes()));
        if (!isRight) throw new PushcryptException(Code.AUTHENTICATION_FAILED, "the reply does not have the provider key of the code");
        return found;
    }
}

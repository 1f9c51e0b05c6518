package pushcrypt.internal;

import static pushcrypt.internal.Bytes.ascii;
import static pushcrypt.internal.Bytes.concat;
import static pushcrypt.internal.Bytes.part;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import pushcrypt.Code;
import pushcrypt.PushcryptException;

/** What the phone and the server of one code compute: Docs/FormatPairing.md. */
public final class PairingExchange {
    public static final int ID = 8, SECRET = 16, SALT = 16;
    private static final int HEADER = ID + SALT, TAG = 16, LONGEST_URL = 1024;
    /** The text of 16,384 bytes. */
    private static final int LONGEST_BODY = 21_846;
    private static final byte[] NONCE = new byte[12];
    private static final String NUMBER = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    private static final Pattern URL =
        Pattern.compile("(https?)://(?:([A-Za-z0-9.-]+)|\\[([A-Fa-f0-9]*:[A-Fa-f0-9:]*)])(?::0*([1-9][0-9]{0,4}))?(?:[/?][!-\"$-\\[\\]-~]*)?");
    private static final Pattern PRIVATE = Pattern.compile("(?i:localhost)|(?:10|127)(?:\\." + NUMBER + "){3}|"
        + "(?:192\\.168|169\\.254|172\\.(?:1[6-9]|2[0-9]|3[01]))(?:\\." + NUMBER + "){2}");

    private final byte[] secret, scene;

    public PairingExchange(byte[] secret, String url, String topic, byte[] fingerprint) {
        this.secret = secret.clone();
        scene = concat(Envelope.lp16(url), Envelope.lp16(topic), fingerprint);
    }

    /** Names a provider key in a code. */
    public static byte[] fingerprint(byte[] provider) {
        return part(Platform.sha256(provider), 0, 16);
    }

    /** By what a server finds a code. */
    public byte[] id() {
        return part(Answers.hkdf(secret, new byte[32], ascii("pushcrypt/1 pairing id\0")), 0, ID);
    }

    private byte[] requestKey(byte[] salt) {
        return Answers.hkdf(secret, salt, concat(ascii("pushcrypt/1 pairing request\0"), scene));
    }

    private byte[] replyKey(byte[] salt, byte[] request) {
        return Answers.hkdf(secret, salt, concat(ascii("pushcrypt/1 pairing reply\0"), scene, Platform.sha256(request)));
    }

    public String sealRequest(byte[] record, byte[] salt) {
        return seal(requestKey(salt), concat(id(), salt), record);
    }

    /** The record of a request that {@link #decode} returned. */
    public byte[] openRequest(byte[] request) {
        return open(requestKey(part(request, ID, HEADER)), request, HEADER);
    }

    /** Seals a reply record. The salt depends on it: a request that comes again after a refusal gets another key for another text. */
    public String sealReply(byte[] request, String reply) {
        byte[] text = reply.getBytes(StandardCharsets.UTF_8);
        byte[] salt = part(Platform.hmac(secret, ascii("pushcrypt/1 pairing reply salt\0"), Platform.sha256(request), text), 0, SALT);
        return seal(replyKey(salt, request), salt, text);
    }

    public byte[] openReply(byte[] request, byte[] reply) {
        return open(replyKey(part(reply, 0, SALT), request), reply, SALT);
    }

    private static String seal(byte[] key, byte[] header, byte[] text) {
        return Envelope.encode(concat(header, Platform.aead(Cipher.ENCRYPT_MODE, key, NONCE, header, text)));
    }

    private static byte[] open(byte[] key, byte[] data, int header) {
        return Platform.aead(Cipher.DECRYPT_MODE, key, NONCE, part(data, 0, header), part(data, header, data.length));
    }

    /** The bytes of a request, or of a reply. */
    public static byte[] decode(String body) {
        int end = body.length();
        while (end > 0 && (body.charAt(end - 1) == '\n' || body.charAt(end - 1) == '\r')) end--;
        byte[] data = Envelope.decode(end > LONGEST_BODY ? "" : body.substring(0, end), Code.MALFORMED_ENVELOPE);
        if (data.length < HEADER + TAG) throw new PushcryptException(Code.MALFORMED_ENVELOPE, "this is not the base64url of a request or reply, or it is too long");
        return data;
    }

    /** [P-2] */
    public static boolean isUrl(String url) {
        if (url.length() > LONGEST_URL) return false;
        Matcher parts = URL.matcher(url);
        if (!parts.matches() || parts.group(4) != null && Integer.parseInt(parts.group(4)) > 65_535) return false;
        byte[] address = new byte[0];
        try {
            // With brackets and a colon, this asks nobody.
            if (parts.group(3) != null) address = InetAddress.getByName("[" + parts.group(3) + "]").getAddress();
        } catch (UnknownHostException malformed) {
            return false;
        }
        if (parts.group(1).equals("https")) return true;
        return parts.group(3) == null ? PRIVATE.matcher(parts.group(2)).matches() : isPrivate(address);
    }

    /** Whether 16 bytes are in ::1, fc00::/7 or fe80::/10. */
    private static boolean isPrivate(byte[] address) {
        if (address.length != 16) return false;
        boolean isLoopback = Bytes.number(address, 0, 8) == 0 && Bytes.number(address, 8, 16) == 1;
        return isLoopback || (address[0] & 0xfe) == 0xfc || (Bytes.number(address, 0, 2) & 0xffc0) == 0xfe80;
    }
}

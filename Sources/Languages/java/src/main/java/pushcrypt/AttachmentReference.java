package pushcrypt;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import pushcrypt.internal.Envelope;
import pushcrypt.internal.FileStream;
import pushcrypt.internal.Format;
import pushcrypt.internal.Json;
import pushcrypt.internal.Payload;

/**
 * The place of a sealed file, and its key. (Docs/FormatAttachments.md, "Reference")
 *
 * <p>Because of the key, {@link #toJson} must never reach the app's data or a log. Printing a reference shows no key. Two references are equal if all
 * their members are.
 */
public final class AttachmentReference {
    private static final int LARGEST_PORT = 65535, LONGEST_NUMBER = 16;
    private static final String CHARACTERS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*+";
    private static final String QUERY = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*+";
    private static final Pattern URL = Pattern.compile(
        "https://([A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?(?:/" + CHARACTERS + ")?(?:\\?" + QUERY + ")?");
    private static final Pattern HOST = Pattern.compile("(?:[A-Za-z0-9_-]{1,63}\\.)*+[A-Za-z][A-Za-z0-9_-]{0,62}");
    private static final Pattern ADDRESS = Pattern.compile("(?:(?:0|[1-9][0-9]{0,2})\\.){3}(?:0|[1-9][0-9]{0,2})");
    private static final Pattern TYPE = Pattern.compile("[A-Za-z0-9-]++(?:\\.[A-Za-z0-9-]++)++");
    private static final Pattern NOT_IN_NAME = Pattern.compile("[/\\x00-\\x1f\\x7f-\\x9f]");

    private final String url, type, name;
    private final byte[] key, sha256;
    private final long size;

    AttachmentReference(String url, byte[] key, long size, byte[] sha256, String type, String name) {
        this.url = url;
        this.key = key;
        this.size = size;
        this.sha256 = sha256;
        this.type = type;
        this.name = name;
        checkTexts();
    }

    private AttachmentReference(Map<String, Object> members) {
        url = text(members, "url");
        type = text(members, "type");
        name = text(members, "name");
        checkTexts();
        boolean isShort = members.get("size") instanceof Payload.Number number && number.isInteger() && number.text().length() <= LONGEST_NUMBER;
        size = isShort ? Long.parseLong(((Payload.Number) members.get("size")).text()) : 0;
        if (!FileStream.isSize(size)) throw refused();
        key = bytes32(text(members, "key"), Code.MALFORMED_REFERENCE);
        sha256 = bytes32(text(members, "sha256"), Code.MALFORMED_REFERENCE);
    }

    /**
     * Reads a reference.
     *
     * @param json the reference as an object
     * @return the reference
     * @throws PushcryptException {@code malformed-reference} by to
     */
    public static AttachmentReference fromJson(String json) {
        return new AttachmentReference(Payload.parse(json, Code.MALFORMED_REFERENCE));
    }

    /**
     * Reads a reference.
     *
     * @param json the reference as an object, in UTF-8
     * @return the reference
     * @throws PushcryptException {@code malformed-reference} by to
     */
    public static AttachmentReference fromJson(byte[] json) {
        return new AttachmentReference(Payload.parse(json, Code.MALFORMED_REFERENCE));
    }

    /** to */
    private void checkTexts() {
        boolean isGood = isURL(url)
            && type.length() <= Format.LONGEST_LABEL && TYPE.matcher(type).matches()
            && !name.equals("") && !name.equals(".") && !name.equals("..") && !NOT_IN_NAME.matcher(name).find()
            && Json.isUnicode(name) && name.getBytes(StandardCharsets.UTF_8).length <= Format.LONGEST_FILE_NAME;
        if (!isGood) throw refused();
    }

    private static boolean isURL(String text) {
        Matcher parts = URL.matcher(text);
        if (!parts.matches() || parts.group(2) != null && Integer.parseInt(parts.group(2)) > LARGEST_PORT) return false;
        String host = parts.group(1);
        if (!ADDRESS.matcher(host).matches()) return HOST.matcher(host).matches();
        return Arrays.stream(host.split("\\.")).allMatch(number -> Integer.parseInt(number) <= 255);
    }

    private static String text(Map<String, Object> members, String name) {
        if (!(members.get(name) instanceof String text)) throw refused();
        return text;
    }

    /** 32 bytes as canonical base64url, 43 characters. */
    static byte[] bytes32(String text, Code code) {
        byte[] bytes = Envelope.decode(text, code);
        if (bytes.length != Format.KEY_LENGTH) throw new PushcryptException(code);
        return bytes;
    }

    private static PushcryptException refused() {
        return new PushcryptException(Code.MALFORMED_REFERENCE);
    }

    /**
     * Returns where the file is fetched, over https only.
     *
     * @return the url
     */
    public String url() {
        return url;
    }

    /**
     * Returns the size of the sealed file. Nothing beyond it is fetched.
     *
     * @return the size in bytes
     */
    public long size() {
        return size;
    }

    /**
     * Returns the type of the plain file.
     *
     * @return a uniform type identifier
     */
    public String type() {
        return type;
    }

    /**
     * Returns the name of the plain file: a label to show, never a path.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Returns the hash of the sealed file.
     *
     * @return SHA-256, 32 bytes
     */
    public byte[] sha256() {
        return sha256.clone();
    }

    /**
     * Returns the key of the file, a secret.
     *
     * @return 32 bytes
     */
    public byte[] key() {
        return key.clone();
    }

    /**
     * Returns whether the reference can be that of a full body.
     *
     * @return whether type and size are those of a text of 1 to 65,536 bytes
     */
    public boolean isFullBody() {
        return type.equals(Format.FULL_BODY_TYPE) && size > Format.SMALLEST_FILE && size <= Format.SMALLEST_FILE + Format.LONGEST_FULL_BODY;
    }

    /** */
    boolean isAvatar() {
        return Format.AVATAR_TYPES.contains(type) && size <= Format.LARGEST_AVATAR;
    }

    /**
     * Returns the reference with its key, a secret.
     *
     * @return an object as JSON
     */
    public String toJson() {
        return Json.object("url", Json.quoted(url), "key", Json.quoted(Envelope.encode(key)), "size", size,
            "sha256", Json.quoted(Envelope.encode(sha256)), "type", Json.quoted(type), "name", Json.quoted(name));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AttachmentReference reference
            && MessageDigest.isEqual(toJson().getBytes(StandardCharsets.UTF_8), reference.toJson().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(sha256);
    }

    /** Returns the type and the size. */
    @Override
    public String toString() {
        return "AttachmentReference(" + type + ", " + size + " bytes)";
    }
}

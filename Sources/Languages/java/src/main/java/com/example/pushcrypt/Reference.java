package com.example.pushcrypt;

import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import com.example.pushcrypt.internal.*;

/**
 * The place of a sealed file, and its key. (Docs/FormatFiles.md, "Reference")
 *
 * <p>Because of the key, {@link #toJson} must never reach the app's data or a log. Printing a reference shows no key.
 *
 * @param url where the file is fetched, over https only
 * @param key the key of the file, a secret: 43 characters of base64url
 * @param size the bytes of the sealed file; nothing beyond is fetched
 * @param sha256 SHA-256 of the sealed file: 43 characters of base64url
 * @param type the plain file's uniform type identifier, such as {@code public.jpeg}
 * @param name the plain file's name: a label to show, never a path
 */
public record Reference(String url, String key, long size, String sha256, String type, String name) {
    private static final int LARGEST_PORT = 65535;
    private static final String CHARACTERS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*+";
    private static final String QUERY = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*+";
    private static final Pattern URL = Pattern.compile(
        "https://([A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?(?:/" + CHARACTERS + ")?(?:\\?" + QUERY + ")?");
    private static final Pattern HOST = Pattern.compile("(?:[A-Za-z0-9_-]{1,63}\\.)*+[A-Za-z][A-Za-z0-9_-]{0,62}");
    private static final Pattern ADDRESS = Pattern.compile("(?:(?:0|[1-9][0-9]{0,2})\\.){3}(?:0|[1-9][0-9]{0,2})");
    private static final Pattern TYPE = Pattern.compile("[A-Za-z0-9-]++(?:\\.[A-Za-z0-9-]++)++");
    private static final Pattern NOT_IN_NAME = Pattern.compile("[/\\x00-\\x1f\\x7f-\\x9f]");

    /**
     * Creates a reference.
     *
     * @param url where the file is fetched, over https only
     * @param key the key of the file, a secret: 43 characters of base64url
     * @param size the bytes of the sealed file; nothing beyond is fetched
     * @param sha256 SHA-256 of the sealed file: 43 characters of base64url
     * @param type the plain file's uniform type identifier, such as {@code public.jpeg}
     * @param name the plain file's name: a label to show, never a path
     * @throws PushcryptException {@code malformed-reference} by to
     */
    public Reference {
        boolean isGood = isURL(url)
            && type.length() <= Format.LONGEST_LABEL && TYPE.matcher(type).matches()
            && !name.equals("") && !name.equals(".") && !name.equals("..") && !NOT_IN_NAME.matcher(name).find()
            && Json.isUnicode(name) && name.getBytes(StandardCharsets.UTF_8).length <= Format.LONGEST_FILE_NAME
            && FileStream.isSize(size);
        if (!isGood) throw refused();
        bytes32(key, Code.MALFORMED_REFERENCE);
        bytes32(sha256, Code.MALFORMED_REFERENCE);
    }

    /**
     * Reads a reference.
     *
     * @param json the reference as an object
     * @return the reference
     * @throws PushcryptException {@code malformed-reference} by to
     */
    public static Reference fromJson(String json) {
        return read(Payload.parse(json, Code.MALFORMED_REFERENCE));
    }

    /**
     * Reads a reference.
     *
     * @param json the reference as an object, in UTF-8
     * @return the reference
     * @throws PushcryptException {@code malformed-reference} by to
     */
    public static Reference fromJson(byte[] json) {
        return read(Payload.parse(json, Code.MALFORMED_REFERENCE));
    }

    private static Reference read(Map<String, Object> members) {
        Long size = Payload.whole(members.get("size"), Format.LARGEST_FILE);
        if (size == null) throw refused();
        return new Reference(
            text(members, "url"), text(members, "key"), size, text(members, "sha256"), text(members, "type"), text(members, "name"));
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
        return Json.object("url", Json.quoted(url), "key", Json.quoted(key), "size", size,
            "sha256", Json.quoted(sha256), "type", Json.quoted(type), "name", Json.quoted(name));
    }

    /** Returns the type and the size. */
    @Override
    public String toString() {
        return "Reference(" + type + ", " + size + " bytes)";
    }
}

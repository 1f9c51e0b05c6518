package pushcrypt;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * References to files that accompany a push: Docs/FormatAttachments.md, "Reference", "In a payload" and "Full body".
 *
 * <p>Nothing is fetched: the caller must fetch over https only, and never more than `size` bytes, [A-34].
 */
final class Attachments {
    private static final int MOST = 8, LARGEST_FULL_BODY = 65536;
    private static final int LARGEST_PORT = 65535;
    private static final String CHARACTERS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*+";
    private static final String QUERY = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*+";
    private static final Pattern URL = Pattern.compile(
        "https://([A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?(?:/" + CHARACTERS + ")?(?:\\?" + QUERY + ")?");
    private static final Pattern NAME = Pattern.compile("(?:[A-Za-z0-9_-]{1,63}\\.)*+[A-Za-z][A-Za-z0-9_-]{0,62}");
    private static final Pattern ADDRESS = Pattern.compile("(?:(?:0|[1-9][0-9]{0,2})\\.){3}(?:0|[1-9][0-9]{0,2})");
    private static final Pattern TYPE = Pattern.compile("[A-Za-z0-9-]++(?:\\.[A-Za-z0-9-]++)++");
    private static final Pattern NOT_IN_NAME = Pattern.compile("[/\\x00-\\x1f\\x7f-\\x9f]");
    /** 32 bytes as canonical base64url; the last character has two unused bits. */
    private static final Pattern BYTES32 = Pattern.compile("[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]");

    /**
     * The location of a sealed file, and its key. Because of the key it must never reach the app's data or a log
     * [A-15].
     *
     * <p>The name is a label to show, never a path: allows names that some systems treat as paths, such as `C:x`,
     * `CON` or a backslash.
     */
    record Reference(String url, byte[] key, long size, byte[] sha256, String type, String name) {}

    /** What a payload brings, and a code for each reason to have dropped some of it. */
    record Found(List<Reference> references, List<String> dropped) {}

    private Attachments() {}

    /** Reads a reference from a JSON value to. */
    static Reference parseReference(Object value) throws PushcryptException {
        if (!(value instanceof Map<?, ?> object) || !(object.get("size") instanceof Payload.Number size)) throw refused();
        String url = text(object, "url"), type = text(object, "type"), name = text(object, "name");
        boolean good = isURL(url)
            && type.length() <= 255 && TYPE.matcher(type).matches()
            && !name.equals("") && !name.equals(".") && !name.equals("..") && !NOT_IN_NAME.matcher(name).find()
            && name.getBytes(StandardCharsets.UTF_8).length <= 255
            && size.isInteger() && size.text().length() <= 16
            && FileStream.isSize(Long.parseLong(size.text()));
        if (!good) throw refused();
        byte[] key = bytes32(text(object, "key")), sha256 = bytes32(text(object, "sha256"));
        return new Reference(url, key, Long.parseLong(size.text()), sha256, type, name);
    }

    /** The grammar of. */
    private static boolean isURL(String text) {
        Matcher parts = URL.matcher(text);
        if (!parts.matches() || parts.group(2) != null && Integer.parseInt(parts.group(2)) > LARGEST_PORT) return false;
        String host = parts.group(1);
        if (!ADDRESS.matcher(host).matches()) return NAME.matcher(host).matches();
        return Arrays.stream(host.split("\\.")).allMatch(number -> Integer.parseInt(number) <= 255);
    }

    private static String text(Map<?, ?> object, String name) throws PushcryptException {
        if (!(object.get(name) instanceof String text)) throw refused();
        return text;
    }

    static byte[] bytes32(String text) throws PushcryptException {
        if (!BYTES32.matcher(text).matches()) throw refused();
        return Base64.getUrlDecoder().decode(text);
    }

    private static PushcryptException refused() {
        return new PushcryptException("malformed-reference");
    }

    /** The references of a payload's members to. */
    static Found attachments(Map<String, Object> members) {
        Object own = members.getOrDefault("pushcrypt", Payload.NULL);
        Object list = own instanceof Map<?, ?> object && object.containsKey("attachments") ? object.get("attachments") : Payload.NULL;
        List<Reference> references = new ArrayList<>();
        List<String> dropped = new ArrayList<>();
        boolean isObject = own instanceof Map || own == Payload.NULL, isList = list instanceof List || list == Payload.NULL;
        if (!isObject || !isList) dropped.add(refused().code());
        if (list instanceof List<?> elements) {
            for (Object element : elements.subList(0, Math.min(MOST, elements.size()))) {
                try {
                    references.add(parseReference(element));
                } catch (PushcryptException refused) {
                    dropped.add(refused.code());
                }
            }
            if (elements.size() > MOST) dropped.add("too-many-attachments");
        }
        return new Found(references, dropped);
    }

    /** The reference of a text that was too long for the push, or {@code null}, [A-31]. */
    static Reference fullBody(Map<String, Object> members) throws PushcryptException {
        if (!(members.get("pushcrypt") instanceof Map<?, ?> own)) return null;
        Object body = own.get("body");
        if (body == null || body == Payload.NULL) return null;
        Reference reference = parseReference(body);
        checkFullBodyReference(reference);
        return reference;
    }

    static void checkFullBodyReference(Reference reference) throws PushcryptException {
        long length = reference.size() - FileStream.SMALLEST_FILE;
        if (!reference.type().equals("public.plain-text") || length < 1 || length > LARGEST_FULL_BODY) throw refused();
    }

    /**
     * Returns the text in the plain file of a full body, [A-30]. If it is refused, the payload's own body is
     * shown.
     */
    static String checkFullBody(byte[] plain) throws PushcryptException {
        if (plain.length < 1 || plain.length > LARGEST_FULL_BODY) throw new PushcryptException("malformed-file");
        String text = Payload.decode(plain, "malformed-file");
        if (text.startsWith("\ufeff")) throw new PushcryptException("malformed-file");
        return text;
    }
}

package pushcrypt;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The strict JSON of payloads: Docs/Format.md, "Body", rules [J-1] to [J-7].
 *
 * <p>Objects are maps, arrays lists, strings {@code String}, and `null` is {@link #NULL}.
 */
final class Payload {
    /** A number as written, so that none is rounded and none is too long. */
    record Number(String text) {
        /** Whether it is written with digits alone, as every integer that the format reads. */
        boolean isInteger() {
            return text.matches("[0-9]+");
        }
    }

    /** The members of an object in order, and the place of each value in the text. */
    static final class Members extends LinkedHashMap<String, Object> {
        private static final long serialVersionUID = 1;
        private final transient Map<String, int[]> places = new LinkedHashMap<>();
        private final transient String text;

        Members(String text) {
            this.text = text;
        }

        /** A value as it is written, without white space. */
        String written(String name) {
            int[] place = places.get(name);
            return minify(text.substring(place[0], place[1]));
        }
    }

    static final Object NULL = new Object();
    private static final int DEPTH = 32;

    private final String text, code;
    private int at;

    private Payload(String text, String code) {
        this.text = text;
        this.code = code;
    }

    /** Parses a JSON object by [J-1] to [J-6]. Refuses anything else with the code. */
    static Members parseObject(byte[] data, String code) throws PushcryptException {
        Payload parser = new Payload(decode(data, code), code);
        Object value = parser.value(0);
        parser.space();
        if (!(value instanceof Members members) || parser.at != parser.text.length()) throw parser.refused();
        return members;
    }

    /** Decodes UTF-8 [J-1]. A new decoder refuses malformed input, and keeps a byte order mark. */
    static String decode(byte[] data, String code) throws PushcryptException {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
        } catch (CharacterCodingException malformed) {
            throw new PushcryptException(code);
        }
    }

    /** Parses a payload by [J-1] to [J-7]. Returns its members. */
    static Members checkPayload(byte[] data) throws PushcryptException {
        Members members = parseObject(data, "malformed-payload");
        if (!(members.get("aps") instanceof Members)) throw new PushcryptException("malformed-payload");
        return members;
    }

    /** Removes the white space between the tokens of a checked JSON text; strings and numbers stay as they are [S-7]. */
    static String minify(String text) {
        StringBuilder result = new StringBuilder(text.length());
        boolean inside = false;
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            if (!inside && " \t\n\r".indexOf(character) >= 0) continue;
            result.append(character);
            if (character == '"') inside = !inside;
            if (inside && character == '\\') result.append(text.charAt(++index));
        }
        return result.toString();
    }

    private PushcryptException refused() {
        return new PushcryptException(code);
    }

    private boolean isAt(String characters) {
        return at < text.length() && characters.indexOf(text.charAt(at)) >= 0;
    }

    private void space() {
        while (isAt(" \t\n\r")) at++;
    }

    private boolean takes(String token) {
        space();
        if (!text.startsWith(token, at)) return false;
        at += token.length();
        return true;
    }

    /** Reads a value at this depth of objects and arrays. */
    private Object value(int depth) throws PushcryptException {
        if (takes("{")) return object(depth + 1);
        if (takes("[")) return array(depth + 1);
        if (takes("\"")) return string();
        if (takes("true")) return true;
        if (takes("false")) return false;
        if (takes("null")) return NULL;
        return number();
    }

    private Members object(int depth) throws PushcryptException {
        Members members = new Members(text);
        if (depth > DEPTH) throw refused();
        if (takes("}")) return members;
        do {
            if (!takes("\"")) throw refused();
            String name = string();
            if (!takes(":")) throw refused();
            space();
            int start = at;
            if (members.put(name, value(depth)) != null) throw refused();
            members.places.put(name, new int[] {start, at});
        } while (takes(","));
        if (!takes("}")) throw refused();
        return members;
    }

    private List<Object> array(int depth) throws PushcryptException {
        List<Object> elements = new ArrayList<>();
        if (depth > DEPTH) throw refused();
        if (takes("]")) return elements;
        do elements.add(value(depth));
        while (takes(","));
        if (!takes("]")) throw refused();
        return elements;
    }

    /** Reads a string after its opening quotation mark. */
    private String string() throws PushcryptException {
        StringBuilder result = new StringBuilder();
        while (true) {
            if (at == text.length() || text.charAt(at) < 0x20) throw refused();
            char character = text.charAt(at++);
            if (character == '"') break;
            result.append(character == '\\' ? escape() : character);
        }
        // UTF-8 has no surrogates, so a lone one must come from an escape.
        for (int index = 0; index < result.length(); index += Character.charCount(result.codePointAt(index))) {
            if (Character.getType(result.codePointAt(index)) == Character.SURROGATE) throw refused();
        }
        return result.toString();
    }

    private char escape() throws PushcryptException {
        if (at == text.length()) throw refused();
        int plain = "\"\\/bfnrt".indexOf(text.charAt(at));
        if (plain >= 0) {
            at++;
            return "\"\\/\b\f\n\r\t".charAt(plain);
        }
        if (text.charAt(at++) != 'u' || text.length() - at < 4) throw refused();
        int unit = 0;
        for (int end = at + 4; at < end; at++) {
            int digit = "0123456789abcdef".indexOf(text.charAt(at) | (isAt("ABCDEF") ? 0x20 : 0));
            if (digit < 0) throw refused();
            unit = unit << 4 | digit;
        }
        return (char) unit;
    }

    private Number number() throws PushcryptException {
        int start = at;
        if (isAt("-")) at++;
        if (isAt("0")) at++; else digits();
        if (isAt(".")) {
            at++;
            digits();
        }
        if (isAt("eE")) {
            at++;
            if (isAt("+-")) at++;
            digits();
        }
        return new Number(text.substring(start, at));
    }

    private void digits() throws PushcryptException {
        if (!isAt("0123456789")) throw refused();
        while (isAt("0123456789")) at++;
    }
}

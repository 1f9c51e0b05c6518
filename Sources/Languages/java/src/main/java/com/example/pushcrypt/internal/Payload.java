package com.example.pushcrypt.internal;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;

/**
 * The strict JSON of payloads and records: Docs/Format.md, "Body", rules [J-1] to [J-7].
 *
 * <p>Objects are {@link Members}, arrays lists, strings {@code String}, and `null` is {@link #NULL}.
 */
public final class Payload {
    /** A number as written, so that none is rounded and none is too long. */
    public record Number(String text) {
        /** Whether it is written with digits alone, as every integer that the format reads. */
        public boolean isInteger() {
            return text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        }
    }

    /** The value of a whole number up to a limit; null for any other value. */
    public static Long whole(Object value, long most) {
        boolean isShort = value instanceof Number number && number.isInteger() && number.text().length() <= 16;
        long whole = isShort ? Long.parseLong(((Number) value).text()) : Long.MAX_VALUE;
        return whole <= most ? Long.valueOf(whole) : null;
    }

    /** The members of an object in order, and the place of each value in the text. */
    public static final class Members extends LinkedHashMap<String, Object> {
        private static final long serialVersionUID = 1;
        /** Where the values begin and end in the text, in their order. */
        private final transient List<Integer> places = new ArrayList<>();
        private final transient String text;

        Members(String text) {
            this.text = text;
        }

        /** A value as it is written. */
        public String written(String name) {
            int index = 2 * List.copyOf(keySet()).indexOf(name);
            return text.substring(places.get(index), places.get(index + 1));
        }
    }

    public static final Object NULL = new Object();
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?");
    private static final String SPACES = " \t\n\r";
    /** Behind the text; no token begins with it. */
    private static final char END = '\uffff';

    private final String text;
    private final Code code;
    private int at;

    private Payload(String text, Code code) {
        this.text = text;
        this.code = code;
    }

    /** Parses a JSON object by [J-1] to [J-6]. Refuses anything else with the code. */
    public static Members parse(byte[] data, Code code) {
        return parseText(decode(data, code), code);
    }

    /** The same of a text. */
    public static Members parse(String text, Code code) {
        if (!Json.isUnicode(text)) throw new PushcryptException(code, "the text has half of a surrogate pair");
        return parseText(text, code);
    }

    private static Members parseText(String text, Code code) {
        Payload parser = new Payload(text, code);
        Object value = parser.value(0);
        parser.space();
        if (!(value instanceof Members members) || parser.at != text.length()) throw parser.refused();
        return members;
    }

    /** Decodes UTF-8 [J-1]. A new decoder refuses malformed input, and keeps a byte order mark. */
    public static String decode(byte[] data, Code code) {
        String text = new String(data, StandardCharsets.UTF_8);
        // Written in the data, or instead of what is malformed.
        if (text.indexOf('\ufffd') < 0) return text;
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
        } catch (CharacterCodingException malformed) {
            throw new PushcryptException(code);
        }
    }

    /** A checked JSON text without white space between its tokens, and with the fewest bytes in its strings; numbers stay as written [S-7]. */
    public static String minify(String text) {
        StringBuilder result = new StringBuilder(text.length());
        boolean inside = false;
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            if (!inside && SPACES.indexOf(character) >= 0) continue;
            if (character == '"') inside = !inside;
            if (character != '\\') {
                result.append(character);
                continue;
            }
            char escaped = text.charAt(++index);
            if (escaped == 'u') {
                String quoted = Json.quoted((char) Integer.parseInt(text.substring(index + 1, index + 5), 16));
                result.append(quoted, 1, quoted.length() - 1);
                index += 4;
            } else {
                result.append(escaped == '/' ? "/" : "\\" + escaped);
            }
        }
        return result.toString();
    }

    private PushcryptException refused() {
        return new PushcryptException(code);
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : END;
    }

    private boolean isAt(String characters) {
        return characters.indexOf(peek()) >= 0;
    }

    private void space() {
        while (peek() <= ' ' && isAt(SPACES)) at++;
    }

    private boolean takes(char token) {
        space();
        if (peek() != token) return false;
        at++;
        return true;
    }

    /** Reads a value at this depth of objects and arrays. */
    private Object value(int depth) {
        if (takes('"')) return string();
        if (takes('{')) return object(depth + 1);
        if (takes('[')) return array(depth + 1);
        return switch (peek()) {
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", NULL);
            default -> number();
        };
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw refused();
        at += word.length();
        return value;
    }

    private Members object(int depth) {
        Members members = new Members(text);
        if (depth > Format.DEEPEST_JSON) throw refused();
        if (takes('}')) return members;
        do {
            if (!takes('"')) throw refused();
            String name = string();
            if (!takes(':')) throw refused();
            space();
            int start = at;
            if (members.put(name, value(depth)) != null) throw refused();
            members.places.add(start);
            members.places.add(at);
        } while (takes(','));
        if (!takes('}')) throw refused();
        return members;
    }

    private List<Object> array(int depth) {
        List<Object> elements = new ArrayList<>();
        if (depth > Format.DEEPEST_JSON) throw refused();
        if (takes(']')) return elements;
        do elements.add(value(depth));
        while (takes(','));
        if (!takes(']')) throw refused();
        return elements;
    }

    /** Reads a string after its opening quotation mark. */
    private String string() {
        int start = at;
        StringBuilder escaped = null;
        while (true) {
            if (at == text.length() || text.charAt(at) < 0x20) throw refused();
            char character = text.charAt(at++);
            if (character == '"') break;
            if (character == '\\') {
                if (escaped == null) escaped = new StringBuilder();
                escaped.append(text, start, at - 1).append(escape());
                start = at;
            }
        }
        if (escaped == null) return text.substring(start, at - 1);
        // The text itself is Unicode, so half of a pair must come from an escape [J-6].
        String result = escaped.append(text, start, at - 1).toString();
        if (!Json.isUnicode(result)) throw refused();
        return result;
    }

    private char escape() {
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

    private Number number() {
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (!number.lookingAt()) throw refused();
        at = number.end();
        return new Number(number.group());
    }
}

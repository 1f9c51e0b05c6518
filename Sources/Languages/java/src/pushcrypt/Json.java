package pushcrypt;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes JSON. A value that JSON would change is refused. */
final class Json {
    private static final int DEPTH = 32;
    private static final String PLAIN = "\b\f\n\r\t", ESCAPES = "bfnrt";

    private Json() {}

    /** A text as a string of JSON, with only the escapes that RFC 8259 requires. */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int at = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            int escape = PLAIN.indexOf(character);
            if (escape >= 0) quoted.append('\\').append(ESCAPES.charAt(escape));
            else if (character < 0x20) quoted.append(String.format("\\u%04x", (int) character));
            else if (character == '"' || character == '\\') quoted.append('\\').append(character);
            else quoted.append(character);
        }
        return quoted.append('"').toString();
    }

    /** An object whose members are written as they are; a member that is null is left out. */
    static String object(Object... namesAndValues) {
        StringBuilder object = new StringBuilder();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            if (namesAndValues[at + 1] != null) object.append(object.isEmpty() ? "{" : ",").append(quoted((String) namesAndValues[at])).append(':').append(namesAndValues[at + 1]);
        }
        return object.isEmpty() ? "{}" : object.append('}').toString();
    }

    /** An array of texts; null if there are none. */
    static String texts(List<?> texts) {
        if (texts.isEmpty()) return null;
        return "[" + String.join(",", texts.stream().map(text -> quoted(text.toString())).toList()) + "]";
    }

    static String quotedOrNull(Object text) {
        return text == null ? null : quoted(text.toString());
    }

    /** Members beside a payload as bytes. */
    static byte[] writeMembers(Map<String, ?> members) throws PushcryptException {
        try {
            return write(members);
        } catch (PushcryptException malformed) {
            throw new PushcryptException("invalid-request", "a member beside the payload has a value that JSON does not have");
        }
    }

    /** A payload of maps, lists, texts, numbers and booleans as bytes. */
    static byte[] write(Map<String, ?> object) throws PushcryptException {
        StringBuilder text = new StringBuilder();
        write(object, DEPTH, text);
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void write(Object value, int depth, StringBuilder text) throws PushcryptException {
        if (value == null || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof String string) {
            if (!isUnicode(string)) throw refused("has half of a surrogate pair");
            text.append(quoted(string));
        } else if (value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long || value instanceof BigInteger) {
            text.append(value);
        } else if (value instanceof BigDecimal decimal) {
            text.append(decimal);
        } else if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            if (Double.isNaN(number) || Double.isInfinite(number)) throw refused("has a number that JSON does not have");
            text.append(value);
        } else if (value instanceof Map<?, ?> members) {
            if (depth == 0) throw refused("is nested deeper than 32");
            String separator = "{";
            for (Map.Entry<?, ?> member : members.entrySet()) {
                if (!(member.getKey() instanceof String name) || !isUnicode(name)) throw refused("has a name that is not a text");
                text.append(separator).append(quoted(name)).append(':');
                write(member.getValue(), depth - 1, text);
                separator = ",";
            }
            text.append(members.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> elements) {
            if (depth == 0) throw refused("is nested deeper than 32");
            String separator = "[";
            for (Object element : elements) {
                text.append(separator);
                write(element, depth - 1, text);
                separator = ",";
            }
            text.append(elements.isEmpty() ? "[]" : "]");
        } else {
            throw refused("has a " + value.getClass().getSimpleName() + ", which JSON does not have");
        }
    }

    /** Without the place, which would quote names of the payload. */
    private static PushcryptException refused(String reason) {
        return new PushcryptException("malformed-payload", "the payload " + reason + "; give the JSON as text or bytes, which are kept as they are");
    }

    /** A parsed value as maps, lists, texts, booleans, null, and numbers as BigDecimal. */
    static Object plain(Object value) {
        if (value == Payload.NULL) return null;
        if (value instanceof Payload.Number number) return number(number.text());
        if (value instanceof List<?> list) return list.stream().map(Json::plain).collect(java.util.stream.Collectors.toCollection(java.util.ArrayList::new));
        if (!(value instanceof Map<?, ?> members)) return value;
        Map<String, Object> plain = new LinkedHashMap<>();
        members.forEach((name, member) -> plain.put((String) name, plain(member)));
        return plain;
    }

    /** A number; its text if its exponent is beyond what Java holds. */
    private static Object number(String text) {
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException large) {
            return text;
        }
    }

    /** Text of JSON as bytes. */
    static byte[] bytes(String json, String code) throws PushcryptException {
        if (!isUnicode(json)) throw new PushcryptException(code, "the text has half of a surrogate pair");
        return json.getBytes(StandardCharsets.UTF_8);
    }

    /** Whether a text can be encoded as UTF-8: it has no lone surrogate. */
    static boolean isUnicode(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    /** A text that a caller gives. */
    static String checked(String text, String what) throws PushcryptException {
        if (!isUnicode(text)) throw new PushcryptException("invalid-request", what + " has half of a surrogate pair");
        return text;
    }
}

package pushcrypt.internal;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.*;
import java.util.stream.Collectors;
import pushcrypt.Code;
import pushcrypt.PushcryptException;

/** Writes JSON. A value that JSON would change is refused. */
public final class Json {
    private static final String PLAIN = "\b\f\n\r\t", ESCAPES = "bfnrt";

    private Json() {}

    /** A text as a string of JSON, with only the escapes that RFC 8259 requires; null for null. */
    public static String quoted(Object value) {
        if (value == null) return null;
        String text = value.toString();
        if (text.chars().allMatch(character -> character >= 0x20 && character != '"' && character != '\\')) return '"' + text + '"';
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
    public static String object(Object... namesAndValues) {
        StringBuilder object = new StringBuilder("{");
        for (int at = 0; at < namesAndValues.length; at += 2) {
            if (namesAndValues[at + 1] == null) continue;
            object.append(object.length() > 1 ? "," : "").append(quoted(namesAndValues[at])).append(':').append(namesAndValues[at + 1]);
        }
        return object.append('}').toString();
    }

    /** An array of values that are written as they are; null if there are none. */
    public static String array(List<String> values) {
        return values.isEmpty() ? null : "[" + String.join(",", values) + "]";
    }

    /** An array of texts; null if there are none. */
    public static String texts(List<?> texts) {
        return array(texts.stream().map(Json::quoted).toList());
    }

    /** A payload of maps, lists, texts, numbers and booleans. */
    public static String write(Map<?, ?> object, Code code, String what) {
        StringBuilder text = new StringBuilder();
        String refused = write(object, text, Format.DEEPEST_JSON);
        // Without the place, which would quote names of the payload.
        if (refused != null) throw new PushcryptException(code, what + " " + refused);
        return text.toString();
    }

    /** Writes a value. Returns what is wrong with it, or null. */
    private static String write(Object value, StringBuilder text, int depth) {
        if (value instanceof String string) {
            text.append(quoted(string));
            return isUnicode(string) ? null : "has half of a surrogate pair";
        }
        if (value instanceof Map || value instanceof List) {
            if (depth == 0) return "is nested deeper than 32";
            boolean isMap = value instanceof Map;
            String refused = null, separator = isMap ? "{" : "[";
            for (Object element : isMap ? ((Map<?, ?>) value).entrySet() : (List<?>) value) {
                if (refused != null) return refused;
                text.append(separator);
                separator = ",";
                if (isMap && ((Map.Entry<?, ?>) element).getKey() instanceof String name && isUnicode(name)) text.append(quoted(name)).append(':');
                else if (isMap) return "has a name that is not a text";
                refused = write(isMap ? ((Map.Entry<?, ?>) element).getValue() : element, text, depth - 1);
            }
            text.append(separator.equals(",") ? "" : separator).append(isMap ? '}' : ']');
            return refused;
        }
        text.append(value);
        if (value instanceof Double || value instanceof Float) return Double.isFinite(((Number) value).doubleValue()) ? null : "has a number that JSON does not have";
        boolean isWritten = value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long || value instanceof Short
            || value instanceof Byte || value instanceof BigInteger || value instanceof BigDecimal;
        return isWritten ? null : "has a " + value.getClass().getSimpleName() + ", which JSON does not have";
    }

    /** A parsed value as maps, lists, texts, booleans, null, and numbers as BigDecimal. */
    public static Object plain(Object value) {
        if (value == Payload.NULL) return null;
        if (value instanceof Payload.Number number) return number(number.text());
        if (value instanceof List<?> list) return list.stream().map(Json::plain).collect(Collectors.toCollection(ArrayList::new));
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

    /** Whether a text can be encoded as UTF-8: it has no half of a surrogate pair. */
    public static boolean isUnicode(String text) {
        for (int at = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            if (!Character.isSurrogate(character)) continue;
            if (Character.isLowSurrogate(character) || ++at == text.length() || !Character.isLowSurrogate(text.charAt(at))) return false;
        }
        return true;
    }

    /** A text that a caller gives. */
    public static String checked(String text, String what) {
        if (!isUnicode(text)) throw new PushcryptException(Code.INVALID_REQUEST, what + " has half of a surrogate pair");
        return text;
    }
}

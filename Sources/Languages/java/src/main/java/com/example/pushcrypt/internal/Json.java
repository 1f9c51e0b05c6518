package com.example.pushcrypt.internal;

import java.util.List;
import com.example.pushcrypt.Code;
import com.example.pushcrypt.PushcryptException;

/** Writes JSON. */
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

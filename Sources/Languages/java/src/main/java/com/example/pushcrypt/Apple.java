package com.example.pushcrypt;

import java.math.BigInteger;
import java.util.*;
import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Payload.Number;

/**
 * The fields of `aps` in Apple's "Generating a remote notification": a payload that breaks a rule here is not sealed, because the phone
 * would ignore the field or the push. Unknown fields are ignored, there and here.
 */
final class Apple {
    /** What a field may have: the rule of this name in the format's data. */
    private static boolean passes(String rule, Object value) {
        return switch (rule) {
            case "text" -> value instanceof String;
            case "texts" -> value instanceof List<?> list && list.stream().allMatch(one -> one == Payload.NULL || one instanceof String || one instanceof Number);
            case "text-or-object" -> value instanceof String || value instanceof Map;
            case "object" -> value instanceof Map;
            case "flag" -> value instanceof Boolean || whole(value) == 0 || whole(value) == 1;
            case "count" -> whole(value) >= 0;
            case "fraction" -> number(value) >= 0 && number(value) <= 1;
            case "time" -> number(value) >= 0 && number(value) < Format.TIME_FIELD_END;
            case "level" -> value instanceof String && Format.LEVELS.contains(value);
            case "event" -> value instanceof String && Format.EVENTS.contains(value);
            default -> throw new IllegalStateException(rule);
        };
    }

    private Apple() {}

    /** The value, 0 to 2^63 - 1, of a number that is whole, however it is written [J-8]; -1 for any other value. Digits without end take no time. */
    private static long whole(Object value) {
        if (!(value instanceof Number written)) return -1;
        String text = written.text();
        if (written.isInteger() && text.length() < 20) {
            BigInteger exact = new BigInteger(text);
            return exact.bitLength() < 64 ? exact.longValue() : -1;
        }
        double number = number(value);
        return number >= 0 && number < 0x1p53 && number == Math.rint(number) ? (long) number : -1;
    }

    /** Whether a value is 1 or true [J-8]. */
    static boolean isSet(Object value) {
        return Boolean.TRUE.equals(value) || whole(value) == 1;
    }

    /** Whether a field is there, and not null, which counts as absent [J-8]. */
    static boolean has(Map<String, Object> aps, String name) {
        return aps.getOrDefault(name, Payload.NULL) != Payload.NULL;
    }

    /** A number, infinite if a double cannot hold it; NaN for anything else. */
    private static double number(Object value) {
        return value instanceof Number written ? Double.parseDouble(written.text()) : Double.NaN;
    }

    /** Refuses a field that is not as Apple documents it, and an alert that shows nothing. */
    static void check(Map<String, Object> aps, PushType pushType) {
        for (Map.Entry<String, Object> field : aps.entrySet()) {
            check(field.getKey(), field.getValue(), Format.APS_FIELDS, "aps");
            Map<String, String> inner = field.getKey().equals("alert") ? Format.ALERT_FIELDS : field.getKey().equals("sound") ? Format.SOUND_FIELDS : null;
            if (inner == null || !(field.getValue() instanceof Map<?, ?> members)) continue;
            for (Map.Entry<?, ?> part : members.entrySet()) check((String) part.getKey(), part.getValue(), inner, "aps." + field.getKey());
        }
        if (pushType == PushType.ALERT && !shows(aps.get("alert"))) {
            throw new PushcryptException(Code.NOTHING_TO_SHOW,
                "aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or send it unsealed");
        }
    }

    private static boolean shows(Object alert) {
        if (!(alert instanceof Map<?, ?> members)) return alert instanceof String text && !text.isEmpty();
        return Format.SHOWN_TEXTS.stream().anyMatch(name -> members.get(name) instanceof String text && !text.isEmpty());
    }

    private static void check(String name, Object value, Map<String, String> rules, String place) {
        String rule = rules.get(name);
        if (rule != null && value != Payload.NULL && !passes(rule, value)) throw new PushcryptException(Code.INVALID_FIELD, place + "." + name + " must be " + Format.RULES.get(rule));
    }
}

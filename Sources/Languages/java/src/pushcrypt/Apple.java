package pushcrypt;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import pushcrypt.Payload.Number;

/**
 * The fields of `aps` in Apple's "Generating a remote notification": a payload that breaks a rule here is not sealed, because the phone
 * would ignore the field or the push. Unknown fields are ignored, there and here.
 */
final class Apple {
    private static final BigInteger LARGEST_COUNT = BigInteger.valueOf(Long.MAX_VALUE);
    private static final Set<String> LEVELS = Set.of("passive", "active", "time-sensitive", "critical"), EVENTS = Set.of("start", "update", "end");

    /** What a field may have: a test, and its words. */
    private enum Rule {
        TEXT(value -> value instanceof String, "a string"),
        TEXTS(value -> value instanceof List<?> list && list.stream().allMatch(String.class::isInstance), "an array of strings"),
        TEXT_OR_OBJECT(value -> value instanceof String || value instanceof Map, "a string or an object"),
        OBJECT(value -> value instanceof Map, "an object"),
        BOOL(value -> value instanceof Boolean, "true or false"),
        FLAG(value -> is(value, "0") || is(value, "1"), "the number 1 or 0, not a string and not true or false"),
        COUNT(value -> value instanceof Number number && number.isInteger() && new BigInteger(number.text()).compareTo(LARGEST_COUNT) <= 0,
            "a whole number, 0 or more"),
        FRACTION(value -> number(value) >= 0 && number(value) <= 1, "a number from 0 to 1"),
        TIME(value -> number(value) >= 0 && number(value) < 1e11, "a time in seconds since 1970, not in milliseconds"),
        LEVEL(value -> value instanceof String && LEVELS.contains(value), "passive, active, time-sensitive or critical"),
        EVENT(value -> value instanceof String && EVENTS.contains(value), "start, update or end");

        final Predicate<Object> test;
        final String words;

        Rule(Predicate<Object> test, String words) {
            this.test = test;
            this.words = words;
        }
    }

    private static final Map<String, Rule> APS = Map.ofEntries(
        Map.entry("alert", Rule.TEXT_OR_OBJECT), Map.entry("sound", Rule.TEXT_OR_OBJECT), Map.entry("badge", Rule.COUNT),
        Map.entry("thread-id", Rule.TEXT), Map.entry("category", Rule.TEXT), Map.entry("target-content-id", Rule.TEXT),
        Map.entry("filter-criteria", Rule.TEXT), Map.entry("content-available", Rule.FLAG), Map.entry("mutable-content", Rule.FLAG),
        Map.entry("interruption-level", Rule.LEVEL), Map.entry("relevance-score", Rule.FRACTION), Map.entry("url-args", Rule.TEXTS),
        Map.entry("event", Rule.EVENT), Map.entry("content-state", Rule.OBJECT), Map.entry("attributes", Rule.OBJECT),
        Map.entry("attributes-type", Rule.TEXT), Map.entry("input-push-channel", Rule.TEXT), Map.entry("timestamp", Rule.TIME),
        Map.entry("stale-date", Rule.TIME), Map.entry("dismissal-date", Rule.TIME), Map.entry("input-push-token", Rule.FLAG),
        Map.entry("content-changed", Rule.BOOL));
    private static final List<String> SHOWN = List.of("title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key");
    private static final Map<String, Rule> ALERT = Map.of(
        "title", Rule.TEXT, "subtitle", Rule.TEXT, "body", Rule.TEXT, "title-loc-key", Rule.TEXT, "subtitle-loc-key", Rule.TEXT, "loc-key", Rule.TEXT,
        "launch-image", Rule.TEXT, "title-loc-args", Rule.TEXTS, "subtitle-loc-args", Rule.TEXTS, "loc-args", Rule.TEXTS);
    private static final Map<String, Rule> SOUND = Map.of("name", Rule.TEXT, "critical", Rule.FLAG, "volume", Rule.FRACTION);

    private Apple() {}

    private static boolean is(Object value, String digits) {
        return value instanceof Number number && number.text().equals(digits);
    }

    /** A number, infinite if a double cannot hold it; NaN for anything else. */
    private static double number(Object value) {
        return value instanceof Number written ? Double.parseDouble(written.text()) : Double.NaN;
    }

    /** Refuses a field that is not as Apple documents it, and an alert that shows nothing. */
    static void check(Map<String, Object> aps, PushType pushType) throws PushcryptException {
        for (Map.Entry<String, Object> field : aps.entrySet()) {
            check(field.getKey(), field.getValue(), APS, "aps");
            Map<String, Rule> inner = field.getKey().equals("alert") ? ALERT : field.getKey().equals("sound") ? SOUND : null;
            if (inner == null || !(field.getValue() instanceof Map<?, ?> members)) continue;
            for (Map.Entry<?, ?> part : members.entrySet()) check((String) part.getKey(), part.getValue(), inner, "aps." + field.getKey());
        }
        if (pushType == PushType.ALERT && !shows(aps.get("alert"))) {
            throw new PushcryptException("nothing-to-show",
                "aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or seal it as a background push");
        }
    }

    private static boolean shows(Object alert) {
        if (!(alert instanceof Map<?, ?> members)) return alert instanceof String text && !text.isEmpty();
        return SHOWN.stream().anyMatch(name -> members.get(name) instanceof String text && !text.isEmpty());
    }

    private static void check(String name, Object value, Map<String, Rule> rules, String place) throws PushcryptException {
        Rule rule = rules.get(name);
        if (rule != null && !rule.test.test(value)) throw new PushcryptException("invalid-field", place + "." + name + " must be " + rule.words);
    }
}

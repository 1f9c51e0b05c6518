package com.example.pushcrypt;

import java.util.*;
import java.util.regex.Pattern;
import com.example.pushcrypt.internal.*;
import com.example.pushcrypt.internal.Payload.Members;

/** Reads members of records: Docs/FormatRecords.md. First what is no text of a key, then the keys in order, last what follows from them. */
final class Records {
    /** How texts of public keys of suite 1 and 2 begin. */
    private static final String PREFIX = "pcr1", PREFIX_2 = "pcrx1";

    private Records() {}

    /** Refuses a record unless a rule holds. */
    static void rule(boolean condition, String text) {
        if (!condition) throw new PushcryptException(Code.MALFORMED_RECORD, text);
    }

    /** Refuses a record without a public key [D-1]. */
    static void begin(Members members) {
        rule(text(members, "public_key") != null, "there is no public_key");
    }

    /** Refuses a `suite` that is not the key's [D-3]. */
    static void checkSuite(Members members, int own) {
        Object suite = member(members, "suite");
        rule(suite == null || new Payload.Number(Integer.toString(own)).equals(suite), "suite is not that of public_key");
    }

    static int suiteOf(String publicKey) {
        return publicKey.startsWith(PREFIX_2) ? 2 : Format.SUITE;
    }

    /** A member; null if it is absent or null [D-6]. */
    static Object member(Members members, String name) {
        Object value = members.get(name);
        return value == Payload.NULL ? null : value;
    }

    static String text(Members members, String name) {
        Object value = member(members, name);
        rule(value == null || value instanceof String, name + " is not a string");
        return (String) value;
    }

    static Long integer(Members members, String name) {
        Object value = member(members, name);
        if (value == null) return null;
        Long number = Payload.whole(value, Format.LARGEST_TIME);
        rule(number != null, name + " is not a whole number, 0 or more");
        return number;
    }

    static String topic(Members members) {
        String topic = text(members, "topic");
        rule(topic == null || Envelope.isContext(topic), "topic is not a bundle id");
        return topic;
    }

    /** Reads [D-7], with the suite of a record's key. */
    static List<Integer> suites(Members members, int own) {
        Object value = member(members, "suites");
        if (value == null) return List.of(own);
        List<Integer> suites = new ArrayList<>();
        for (Object suite : value instanceof List<?> list ? list : List.of()) {
            Long number = Payload.whole(suite, Format.LARGEST_SUITE);
            suites.add(number == null ? 0 : number.intValue());
        }
        boolean isGood = !suites.isEmpty() && suites.contains(own) && suites.size() <= Format.MOST_SUITES;
        for (int at = 0; at < suites.size(); at++) isGood &= suites.get(at) > (at == 0 ? 0 : suites.get(at - 1));
        rule(isGood, "suites are not 1 to 16 ascending numbers from 1 to 255, including that of the key");
        return suites;
    }

    static String written(List<Integer> suites) {
        return suites.toString().replace(" ", "");
    }

    static boolean isDevice(String id) {
        return Person.isText(id, Format.LONGEST_DEVICE_ID) && id.codePoints().noneMatch(Records::isInvisible) && !id.startsWith(PREFIX) && !id.startsWith(PREFIX_2) && id.chars().anyMatch(character -> character != ' ');
    }

    /** Whether a character is in one of the ranges, whatever Java's tables say. */
    private static boolean isInvisible(int character) {
        List<Integer> bounds = Format.INVISIBLE_CHARACTERS;
        for (int at = 0; at < bounds.size(); at += 2) if (bounds.get(at) <= character && character <= bounds.get(at + 1)) return true;
        return false;
    }

    static ProviderPublicKey provider(String text) {
        return text == null ? null : ProviderPublicKey.parse(text);
    }

    static String matching(Members members, String name, Pattern pattern) {
        String text = text(members, name);
        rule(text == null || pattern.matcher(text).matches(), name + " breaks its rule");
        return text;
    }

    /** A certificate. One that breaks [T-1] counts as absent [D-12]. */
    static Certificate certificate(Members members) {
        String text = text(members, "certificate");
        try {
            return text == null ? null : Certificate.parse(text);
        } catch (PushcryptException refused) {
            return null;
        }
    }

    /** Refuses a `push_key` or `update_key` that is no key [D-13]. */
    static void checkKey(String text) {
        if (text != null) ProviderPublicKey.of(Reference.bytes32(text, Code.MALFORMED_KEY));
    }

    /** Refuses a `key_id` of another key [D-2]. */
    static void checkId(Members members, AbstractPublicKey key) {
        String id = text(members, "key_id");
        rule(id == null || id.equals(key.id()), "key_id is not that of public_key");
    }
}

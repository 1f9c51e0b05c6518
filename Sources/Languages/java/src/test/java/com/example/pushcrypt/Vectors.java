package com.example.pushcrypt;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.math.BigDecimal;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import com.example.pushcrypt.internal.Payload;

/** The project's vectors: PUSHCRYPT_VECTORS, or Tests/Data/Vectors of the checkout around this folder. */
public final class Vectors {
    /** The worked example's keys. */
    public static final String DEVICE_SECRET = "PCR-SECRET-145HAW2SRDFRXKJRZVU33YCGGHHFLEELAGG52A3VC6HWZJ2L5HJ0SADFV30";
    public static final String PROVIDER_SECRET = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ";

    private Vectors() {}

    /** Runs at a time of the package's clock. */
    public static <T> T at(Instant time, Supplier<T> call) {
        return Fixtures.at(time, call);
    }

    public static Path folder() {
        String given = System.getenv("PUSHCRYPT_VECTORS");
        if (given != null) return Path.of(given);
        for (Path above = Path.of("").toAbsolutePath(); above != null; above = above.getParent()) {
            if (Files.isDirectory(above.resolve("Tests/Data/Vectors/kit"))) return above.resolve("Tests/Data/Vectors");
        }
        System.err.println("SKIPPED: no vectors; set PUSHCRYPT_VECTORS to the project's Tests/Data/Vectors");
        return Assumptions.abort("no vectors");
    }

    /** A JSON file as maps, lists, texts and BigDecimals. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> read(String name) {
        try {
            return (Map<String, Object>) plain(Payload.parse(Files.readAllBytes(folder().resolve(name)), Code.MALFORMED_RECORD));
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    /** A parsed value as maps, lists, texts, booleans, null, and numbers as BigDecimal. */
    public static Object plain(Object value) {
        if (value == Payload.NULL) return null;
        if (value instanceof Payload.Number number) return number(number.text());
        if (value instanceof List<?> list) return list.stream().map(Vectors::plain).collect(Collectors.toCollection(ArrayList::new));
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

    /** The cases of a list in a file, each a test. */
    @SuppressWarnings("unchecked")
    public static Stream<DynamicTest> cases(String file, String list, Consumer<Map<String, Object>> test) {
        List<Map<String, Object>> cases = (List<Map<String, Object>>) read(file).get(list);
        Assertions.assertFalse(cases.isEmpty());
        return cases.stream().map(one -> DynamicTest.dynamicTest(file + ": " + one.get("name"), () -> test.accept(one)));
    }

    public static byte[] hex(Object digits) {
        return HexFormat.of().parseHex((String) digits);
    }

    /** Pieces of hexadecimal digits, each perhaps repeated. */
    public static byte[] pieces(List<?> pieces) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Object piece : pieces) {
            String[] parts = ((String) piece).split("\\*");
            byte[] one = hex(parts[0]);
            for (int count = parts.length > 1 ? Integer.parseInt(parts[1]) : 1; count > 0; count--) all.writeBytes(one);
        }
        return all.toByteArray();
    }

    /** A test of the kit. A header that nobody looks at fails the test: it would say something that is not checked. */
    public static final class Case {
        public final byte[] body;
        public final String expect, name;
        private final Map<String, List<String>> header = new LinkedHashMap<>();
        private final Set<String> used = new HashSet<>(Set.of("name", "expect", "rules", "comment", "body", "pieces"));

        Case(Map<String, Object> members) {
            members.forEach((member, value) -> {
                Assertions.assertTrue(value instanceof String || value instanceof List<?> list && list.stream().allMatch(String.class::isInstance), member);
                header.put(member, value instanceof List<?> list ? list.stream().map(String.class::cast).toList() : List.of((String) value));
            });
            name = one("name");
            expect = String.join(" ", all("expect"));
            body = header.containsKey("pieces") ? pieces(all("pieces")) : String.join("\n", all("body")).getBytes(StandardCharsets.UTF_8);
            Assertions.assertNotEquals(header.containsKey("pieces"), header.containsKey("body"));
        }

        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        public boolean has(String member) {
            used.add(member);
            return header.containsKey(member);
        }

        public List<String> all(String member) {
            used.add(member);
            return header.getOrDefault(member, List.of());
        }

        public String one(String member) {
            List<String> values = all(member);
            Assertions.assertEquals(1, values.size(), () -> member + " of " + header.keySet());
            return values.get(0);
        }

        public String oneOr(String member, String otherwise) {
            return has(member) ? one(member) : otherwise;
        }

        /** What is found has to be what the header says; nothing if it is not there. */
        public void check(String member, Object found) {
            List<String> texts = found == null ? List.of() : found instanceof List<?> list ? list.stream().map(String::valueOf).toList() : List.of(found.toString());
            Assertions.assertEquals(all(member), texts, member);
        }

        /** The code of a refusal, or what the call returns. */
        public String outcome(Supplier<String> call) {
            try {
                return call.get();
            } catch (PushcryptException refused) {
                Assertions.assertFalse(refused.getMessage().isEmpty());
                return refused.code().toString();
            }
        }

        /** The call has the claimed outcome. */
        public void outcome(String good, Runnable call) {
            Assertions.assertEquals(expect, outcome(() -> {
                call.run();
                return good;
            }));
        }

        void checkHeader() {
            Set<String> others = new HashSet<>(header.keySet());
            others.removeAll(used);
            Assertions.assertEquals(Set.of(), others, "headers that this test does not look at");
        }
    }

    public interface KitTest {
        void run(Case test) throws Exception;
    }

    /** The tests of a group of the kit. */
    @SuppressWarnings("unchecked")
    public static Stream<DynamicTest> kit(String group, KitTest run) {
        Map<String, Object> file = read("kit/" + group + ".json");
        Assertions.assertEquals(Set.of("group", "shared", "tests"), file.keySet());
        Assertions.assertEquals(group, file.get("group"));
        List<DynamicTest> tests = new ArrayList<>();
        Set<Object> names = new HashSet<>();
        for (Map<String, Object> members : (List<Map<String, Object>>) file.get("tests")) {
            Map<String, Object> all = new LinkedHashMap<>((Map<String, Object>) file.get("shared"));
            all.putAll(members);
            Assertions.assertTrue(names.add(all.get("name")), "a name twice");
            tests.add(DynamicTest.dynamicTest(group + "/" + all.get("name"), () -> {
                Case test = new Case(all);
                run.run(test);
                test.checkHeader();
            }));
        }
        Assertions.assertFalse(tests.isEmpty());
        return tests.stream();
    }

    /** The groups of the kit, by their files. */
    public static Set<String> groups() {
        String[] files = folder().resolve("kit").toFile().list();
        return new HashSet<>(Arrays.stream(files).map(file -> file.replace(".json", "")).toList());
    }
}

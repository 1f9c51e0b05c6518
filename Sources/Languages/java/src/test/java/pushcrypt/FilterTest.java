package pushcrypt;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import pushcrypt.SealFilter.Answer;
import pushcrypt.testing.DeviceKey;
import pushcrypt.testing.OpenedPush;
import pushcrypt.testing.Receiver;
import pushcrypt.testing.Trust;

/** The filter with commands that stop, die, answer late or print garbage, and with the real one if PUSHCRYPT or the path has it. */
@Timeout(120)
final class FilterTest {
    private static final String PAYLOAD = "{\"aps\":{\"alert\":\"a\"}}";
    private static final Map<String, String> TO = Map.of("to", "phone1");
    /** Answers each line; a line of which `token` is `bad` with an error. */
    private static final String ANSWERS = """
        answer() {
            number=${1##*\\"pushcrypt-client\\":}
            case $1 in
            *'"token":"bad"'*) echo '{"error":{"code":"no-key","message":"there is no key"},"pushcrypt-client":'"$number" ;;
            *) echo '{"token":"t","payload":{"aps":{}},"pushcrypt-client":'"$number" ;;
            esac
        }
        """;
    private static final String ALWAYS = ANSWERS + "while read -r line; do answer \"$line\"; done\n";

    @TempDir
    Path folder;

    /** The real command, or null; an empty PUSHCRYPT means none. */
    static String command() {
        String given = System.getenv("PUSHCRYPT");
        if (given != null) return given.isEmpty() ? null : given;
        return Arrays.stream(System.getenv("PATH").split(":")).map(place -> Path.of(place, "pushcrypt")).filter(Files::isExecutable)
            .map(Path::toString).findFirst().orElse(null);
    }

    private String program(String name, String script) throws IOException {
        Path program = folder.resolve(name);
        Files.writeString(program, "#!/bin/sh\n" + script);
        assertTrue(program.toFile().setExecutable(true));
        return program.toString();
    }

    private static SealFilter.Builder filter(String program) {
        return SealFilter.builder().command(program).window(4);
    }

    private static CompletableFuture<Answer> sealed(SealFilter filter) {
        return assertDoesNotThrow(() -> filter.seal(PAYLOAD, TO));
    }

    private static Throwable error(CompletableFuture<Answer> answer) {
        return assertThrows(CompletionException.class, () -> answer.orTimeout(60, TimeUnit.SECONDS).join()).getCause();
    }

    /** A file that only its owner may read. */
    static void secretFile(Path file, String text) throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, text);
    }

    private static FilterException ended(CompletableFuture<Answer> answer) {
        return assertInstanceOf(FilterException.class, error(answer));
    }

    private static void answered(CompletableFuture<Answer> answer) {
        assertEquals("{\"aps\":{}}", answer.orTimeout(60, TimeUnit.SECONDS).join().payload());
    }

    private static double seconds(Runnable work) {
        long start = System.nanoTime();
        work.run();
        return (System.nanoTime() - start) / 1e9;
    }

    @Test
    void answersAndRefusals() throws Exception {
        try (SealFilter filter = filter(program("always", ALWAYS)).build()) {
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int number = 0; number < 20; number++) answers.add(filter.seal(PAYLOAD, Map.of("to", "phone1", "token", number == 7 ? "bad" : "t")));
            for (int number = 0; number < 20; number++) {
                if (number != 7) assertEquals("t", answers.get(number).join().members().get("token"));
            }
            PushcryptException refused = assertInstanceOf(PushcryptException.class, error(answers.get(7)));
            assertEquals(Code.NO_KEY, refused.code());
        }
    }

    @Test
    void aLaterCommandsCode() throws Exception {
        String script = ANSWERS.replace("no-key", "later-code") + "while read -r line; do answer \"$line\"; done\n";
        try (SealFilter filter = filter(program("later", script)).build()) {
            PushcryptException refused = assertInstanceOf(PushcryptException.class, error(filter.seal(PAYLOAD, Map.of("token", "bad"))));
            assertEquals(Code.UNKNOWN, refused.code());
            assertTrue(refused.getMessage().startsWith("later-code: "), refused.getMessage());
        }
    }

    /** A command that stops is killed after the timeout, and the next one gets its messages. */
    @Test
    void aCommandThatStops() throws Exception {
        String script = ANSWERS + "if mkdir \"$0.stopped\"; then read -r line; answer \"$line\"; kill -STOP $$; fi\nwhile read -r line; do answer \"$line\"; done\n";
        try (SealFilter filter = filter(program("stops", script)).answerTimeout(Duration.ofMillis(700)).build()) {
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int number = 0; number < 12; number++) answers.add(sealed(filter));
            answers.forEach(FilterTest::answered);
        }
    }

    /** One that never answers is started five times; then the messages end. */
    @Test
    void aCommandThatNeverAnswers() throws Exception {
        try (SealFilter filter = filter(program("silent", "echo . >>\"$0.runs\"\nexec sleep 100\n")).answerTimeout(Duration.ofMillis(200)).build()) {
            FilterException ended = ended(sealed(filter));
            assertTrue(ended.isRetryable());
            assertTrue(ended.getMessage().contains("did not answer for 200 ms"), ended.getMessage());
            assertEquals(5, Files.readAllLines(folder.resolve("silent.runs")).size());
        }
    }

    /** Slow is not silent: each answer begins the time again. And a filter without messages is left alone. */
    @Test
    void aCommandThatAnswersLate() throws Exception {
        String script = ANSWERS + "echo . >>\"$0.runs\"\nwhile read -r line; do sleep 0.4; answer \"$line\"; done\n";
        try (SealFilter filter = filter(program("late", script)).answerTimeout(Duration.ofMillis(1500)).build()) {
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int number = 0; number < 6; number++) answers.add(sealed(filter));
            answers.forEach(FilterTest::answered);
            Thread.sleep(2000);
            answered(sealed(filter));
            assertEquals(1, Files.readAllLines(folder.resolve("late.runs")).size());
        }
    }

    @Test
    void aProgramThatIsNotThere() throws Exception {
        Path notExecutable = folder.resolve("text");
        Files.writeString(notExecutable, "a");
        for (String program : List.of(folder + "/none", "no-such-pushcrypt", notExecutable.toString(), folder.toString())) {
            try (SealFilter filter = filter(program).build()) {
                assertTrue(seconds(() -> assertTrue(ended(sealed(filter)).getMessage().contains(program))) < 2, "at once");
            }
        }
    }

    /** A program that is not there, and then is. */
    @Test
    void aProgramThatComesLater() throws Exception {
        try (SealFilter filter = filter(folder + "/later").build()) {
            assertTrue(ended(sealed(filter)).isRetryable());
            program("later", ALWAYS);
            answered(sealed(filter));
        }
    }

    /** Exit code 64 says that the options are wrong: it is not started again. */
    @Test
    void optionsThatTheCommandRefuses() throws Exception {
        try (SealFilter filter = filter(program("misused", "echo . >>\"$0.runs\"\nread -r line\necho 'no such option' >&2\nexit 64\n")).build()) {
            FilterException ended = ended(sealed(filter));
            assertFalse(ended.isRetryable());
            assertTrue(ended.getMessage().contains("no such option"), ended.getMessage());
            assertFalse(ended(sealed(filter)).isRetryable());
            assertEquals(1, Files.readAllLines(folder.resolve("misused.runs")).size());
        }
    }

    /** Answers that belong to no message, or are neither a payload nor an error, and output that ends or has no end. */
    @Test
    void garbage() throws Exception {
        List<SealFilter> filters = new ArrayList<>();
        List<CompletableFuture<Answer>> asked = new ArrayList<>();
        for (String answer : List.of("\"pushcrypt-client\":99,\"payload\":{}", "\"pushcrypt-client\":0", "\"pushcrypt-client\":0,\"payload\":7", "\"pushcrypt-client\":0,\"error\":{}",
            "\"pushcrypt-client\":0,\"error\":{\"code\":\"a\"}", "\"pushcrypt-client\":" + "9".repeat(19) + ",\"payload\":{}", "\"pushcrypt-client\":\"0\",\"payload\":{}")) {
            filters.add(filter(program("garbage" + filters.size(), "echo '{" + answer + "}'\nexec sleep 100\n")).build());
        }
        filters.add(filter(program("endless", "exec tr '\\0' a </dev/zero\n")).build());
        for (String program : List.of("false", "echo")) filters.add(filter(program).build());
        for (SealFilter filter : filters) asked.add(sealed(filter));
        for (CompletableFuture<Answer> one : asked) assertTrue(ended(one).isRetryable());
        assertTrue(ended(asked.get(7)).getMessage().endsWith("its output is not that of pushcrypt"));
        filters.forEach(SealFilter::close);
    }

    /** A command that reads, ends and never answers: it is started five times, one after another, and gets a window each time. */
    @Test
    void aCommandThatHearsNothing() throws Exception {
        String script = "mkdir \"$0 runs\" || touch \"$0.two\"\ntimeout 0.5 cat > \"$0.$$\"\nrmdir \"$0 runs\"\nexit 3\n";
        List<CompletableFuture<Answer>> calls = new ArrayList<>();
        try (SealFilter filter = SealFilter.builder().command(program("deaf", script)).window(30).build()) {
            for (int call = 0; call < 30; call++) {
                calls.add(sealed(filter));
                Thread.sleep(25);
            }
            for (CompletableFuture<Answer> call : calls) ended(call);
        }
        List<Integer> runs = new ArrayList<>();
        try (var files = Files.newDirectoryStream(folder, "deaf.*")) {
            for (Path file : files) runs.add(Files.readAllLines(file).size());
        }
        assertEquals(5, runs.size(), () -> "the runs got " + runs);
        assertEquals(30, Collections.max(runs));
    }

    @Test
    void closingInTime() throws Exception {
        SealFilter silent = filter(program("silent", "exec sleep 100\n")).build();
        CompletableFuture<Answer> waiting = sealed(silent);
        long pid = silent.pid();
        assertTrue(seconds(() -> silent.close(Duration.ofMillis(300))) < 10);
        FilterException ended = ended(waiting);
        assertFalse(ended.isRetryable());
        assertTrue(ended.getMessage().contains("before the filter was closed"), ended.getMessage());
        waitUntilGone(pid);
        assertThrows(IllegalStateException.class, () -> silent.seal(PAYLOAD, TO));
        // One that answers everything and does not end when its input does.
        SealFilter staying = filter(program("staying", ALWAYS + "exec sleep 100\n")).build();
        answered(sealed(staying));
        long other = staying.pid();
        assertTrue(seconds(() -> staying.close(Duration.ofMillis(300))) < 10);
        waitUntilGone(other);
        SealFilter quick = filter(program("always", ALWAYS)).build();
        CompletableFuture<Answer> answer = sealed(quick);
        quick.close(Duration.ofSeconds(60));
        assertTrue(answer.isDone() && !answer.isCompletedExceptionally());
        quick.close();
        filter("never-started").build().close();
    }

    private static void waitUntilGone(long pid) throws InterruptedException {
        while (ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)) Thread.sleep(20);
    }

    @Test
    void interrupted() throws Exception {
        SealFilter filter = filter(program("silent", "exec sleep 100\n")).build();
        List<CompletableFuture<Answer>> waiting = new ArrayList<>();
        for (int number = 0; number < 4; number++) waiting.add(sealed(filter));
        AtomicBoolean isInterrupted = new AtomicBoolean();
        Thread fifth = new Thread(() -> {
            try {
                filter.seal(PAYLOAD, TO);
            } catch (InterruptedException interrupted) {
                isInterrupted.set(true);
            }
        });
        fifth.start();
        while (fifth.getState() != Thread.State.WAITING) Thread.sleep(10);
        fifth.interrupt();
        fifth.join();
        assertTrue(isInterrupted.get(), "a thread that waits for the window");
        Thread closing = new Thread(() -> {
            filter.close();
            isInterrupted.set(!Thread.currentThread().isInterrupted());
        });
        closing.start();
        while (closing.getState() != Thread.State.WAITING && closing.getState() != Thread.State.TIMED_WAITING) Thread.sleep(10);
        closing.interrupt();
        closing.join();
        assertFalse(isInterrupted.get(), "a thread that closes stays interrupted");
        waiting.forEach(FilterTest::ended);
    }

    /** Many threads with a small window: each answer wakes one, and none is forgotten. */
    @Test
    void manyWaiters() throws Exception {
        try (SealFilter filter = filter(program("always", ALWAYS)).build()) {
            List<Thread> threads = new ArrayList<>();
            AtomicInteger answers = new AtomicInteger();
            for (int number = 0; number < 100; number++) {
                Thread thread = new Thread(() -> {
                    for (int call = 0; call < 5; call++) answered(sealed(filter).whenComplete((answer, error) -> answers.incrementAndGet()));
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) thread.join();
            assertEquals(500, answers.get());
        }
    }

    @Test
    void whatIsNotAsked() throws Exception {
        try (SealFilter filter = filter("no-such-pushcrypt").build()) {
            for (String payload : List.of("{\"aps\":{}},\"to\":{\"a\":1}", "[]", "{\"a\":\"\ud800\"}", "")) {
                Fixtures.refused(Code.MALFORMED_PAYLOAD, () -> filter.seal(payload, TO));
            }
            Fixtures.refused(Code.INVALID_REQUEST, () -> filter.seal("{}", Map.of("to", "x", "token", Double.NaN)));
            Fixtures.refused(Code.INVALID_REQUEST, () -> filter.seal("{}", Map.of("to", Fixtures.HALF)));
            Fixtures.refused(Code.INVALID_REQUEST, () -> filter.seal("{}", Map.of("to", "x", Fixtures.HALF, "a")));
            Fixtures.refused(Code.LINE_TOO_LONG, () -> filter.seal("{\"a\":\"" + "a".repeat(1 << 20) + "\"}", TO));
            for (String own : List.of("to_user", "pushcrypt-client", "payload")) Fixtures.fault(() -> filter.seal("{}", Map.of(own, "a")));
            Fixtures.fault(() -> filter.seal(null, TO));
            Fixtures.fault(() -> filter.seal("{}", null));
        }
        Fixtures.fault(() -> SealFilter.builder().window(0));
        Fixtures.fault(() -> SealFilter.builder().command());
        Fixtures.fault(() -> SealFilter.builder().options((String) null));
        Fixtures.fault(() -> SealFilter.builder().executor(null));
        Fixtures.fault(() -> SealFilter.builder().answerTimeout(Duration.ZERO));
        Fixtures.fault(() -> SealFilter.builder().answerTimeout(null));
    }

    /** What depends on an answer seals again, with a full window, or closes the filter. */
    @Test
    void dependentMessages() throws Exception {
        String program = program("always", ALWAYS);
        try (SealFilter filter = filter(program).build()) {
            List<CompletableFuture<Answer>> all = Collections.synchronizedList(new ArrayList<>());
            for (int number = 0; number < 200; number++) all.add(sealed(filter).thenCompose(first -> sealed(filter)));
            all.forEach(FilterTest::answered);
        }
        SealFilter closed = filter(program).build();
        CompletableFuture<Answer> first = sealed(closed), second = sealed(closed);
        CompletableFuture.allOf(first.thenRun(closed::close), second.thenRun(closed::close)).get(60, TimeUnit.SECONDS);
        ExecutorService own = Executors.newSingleThreadExecutor(task -> new Thread(task, "own"));
        CompletableFuture<Void> isAsked = new CompletableFuture<>();
        SealFilter other = filter(program).executor(task -> own.execute(() -> {
            isAsked.join();
            task.run();
        })).build();
        CompletableFuture<String> name = new CompletableFuture<>();
        sealed(other).thenRun(() -> {
            pause();
            name.complete(Thread.currentThread().getName());
        });
        isAsked.complete(null);
        other.close();
        assertEquals("own", name.getNow(""), "closing waits for the executor that completes");
        own.shutdown();
    }

    /** Executors that throw, before or after they took the task. */
    @Test
    void executorsThatFail() throws Exception {
        String program = program("always", ALWAYS);
        for (boolean isTaken : List.of(false, true)) {
            for (Throwable thrown : List.of(new IllegalStateException("an executor that fails"), new OutOfMemoryError("unable to create native thread"))) {
                AtomicInteger runs = new AtomicInteger();
                SealFilter failing = filter(program).executor(task -> {
                    if (isTaken) new Thread(task).start();
                    if (thrown instanceof Error error) throw error;
                    throw (RuntimeException) thrown;
                }).build();
                for (int number = 0; number < 8; number++) sealed(failing).thenRun(runs::incrementAndGet).get(60, TimeUnit.SECONDS);
                sealed(failing).thenRun(() -> {
                    pause();
                    runs.incrementAndGet();
                });
                failing.close();
                assertEquals(9, runs.get(), "answers after " + thrown);
            }
        }
    }

    /** Threads cannot be started: by the executor and the filter, which then completes the answers itself; and not for the command either. */
    @Test
    void withoutThreads() throws Exception {
        String program = program("always", ALWAYS);
        AtomicBoolean isFull = new AtomicBoolean(true);
        // A thread that has a value of this starts no other.
        InheritableThreadLocal<Boolean> full = new InheritableThreadLocal<>() {
            @Override
            protected Boolean childValue(Boolean own) {
                if (isFull.get()) throw new OutOfMemoryError("unable to create native thread");
                return own;
            }
        };
        SealFilter alone = filter(program).executor(task -> {
            full.set(true);
            throw new OutOfMemoryError("unable to create native thread");
        }).build();
        for (int number = 0; number < 8; number++) sealed(alone).get(60, TimeUnit.SECONDS);
        alone.close();
        try {
            full.set(true);
            SealFilter later = filter(program).executor(Runnable::run).build();
            CompletableFuture<Answer> refused = sealed(later);
            isFull.set(false);
            ended(refused);
            answered(sealed(later));
            later.close();
        } finally {
            full.remove();
        }
    }

    /** The heap has room for an answer, but not for its values too. The message ends, and the filter goes on. Needs -Xmx64m. */
    @Test
    void withoutMemory() throws Exception {
        Assumptions.assumeTrue(Runtime.getRuntime().maxMemory() <= 100 << 20, "the heap is large");
        Path answers = folder.resolve("answers");
        Files.writeString(answers, "{\"pushcrypt-client\":0,\"payload\":{},\"a\":[" + "7,".repeat(250_000) + "7]}\n{\"pushcrypt-client\":1,\"payload\":{\"aps\":{}}}\n");
        String program = program("crowded", "read -r line\nread -r line\ncat " + answers + "\nexec cat >/dev/null\n");
        byte[][] held = new byte[1024][];
        AtomicBoolean isFirst = new AtomicBoolean(true);
        SealFilter filter = filter(program).executor(task -> {
            try {
                for (int place = 0; isFirst.get(); place++) held[place] = new byte[1 << 16];
            } catch (OutOfMemoryError full) {
                isFirst.set(false);
                Arrays.fill(held, 0, 16, null);
            }
            try {
                task.run();
            } finally {
                Arrays.fill(held, null);
            }
        }).build();
        CompletableFuture<Answer> first = sealed(filter), second = sealed(filter);
        assertTrue(ended(first).getMessage().contains("OutOfMemoryError"));
        answered(second);
        filter.close();
        // An answer whose values are more than the heap.
        Path large = folder.resolve("large");
        Files.writeString(large, "{\"pushcrypt-client\":0,\"payload\":{\"a\":[" + "{},".repeat(1_390_000) + "{}]}}\n");
        try (SealFilter filling = filter(program("filling", "exec cat " + large + "\n")).build()) {
            ended(sealed(filling));
        }
    }

    private static void pause() {
        assertDoesNotThrow(() -> Thread.sleep(300));
    }

    /** A command that fails for a while, which fails what waits then. A process that it leaves holds its standard error. */
    @Test
    void anOutage() throws Exception {
        Path broken = folder.resolve("broken"), tried = folder.resolve("tried");
        String script = "echo . >>" + tried + "\n[ ! -e " + broken + " ] || exit 1\nsleep 100 >/dev/null &\n" + ALWAYS;
        Files.writeString(broken, "");
        try (SealFilter filter = filter(program("flaky", script)).build()) {
            assertTrue(ended(sealed(filter)).isRetryable());
            assertEquals(5, Files.readAllLines(tried).size());
            Files.delete(broken);
            answered(sealed(filter));
            for (int kill = 0; kill < 3; kill++) {
                ProcessHandle.of(filter.pid()).ifPresent(ProcessHandle::destroyForcibly);
                while (filter.pid() >= 0) Thread.sleep(20);
                answered(sealed(filter));
            }
        }
    }

    private static Map<String, String> members(DeviceKey device, int number) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("to", device.publicKey().toString());
        members.put("id", "m" + number);
        members.put("token", "t" + number);
        return members;
    }

    private static String payload(int number) {
        return "{\"aps\":{\"alert\":\"" + (number % 50 == 7 ? "" : Integer.toString(number)) + "\"},\n\"big\":12345678901234567890}";
    }

    /** The real command is killed again and again while two threads seal: every message gets one answer, its own, and opens. */
    @Test
    void theCommandIsKilled() throws Exception {
        String command = command();
        Assumptions.assumeTrue(command != null, "no pushcrypt");
        int total = Integer.parseInt(System.getenv().getOrDefault("FILTER_COUNT", "1500")), window = 64;
        ProviderKey provider = ProviderKey.generate();
        DeviceKey device = DeviceKey.generate();
        Path key = folder.resolve("provider.key");
        secretFile(key, provider.secretText());
        SealFilter filter = SealFilter.builder().command(command).options("--topic", Fixtures.TOPIC, "--signing-key-file", key.toString())
            .window(window).executor(Runnable::run).build();
        CompletableFuture<?>[] answers = new CompletableFuture<?>[total];
        AtomicInteger underWay = new AtomicInteger(), most = new AtomicInteger(), answered = new AtomicInteger(), kills = new AtomicInteger();
        AtomicBoolean isDone = new AtomicBoolean();
        Thread killer = new Thread(() -> {
            long last = -1;
            int before = 0;
            while (!isDone.get()) {
                pauseBriefly();
                long pid = filter.pid();
                if (pid < 0 || pid == last || answered.get() == before) continue;
                last = pid;
                before = answered.get();
                ProcessHandle.of(pid).ifPresent(kills.get() % 3 == 2 ? ProcessHandle::destroy : ProcessHandle::destroyForcibly);
                kills.incrementAndGet();
            }
        });
        killer.start();
        Thread[] threads = new Thread[2];
        for (int which = 0; which < 2; which++) {
            int first = which;
            threads[which] = new Thread(() -> {
                for (int number = first; number < total; number += 2) {
                    int one = number;
                    answers[number] = assertDoesNotThrow(() -> filter.seal(payload(one), members(device, one)));
                    most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                    answers[number].whenComplete((answer, error) -> {
                        underWay.decrementAndGet();
                        answered.incrementAndGet();
                    });
                }
            });
            threads[which].start();
        }
        for (Thread thread : threads) thread.join();
        Receiver receiver = new Receiver(Fixtures.TOPIC);
        Trust trust = Trust.of(provider.publicKey());
        Set<String> seen = new HashSet<>();
        for (int number = 0; number < total; number++) {
            @SuppressWarnings("unchecked")
            CompletableFuture<Answer> answer = (CompletableFuture<Answer>) answers[number];
            if (number % 50 == 7) {
                assertEquals(Code.NOTHING_TO_SHOW, assertInstanceOf(PushcryptException.class, error(answer)).code());
                continue;
            }
            assertEquals("t" + number, answer.join().members().get("token"));
            OpenedPush opened = receiver.open(answer.join().payload(), device, trust);
            assertEquals(payload(number).replace("\n", ""), opened.payload());
            assertTrue(seen.add(opened.messageId()), "message " + number + " has its own id");
        }
        isDone.set(true);
        killer.join();
        filter.close();
        assertTrue(filter.pid() == -1 || ProcessHandle.of(filter.pid()).isEmpty(), "the child has ended");
        assertTrue(kills.get() >= 3, () -> "the child was killed " + kills + " times: give more messages");
        // A thread counts a message after it was taken, and another thread may have counted its answer later.
        assertTrue(most.get() <= window + 2, () -> most + " messages had no answer");
        System.out.println("figure: filter-java messages=" + total + " kills=" + kills + " lost=0 most-under-way=" + most);
    }

    private static void pauseBriefly() {
        assertDoesNotThrow(() -> Thread.sleep(60));
    }
}

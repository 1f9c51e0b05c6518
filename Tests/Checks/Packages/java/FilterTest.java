import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
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
import pushcrypt.DeviceKey;
import pushcrypt.OpenedPush;
import pushcrypt.ProviderKey;
import pushcrypt.PushType;
import pushcrypt.PushcryptException;
import pushcrypt.Receiver;
import pushcrypt.SealFilter;
import pushcrypt.Trust;

/** Seals with the client of the filter, from two threads, while its child is killed: every message gets one answer, its own, and opens. */
final class FilterTest {
    private static final int WINDOW = 64;
    private static final String TOPIC = "com.example.app";

    private FilterTest() {}

    private static void require(boolean condition, String text) {
        if (!condition) throw new AssertionError(text);
    }

    /** The code of a refused message. */
    private static String code(CompletableFuture<SealFilter.Answer> answer) {
        try {
            answer.join();
            return "none";
        } catch (CompletionException refused) {
            return ((PushcryptException) refused.getCause()).code();
        }
    }

    private static String reason(CompletableFuture<SealFilter.Answer> refused) {
        return refused.handle((answer, error) -> error.getMessage()).join();
    }

    private static String payload(int number) {
        return "{\"aps\":{\"alert\":\"" + (number % 50 == 7 ? "" : Integer.toString(number)) + "\"},\n\"big\":12345678901234567890}";
    }

    private static Map<String, String> members(DeviceKey device, int number) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("to", device.publicKey().toString());
        members.put("id", "m" + number);
        members.put("token", "t" + number);
        return members;
    }

    /** Kills each child after it has answered something: one that never does is not started for ever. */
    private static Thread killer(SealFilter filter, AtomicInteger kills, AtomicInteger answered, AtomicBoolean ended) {
        Thread killer = new Thread(() -> {
            long last = -1, before = 0;
            while (!ended.get()) {
                try {
                    Thread.sleep(60);
                } catch (InterruptedException impossible) {
                    return;
                }
                long pid = filter.pid();
                if (pid < 0 || pid == last || answered.get() == before) continue;
                last = pid;
                before = answered.get();
                ProcessHandle.of(pid).ifPresent(kills.get() % 3 == 2 ? ProcessHandle::destroy : ProcessHandle::destroyForcibly);
                kills.incrementAndGet();
            }
        });
        killer.setDaemon(true);
        killer.start();
        return killer;
    }

    public static void main(String[] arguments) throws Exception {
        String command = arguments[0], key = arguments[1] + "/provider.key";
        int total = Integer.parseInt(arguments[2]);
        ProviderKey provider = ProviderKey.generate();
        DeviceKey device = DeviceKey.generate();
        Files.writeString(Path.of(key), provider.secretText() + "\n");
        Path.of(key).toFile().setReadable(false, false);
        Path.of(key).toFile().setReadable(true, true);
        List<String> options = List.of("--topic", TOPIC, "--signing-key-file", key);
        Receiver receiver = new Receiver(TOPIC);
        Trust trust = Trust.of(provider.publicKey());
        AtomicInteger kills = new AtomicInteger(), answered = new AtomicInteger(), underWay = new AtomicInteger(), most = new AtomicInteger();
        AtomicBoolean ended = new AtomicBoolean();
        List<CompletableFuture<SealFilter.Answer>> answers = new ArrayList<>();
        for (int number = 0; number < total; number++) answers.add(null);

        SealFilter filter = new SealFilter(List.of(command), options, WINDOW, Runnable::run);
        Thread killer = killer(filter, kills, answered, ended);
        List<Thread> threads = new ArrayList<>();
        for (int half = 0; half < 2; half++) {
            int first = half;
            Thread thread = new Thread(() -> {
                try {
                    for (int number = first; number < total; number += 2) {
                        CompletableFuture<SealFilter.Answer> answer = filter.seal(payload(number), members(device, number));
                        most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                        answers.set(number, answer.whenComplete((done, error) -> {
                            underWay.decrementAndGet();
                            answered.incrementAndGet();
                        }));
                    }
                } catch (PushcryptException | InterruptedException error) {
                    throw new AssertionError(error);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) thread.join();
        Set<String> seen = new HashSet<>();
        for (int number = 0; number < total; number++) {
            if (number % 50 == 7) {
                require(code(answers.get(number)).equals("nothing-to-show"), "message " + number + " is refused");
                continue;
            }
            SealFilter.Answer answer = answers.get(number).join();
            require(answer.members().get("token").equals("t" + number), "the answer to message " + number);
            OpenedPush opened = receiver.open(answer.payload().getBytes(StandardCharsets.UTF_8), List.of(device), trust, PushType.ALERT, Instant.now());
            require(new String(opened.payload(), StandardCharsets.UTF_8).equals(payload(number).replace("\n", "")), "the payload of message " + number);
            require(seen.add(opened.messageId()), "message " + number + " has an id of its own");
        }
        ended.set(true);
        killer.join();
        filter.close();
        require(filter.pid() == -1 || ProcessHandle.of(filter.pid()).isEmpty(), "the child has ended");
        require(kills.get() >= 3, "the child was killed " + kills + " times: give more messages");
        // A thread counts a message after it was taken, and another thread may have counted its answer later.
        require(most.get() <= WINDOW + 2, most + " messages had no answer");

        List<List<String>> useless = new ArrayList<>(List.of(List.of(arguments[1] + "/none"), List.of("false"), List.of("echo"), List.of(command, "--no-such-option")));
        // Answers that belong to no message, or are neither a payload nor an error.
        for (String answer : List.of("\"pushcrypt-client\":99,\"payload\":{}", "\"pushcrypt-client\":0", "\"pushcrypt-client\":0,\"payload\":7", "\"pushcrypt-client\":0,\"error\":{}",
            "\"pushcrypt-client\":0,\"error\":{\"code\":\"a\"}", "\"pushcrypt-client\":" + "9".repeat(19) + ",\"payload\":{}")) {
            Path garbage = Path.of(arguments[1], "garbage" + useless.size());
            Files.writeString(garbage, "#!/bin/sh\necho '{" + answer + "}'\nexec sleep 100\n");
            require(garbage.toFile().setExecutable(true), "a program");
            useless.add(List.of(garbage.toString()));
        }
        Path large = Path.of(arguments[1], "large"), endless = Path.of(arguments[1], "endless"), filling = Path.of(arguments[1], "filling");
        Files.writeString(large, "{\"pushcrypt-client\":0,\"payload\":{\"a\":[" + "{},".repeat(1_390_000) + "{}]}}\n");
        // An answer without an end, and one whose values are more than the heap of this test.
        Files.writeString(endless, "#!/bin/sh\nexec tr '\\0' a </dev/zero\n");
        Files.writeString(filling, "#!/bin/sh\nexec cat " + large + "\n");
        for (Path program : List.of(endless, filling)) {
            require(program.toFile().setExecutable(true), "a program");
            useless.add(List.of(program.toString()));
        }
        for (List<String> broken : useless) {
            try (SealFilter other = new SealFilter(broken, options, WINDOW)) {
                List<CompletableFuture<SealFilter.Answer>> asked = new ArrayList<>();
                for (int number = 0; number < 3; number++) asked.add(other.seal(payload(1), members(device, number)));
                for (CompletableFuture<SealFilter.Answer> one : asked) require(code(one.orTimeout(60, TimeUnit.SECONDS)).equals("filter-ended"), broken + " does not answer");
                if (broken.equals(List.of(endless.toString()))) require(reason(asked.get(0)).endsWith("its output is not that of pushcrypt"), "an answer without an end");
            }
        }
        deaf(arguments[1], members(device, 0));
        dependent(List.of(command), options, members(device, 0));
        threadless(List.of(command), options, members(device, 0));
        crowded(Path.of(arguments[1]), options, members(device, 0));
        outage(Path.of(arguments[1]), command, options, members(device, 0));
        try (SealFilter misused = new SealFilter(List.of(command), options, WINDOW)) {
            for (String payload : List.of("{\"aps\":{}},\"to\":{\"a\":1}", "[]", "{\"a\":\"\ud800\"}")) {
                require(isRefused("malformed-payload", misused, payload), payload);
            }
            try {
                misused.seal("{}", Map.of("to", "x", "token", Double.NaN));
                require(false, "a member that is no number");
            } catch (PushcryptException refused) {
                require(refused.code().equals("invalid-request"), "a member that is no number: " + refused.code());
            }
            require(isRefused("line-too-long", misused, "{\"a\":\"" + "a".repeat(1 << 20) + "\"}"), "a long line");
        }
        System.out.println("figure: filter-java messages=" + total + " kills=" + kills + " lost=0 most-under-way=" + most);
    }

    /** What depends on an answer seals again, with a full window, or closes the filter. */
    private static void dependent(List<String> command, List<String> options, Map<String, String> members) throws Exception {
        try (SealFilter filter = new SealFilter(command, options, 4)) {
            List<CompletableFuture<SealFilter.Answer>> all = Collections.synchronizedList(new ArrayList<>());
            Thread thread = new Thread(() -> {
                for (int number = 0; number < 200; number++) all.add(sealed(filter, members).thenCompose(first -> sealed(filter, members)));
            });
            thread.setDaemon(true);
            thread.start();
            thread.join(60_000);
            require(!thread.isAlive(), "messages that are sealed when others are");
            for (CompletableFuture<SealFilter.Answer> one : all) one.get(60, TimeUnit.SECONDS);
        }
        SealFilter closed = new SealFilter(command, options, 4);
        CompletableFuture<SealFilter.Answer> first = sealed(closed, members), second = sealed(closed, members);
        CompletableFuture.allOf(first.thenRun(closed::close), second.thenRun(closed::close)).get(60, TimeUnit.SECONDS);
        ExecutorService own = Executors.newSingleThreadExecutor(task -> new Thread(task, "own"));
        CompletableFuture<Void> isAsked = new CompletableFuture<>();
        SealFilter other = new SealFilter(command, options, 4, task -> own.execute(() -> {
            isAsked.join();
            task.run();
        }));
        CompletableFuture<String> name = new CompletableFuture<>();
        sealed(other, members).thenRun(() -> {
            pause(300);
            name.complete(Thread.currentThread().getName());
        });
        isAsked.complete(null);
        other.close();
        require("own".equals(name.getNow("")), "the executor that completes, for which closing waits");
        own.shutdown();
        for (boolean isTaken : List.of(false, true)) {
            for (Throwable thrown : List.of(new IllegalStateException("an executor that fails"), new OutOfMemoryError("unable to create native thread"))) {
                AtomicInteger runs = new AtomicInteger();
                SealFilter failing = new SealFilter(command, options, 4, task -> {
                    if (isTaken) new Thread(task).start();
                    if (thrown instanceof Error error) throw error;
                    throw (RuntimeException) thrown;
                });
                for (int number = 0; number < 8; number++) sealed(failing, members).thenRun(runs::incrementAndGet).get(60, TimeUnit.SECONDS);
                sealed(failing, members).thenRun(() -> {
                    pause(300);
                    runs.incrementAndGet();
                });
                closes(failing, thrown);
                require(runs.get() == 9, "answers after " + thrown + ": " + runs);
            }
        }
    }

    /** Threads cannot be started: by the executor and the filter, which then completes the answers itself; and not for the command either. */
    private static void threadless(List<String> command, List<String> options, Map<String, String> members) throws Exception {
        AtomicBoolean isFull = new AtomicBoolean(true);
        // A thread that has a value of this starts no other.
        InheritableThreadLocal<Boolean> full = new InheritableThreadLocal<>() {
            @Override
            protected Boolean childValue(Boolean own) {
                if (isFull.get()) throw new OutOfMemoryError("unable to create native thread");
                return own;
            }
        };
        SealFilter alone = new SealFilter(command, options, 4, task -> {
            full.set(true);
            throw new OutOfMemoryError("unable to create native thread");
        });
        for (int number = 0; number < 8; number++) sealed(alone, members).get(60, TimeUnit.SECONDS);
        closes(alone, "an executor without threads");
        full.set(true);
        SealFilter later = new SealFilter(command, options, 4, Runnable::run);
        require(code(sealed(later, members).orTimeout(60, TimeUnit.SECONDS)).equals("filter-ended"), "no threads for the command");
        isFull.set(false);
        require(code(sealed(later, members).orTimeout(60, TimeUnit.SECONDS)).equals("none"), "threads again");
        closes(later, "a command without threads");
        full.remove();
    }

    /** The heap has room for an answer, but not for its values too. The message ends, and the filter goes on. */
    private static void crowded(Path folder, List<String> options, Map<String, String> members) throws Exception {
        Path answers = folder.resolve("answers"), program = folder.resolve("crowded");
        Files.writeString(answers, "{\"pushcrypt-client\":0,\"payload\":{},\"a\":[" + "7,".repeat(250_000) + "7]}\n{\"pushcrypt-client\":1,\"payload\":{}}\n");
        Files.writeString(program, "#!/bin/sh\nread -r line\nread -r line\ncat " + answers + "\nexec cat >/dev/null\n");
        require(program.toFile().setExecutable(true), "a program");
        byte[][] held = new byte[1024][];
        AtomicBoolean isFirst = new AtomicBoolean(true);
        SealFilter filter = new SealFilter(List.of(program.toString()), options, 4, task -> {
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
        });
        CompletableFuture<SealFilter.Answer> first = sealed(filter, members), second = sealed(filter, members);
        require(code(first.orTimeout(60, TimeUnit.SECONDS)).equals("filter-ended") && reason(first).contains("OutOfMemoryError"), "an answer without room for its values");
        require(code(second.orTimeout(60, TimeUnit.SECONDS)).equals("none"), "the answer after it");
        closes(filter, "an answer without room");
    }

    private static void closes(SealFilter filter, Object after) throws InterruptedException {
        Thread closing = new Thread(filter::close);
        closing.setDaemon(true);
        closing.start();
        closing.join(60_000);
        require(!closing.isAlive(), "a filter that closes after " + after);
    }

    private static CompletableFuture<SealFilter.Answer> sealed(SealFilter filter, Map<String, String> members) {
        try {
            return filter.seal(payload(1), members);
        } catch (PushcryptException | InterruptedException error) {
            throw new AssertionError(error);
        }
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** A command that fails for a while, which fails what waits then, or is misused, and not tried again. A process that it leaves holds its standard error. */
    private static void outage(Path folder, String command, List<String> options, Map<String, String> members) throws Exception {
        Path broken = folder.resolve("broken"), tried = folder.resolve("tried"), flaky = folder.resolve("flaky");
        Files.writeString(flaky, "#!/bin/sh\necho . >>" + tried + "\n[ ! -e " + broken + " ] || exit \"$(cat " + broken + ")\"\nsleep 100 >/dev/null &\nexec " + command + " \"$@\"\n");
        require(flaky.toFile().setExecutable(true), "a program");
        for (String exit : List.of("1", "64")) {
            Files.writeString(broken, exit);
            Files.writeString(tried, "");
            try (SealFilter filter = new SealFilter(List.of(flaky.toString()), options, 4)) {
                require(code(filter.seal(payload(1), members)).equals("filter-ended"), "an outage");
                long runs = Files.size(tried);
                Files.delete(broken);
                String after = code(filter.seal(payload(1), members));
                require(exit.equals("1") ? after.equals("none") : after.equals("filter-ended") && Files.size(tried) == runs, "after an outage: " + after);
                for (int kill = 0; kill < 6 && exit.equals("1"); kill++) {
                    ProcessHandle.of(filter.pid()).ifPresent(ProcessHandle::destroyForcibly);
                    while (filter.pid() >= 0) Thread.sleep(20);
                    require(code(filter.seal(payload(1), members)).equals("none"), "after a child for which nothing waited");
                }
            }
        }
    }

    /** A command that reads, ends and never answers: it is started five times, one after another, and gets no more than a window. */
    private static void deaf(String folder, Map<String, String> members) throws Exception {
        Path deaf = Path.of(folder, "deaf");
        Files.writeString(deaf, "#!/bin/sh\nmkdir \"$0 runs\" || touch \"$0.two\"\ntimeout 0.5 cat > \"$0.$$\"\nrmdir \"$0 runs\"\nexit 3\n");
        require(deaf.toFile().setExecutable(true), "a program");
        List<CompletableFuture<SealFilter.Answer>> calls = new ArrayList<>();
        try (SealFilter unheard = new SealFilter(List.of(deaf.toString()), List.of(), 30)) {
            for (int call = 0; call < 31; call++) {
                calls.add(unheard.seal(payload(1), members));
                Thread.sleep(25);
            }
            for (CompletableFuture<SealFilter.Answer> call : calls) require(code(call).equals("filter-ended"), "a message that nobody hears");
        }
        List<Integer> runs = new ArrayList<>();
        try (var files = Files.newDirectoryStream(Path.of(folder), "deaf.*")) {
            for (Path file : files) runs.add(Files.readAllLines(file).size());
        }
        require(runs.size() == 5 && runs.stream().max(Integer::compare).get() == 30, "the runs got " + runs);
    }

    private static boolean isRefused(String code, SealFilter filter, String payload) throws InterruptedException {
        try {
            filter.seal(payload, Map.of("to", "x"));
            return false;
        } catch (PushcryptException refused) {
            return refused.code().equals(code);
        }
    }
}

package pushcrypt;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import pushcrypt.Payload.Members;

/**
 * {@code pushcrypt seal --batch} as a child process, for any number of threads.
 *
 * <p>If the command ends, it is started again after a pause, and what has no answer is given to it again: nothing is lost, and each message gets one answer. Give
 * each message an {@code id}: one that was sealed when the command ended, and not answered, is sealed again. If it ends five times in a row without an answer, or
 * cannot be started, all that waits gets {@code filter-ended}, and the next message starts it again, 5 seconds later. Only after exit code 64, with which the
 * command refuses its options, it is not started again.
 *
 * <p>Answers are completed by an executor, so what depends on them may seal, or close the filter.
 */
public final class SealFilter implements AutoCloseable {
    /** The member of a line that the command returns with its answer. */
    private static final String NUMBER = "pushcrypt-client";
    private static final int LONGEST_LINE = 1 << 20, LONGEST_ANSWER = 1 << 22, MISUSE = 64, KEPT_ERRORS = 2000;
    /** Digits that a long always holds. */
    private static final int LONGEST_NUMBER = 18;
    /** Ends in a row without an answer, while something waited, after which that gets an error. */
    private static final int MOST_ENDS = 5;
    /** Milliseconds before the next start, twice as many after each such end; and for the last words of a command. */
    private static final int FIRST_PAUSE = 100, LONGEST_PAUSE = 5000, LAST_WORDS = 1000;
    private static final byte[] END = {};

    /** A line without an answer. */
    private record Entry(byte[] line, CompletableFuture<Answer> answer) {}

    /**
     * The answer to a message that was sealed.
     *
     * @param payload the JSON to send
     * @param members the other members of the line of output: those of the message, and with {@code --emit request} those of the request
     */
    public record Answer(String payload, Map<String, Object> members) {}

    private final List<String> command;
    private final int window;
    private final Executor executor;
    /** Whether this thread completes an answer of this filter. */
    private final ThreadLocal<Boolean> isCompleting = new ThreadLocal<>();
    private final Map<Long, Entry> pending = new LinkedHashMap<>();
    private Process child;
    private BlockingQueue<byte[]> lines;
    private long next;
    private int ends, queued, completing, failures;
    private boolean isClosing, isPausing, isOver;
    private PushcryptException failure;

    /**
     * Creates a client. The command starts with the first message.
     *
     * @param command the program and its options before {@code seal}, such as {@code List.of("pushcrypt")}
     * @param options those after {@code seal --batch}, such as {@code List.of("--store", path, "--emit", "request")}
     * @param window the most messages without an answer; {@link #seal} blocks for more
     */
    public SealFilter(List<String> command, List<String> options, int window) {
        this(command, options, window, ForkJoinPool.commonPool());
    }

    /**
     * Creates a client. The command starts with the first message.
     *
     * @param command the program and its options before {@code seal}, such as {@code List.of("pushcrypt")}
     * @param options those after {@code seal --batch}, such as {@code List.of("--store", path, "--emit", "request")}
     * @param window the most messages without an answer; {@link #seal} blocks for more
     * @param executor completes the answers. {@code Runnable::run} does so in the thread that reads them, which then must not seal or close, and holds the
     *     command up while what depends on an answer is slow
     */
    public SealFilter(List<String> command, List<String> options, int window, Executor executor) {
        if (command.isEmpty() || window < 1) throw new IllegalArgumentException("a command, and a window of 1 or more");
        this.command = new ArrayList<>(command);
        this.command.addAll(List.of("seal", "--batch"));
        this.command.addAll(options);
        this.window = window;
        this.executor = Objects.requireNonNull(executor, "executor");
    }

    /**
     * Creates a client with a window of 1,000 messages for the command in the path.
     *
     * @param options those after {@code seal --batch}
     */
    public SealFilter(List<String> options) {
        this(List.of("pushcrypt"), options, 1000);
    }

    /**
     * Returns the id of the child process.
     *
     * @return the id, or -1 if it does not run
     */
    public synchronized long pid() {
        return child == null ? -1 : child.pid();
    }

    /**
     * Gives a message to the command. Blocks while the window is full.
     *
     * @param payload JSON, whose numbers and strings are kept as they are written
     * @param members the other members of the line: {@code to}, {@code id}, {@code topic}, {@code ttl} and so on, and any to be passed through
     * @return the answer; or, as the cause of an exception, a {@link PushcryptException} with the code of the line, or {@code filter-ended} if the command does not answer
     * @throws PushcryptException {@code malformed-payload}, {@code invalid-request} or {@code line-too-long}: the command was not asked
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public CompletableFuture<Answer> seal(String payload, Map<String, ?> members) throws PushcryptException, InterruptedException {
        for (String name : List.of("to_user", NUMBER, "payload")) {
            if (members.containsKey(name)) throw new IllegalArgumentException("a message cannot have " + name + " here: each has one answer");
        }
        Payload.parseObject(Json.bytes(payload, "malformed-payload"), "malformed-payload");
        String rest = new String(Json.writeMembers(members), StandardCharsets.UTF_8), start = rest.substring(0, rest.length() - 1);
        String before = start + (members.isEmpty() ? "" : ",") + "\"payload\":" + Payload.minify(payload);
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        synchronized (this) {
            if (isClosing) throw new IllegalStateException("the filter is closed");
            int failuresBefore = failures;
            queued += 1;
            try {
                while (pending.size() >= window && failures == failuresBefore && !isOver) wait();
            } finally {
                queued -= 1;
                notifyAll();
            }
            byte[] line = (before + ",\"" + NUMBER + "\":" + next + "}\n").getBytes(StandardCharsets.UTF_8);
            if (line.length > LONGEST_LINE) throw new PushcryptException("line-too-long", "a line has at most 1 MiB");
            if (isOver || failures != failuresBefore) {
                answer.completeExceptionally(failure);
                return answer;
            }
            pending.put(next++, new Entry(line, answer));
            if (child != null) lines.add(line);
            else if (!isPausing) start();
        }
        return answer;
    }

    /**
     * Waits for the answers under way, and ends the command. If the thread is interrupted, the command is killed.
     *
     * <p>It also waits for what depends on the answers, unless that closes the filter.
     */
    @Override
    public void close() {
        Process ending = null;
        try {
            synchronized (this) {
                isClosing = true;
                while (pending.size() + queued > 0 && !isOver || completing > 0 && isCompleting.get() == null) wait();
                ending = child;
                if (ending != null) lines.add(END);
            }
            if (ending != null) ending.waitFor();
        } catch (InterruptedException interrupted) {
            synchronized (this) {
                fail("the thread that closed the filter was interrupted", true);
                if (child != null) child.destroyForcibly();
            }
            Thread.currentThread().interrupt();
        }
    }

    /** Starts the command, and gives it everything that is not answered, in order. The caller holds the lock. */
    private void start() {
        try {
            launch();
        } catch (OutOfMemoryError noThread) {
            if (child != null) {
                child.destroyForcibly();
                lines.add(END);
            }
            child = null;
            isPausing = false;
            fail("it cannot be started: " + noThread, false);
        }
    }

    private void launch() {
        Process started;
        try {
            started = new ProcessBuilder(command).start();
        } catch (IOException error) {
            isPausing = true;
            daemon("pushcrypt-answers", () -> ended(-1, error.getMessage(), ""));
            return;
        }
        BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
        pending.values().forEach(entry -> queue.add(entry.line));
        child = started;
        lines = queue;
        StringBuffer errors = new StringBuffer();
        Thread listener = daemon("pushcrypt-errors", () -> listen(started, errors));
        // Writing may block until answers are read, so it has a separate thread.
        daemon("pushcrypt-lines", () -> write(started, queue));
        daemon("pushcrypt-answers", () -> {
            String reason = read(started);
            queue.add(END);
            // A process that it started may hold its standard error open.
            listener.join(LAST_WORDS);
            ended(started.waitFor(), reason, errors.toString().trim());
        });
    }

    private interface Work {
        void run() throws InterruptedException, IOException;
    }

    private static Thread daemon(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException | IOException ended) {
                // The process has ended, which the reader of its answers tells.
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void write(Process started, BlockingQueue<byte[]> queue) throws InterruptedException, IOException {
        try (OutputStream input = started.getOutputStream()) {
            for (byte[] line = queue.take(); line != END; line = queue.take()) {
                input.write(line);
                if (queue.isEmpty()) input.flush();
            }
        }
    }

    private static void listen(Process started, StringBuffer errors) throws IOException {
        try (Reader reader = new InputStreamReader(started.getErrorStream(), StandardCharsets.UTF_8)) {
            char[] some = new char[KEPT_ERRORS];
            for (int count = reader.read(some); count >= 0; count = reader.read(some)) {
                errors.append(some, 0, count);
                errors.delete(0, Math.max(0, errors.length() - KEPT_ERRORS));
            }
        }
    }

    /** Reads answers until the process ends. Returns why nothing more can be read from such a process, or null. */
    private String read(Process started) {
        try (InputStream output = new BufferedInputStream(started.getInputStream(), LONGEST_LINE)) {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            // A line without an end is not an answer: the process was killed while it wrote it.
            for (int one = output.read(); one >= 0; one = output.read()) {
                if (one != '\n') {
                    if (line.size() == LONGEST_ANSWER) throw new PushcryptException("malformed-line");
                    line.write(one);
                    continue;
                }
                answer(line.toByteArray());
                line.reset();
            }
            return null;
        } catch (IOException ended) {
            return null;
        } catch (PushcryptException malformed) {
            started.destroy();
            return "its output is not that of pushcrypt";
        } catch (RuntimeException | Error unexpected) {
            started.destroyForcibly();
            return "its output cannot be read: " + unexpected;
        }
    }

    private void answer(byte[] line) throws PushcryptException {
        Members members = Payload.parseObject(line, "malformed-line");
        if (!(members.get(NUMBER) instanceof Payload.Number number) || !number.isInteger() || number.text().length() > LONGEST_NUMBER) {
            throw new PushcryptException("malformed-line");
        }
        boolean isRefused = !members.containsKey("payload") && members.get("error") instanceof Map<?, ?> error && error.get("code") instanceof String
            && error.get("message") instanceof String;
        if (!isRefused && !(members.get("payload") instanceof Members)) throw new PushcryptException("malformed-line");
        Entry entry;
        synchronized (this) {
            entry = pending.remove(Long.valueOf(number.text()));
            if (entry == null) throw new PushcryptException("malformed-line");
            ends = 0;
            completing += 1;
            notifyAll();
        }
        execute(() -> complete(entry, members));
    }

    /** Has the executor complete an answer, which is already counted, and may run the caller's code: `close` waits for it. */
    private void execute(Runnable completion) {
        // An executor may throw after accepting the task, and still run it.
        AtomicBoolean isRun = new AtomicBoolean();
        Runnable counted = () -> {
            if (isRun.getAndSet(true)) return;
            // A pool may run one completion while another waits.
            Boolean isInner = isCompleting.get();
            isCompleting.set(true);
            try {
                completion.run();
            } finally {
                if (isInner == null) isCompleting.remove();
                synchronized (this) {
                    completing -= 1;
                    notifyAll();
                }
            }
        };
        try {
            executor.execute(counted);
        } catch (RuntimeException | Error refused) {
            try {
                daemon("pushcrypt-answer", counted::run);
            } catch (OutOfMemoryError noThread) {
                counted.run();
            }
        }
    }

    /** Completes an answer. Its message gets an end even if there is no memory for its values. */
    private void complete(Entry entry, Members members) {
        try {
            completeWith(entry, members);
        } catch (RuntimeException | Error unexpected) {
            entry.answer.completeExceptionally(unanswered("its output cannot be read: " + unexpected));
        }
    }

    private static void completeWith(Entry entry, Members members) {
        if (members.get("error") instanceof Map<?, ?> error && !members.containsKey("payload")) {
            entry.answer.completeExceptionally(new PushcryptException(String.valueOf(error.get("code")), String.valueOf(error.get("message"))));
            return;
        }
        Map<String, Object> others = new LinkedHashMap<>();
        members.forEach((name, value) -> others.put(name, Json.plain(value)));
        others.remove("payload");
        others.remove(NUMBER);
        entry.answer.complete(new Answer(members.written("payload"), others));
    }

    private void ended(int code, String reason, String errors) throws InterruptedException {
        long pause;
        synchronized (this) {
            child = null;
            isPausing = true;
            if (!pending.isEmpty()) ends += 1;
            pause = (long) FIRST_PAUSE << ends;
            if (code == MISUSE || ends >= MOST_ENDS) {
                fail(reason != null ? reason : "it ended with " + code + ": " + errors, code == MISUSE);
                pause = LONGEST_PAUSE;
            }
            notifyAll();
            if (isOver) return;
        }
        Thread.sleep(pause);
        synchronized (this) {
            isPausing = false;
            if (!pending.isEmpty()) start();
        }
    }

    private PushcryptException unanswered(String reason) {
        return new PushcryptException("filter-ended", command.get(0) + " seal --batch does not answer: " + reason);
    }

    /** Gives all that waits an error. The caller holds the lock. */
    private void fail(String reason, boolean isLast) {
        PushcryptException reported = unanswered(reason);
        failure = reported;
        failures += 1;
        isOver |= isLast;
        List<Entry> all = List.copyOf(pending.values());
        pending.clear();
        notifyAll();
        completing += 1;
        execute(() -> all.forEach(entry -> entry.answer.completeExceptionally(reported)));
    }
}

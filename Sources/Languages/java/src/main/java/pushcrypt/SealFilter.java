package pushcrypt;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import pushcrypt.internal.*;
import pushcrypt.internal.Payload.Members;

/**
 * {@code pushcrypt seal --batch} as a child process, for any number of threads. This is the way to seal many messages in Java.
 *
 * <p>If the command ends, or does not answer for 30 seconds, another is started after a pause and gets what has no answer: nothing is lost, and each message
 * gets one answer. Give each message an {@code id}: one that was sealed when the command ended, and not answered, is sealed again. If five in a row end
 * without an answer, all that waits gets a {@link FilterException}, and a message starts the next one 5 seconds later. If the program cannot be run, what waits
 * gets it at once. After exit code 64, with which the command refuses its options, it is not started again.
 *
 * <p>Answers are completed by an executor, so what depends on them may seal, or close the filter.
 */
public final class SealFilter implements AutoCloseable {
    /** The member of a line that the command returns with its answer. */
    private static final String NUMBER = "pushcrypt-client";
    private static final List<String> OWN_MEMBERS = List.of("to_user", NUMBER, "payload");
    /** Digits that a long always holds; characters of standard error that are kept. */
    private static final int LONGEST_NUMBER = 18, KEPT_ERRORS = 2000, BUFFER = 1 << 16;
    /** No room for a process, memory or files: it may start later. Any other failure to start is reported at once. */
    private static final Pattern SHORTAGE = Pattern.compile(".*error=(11|12|23|24)\\b.*", Pattern.DOTALL);
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
    private final Executor executor;
    private final Duration answerTimeout;
    /** Whether this thread completes an answer of this filter. */
    private final ThreadLocal<Boolean> isCompleting = new ThreadLocal<>();
    /** The room in the window: each answer makes some, for one thread that waits. */
    private final Semaphore room;
    private final Map<Long, Entry> pending = new LinkedHashMap<>();
    private Process child;
    private BlockingQueue<byte[]> lines;
    private long next, progressAt;
    private int ends, entering, completing;
    private boolean isClosing, isPausing, isOver;
    private FilterException failure;

    private SealFilter(Builder builder) {
        command = new ArrayList<>(builder.command);
        command.addAll(List.of("seal", "--batch"));
        command.addAll(builder.options);
        room = new Semaphore(builder.window);
        executor = builder.executor;
        answerTimeout = builder.answerTimeout;
    }

    /**
     * Creates a filter for the {@code pushcrypt} in the path. The command starts with the first message.
     *
     * @param options the options after {@code seal --batch}, such as {@code "--store", path, "--emit", "request"}
     */
    public SealFilter(String... options) {
        this(builder().options(options));
    }

    /**
     * Starts a filter for the {@code pushcrypt} in the path.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the id of the child process.
     *
     * @return the id, or -1 if none runs
     */
    public synchronized long pid() {
        return child == null ? -1 : child.pid();
    }

    /**
     * Gives a message to the command. Blocks while the window is full.
     *
     * @param payload JSON, whose numbers and strings are kept as they are written
     * @param members the other members of the line: {@code to}, {@code id}, {@code topic}, {@code ttl} and so on, and any to be passed through
     * @return the answer; or, as the cause of an exception, a {@link PushcryptException} with the code of the line, or a {@link FilterException} if the command
     *     does not answer
     * @throws PushcryptException {@code malformed-payload}, {@code invalid-request} or {@code line-too-long}: the command was not asked
     * @throws IllegalStateException if the filter is closed
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public CompletableFuture<Answer> seal(String payload, Map<String, ?> members) throws InterruptedException {
        for (String name : OWN_MEMBERS) {
            if (members.containsKey(name)) throw new IllegalArgumentException("a message cannot have " + name + " here: each has one answer");
        }
        Payload.parse(payload, Code.MALFORMED_PAYLOAD);
        String rest = Json.write(members, Code.INVALID_REQUEST, "a member beside the payload");
        String before = rest.substring(0, rest.length() - 1) + (members.isEmpty() ? "" : ",") + "\"payload\":" + Payload.minify(payload) + ",\"" + NUMBER + "\":";
        byte[] start = before.getBytes(StandardCharsets.UTF_8);
        if (start.length + LONGEST_NUMBER + 2 > Format.FILTER_LONGEST_LINE) throw new PushcryptException(Code.LINE_TOO_LONG);
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        synchronized (this) {
            if (isClosing) throw new IllegalStateException("the filter is closed");
            entering += 1;
        }
        boolean isEntering = true;
        try {
            room.acquire();
        } catch (InterruptedException interrupted) {
            isEntering = false;
            throw interrupted;
        } finally {
            enter(isEntering, start, answer);
        }
        return answer;
    }

    /** Gives a line to the command, of a thread that has room for it. One that was interrupted only leaves. */
    private synchronized void enter(boolean hasRoom, byte[] start, CompletableFuture<Answer> answer) {
        entering -= 1;
        notifyAll();
        if (!hasRoom) return;
        if (isOver) {
            room.release();
            answer.completeExceptionally(failure);
            return;
        }
        if (pending.isEmpty()) progressAt = System.nanoTime();
        byte[] line = Bytes.concat(start, Bytes.ascii(next + "}\n"));
        pending.put(next++, new Entry(line, answer));
        if (child != null) lines.add(line);
        else if (!isPausing) start();
    }

    /**
     * Waits for the answers under way, and ends the command. If the thread is interrupted, the command is killed.
     *
     * <p>It also waits for what depends on the answers, unless that closes the filter.
     */
    @Override
    public void close() {
        close(null);
    }

    /**
     * Waits for the answers under way, and ends the command. If the thread is interrupted or the time is over, the command is killed, and what has no answer gets a
     * {@link FilterException}.
     *
     * @param timeout how long to wait; {@code null} for ever
     */
    public void close(Duration timeout) {
        // Beyond 292 years nanoseconds have no number.
        long end = System.nanoTime() + (timeout == null || timeout.getSeconds() > Integer.MAX_VALUE ? Long.MAX_VALUE / 2 : timeout.toNanos());
        String reason = "it did not answer before the filter was closed";
        boolean isInterrupted = false;
        try {
            Process ending = lastChild(end);
            if (ending == null || ending.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS)) return;
        } catch (InterruptedException interrupted) {
            reason = "the thread that closed the filter was interrupted";
            isInterrupted = true;
        }
        synchronized (this) {
            isClosing = true;
            fail(reason, true);
            if (child != null) child.destroyForcibly();
        }
        if (isInterrupted) Thread.currentThread().interrupt();
    }

    /** Waits for all answers until a time, and ends the input of the command. Returns what has to end then, or null. */
    private synchronized Process lastChild(long end) throws InterruptedException {
        isClosing = true;
        while (pending.size() + entering > 0 && !isOver || completing > 0 && isCompleting.get() == null) {
            long left = end - System.nanoTime();
            if (left <= 0) return child;
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        if (child != null) lines.add(END);
        return child;
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
            String reason = String.valueOf(error.getMessage());
            isPausing = true;
            if (!SHORTAGE.matcher(reason).matches()) ends = Format.FILTER_MOST_ENDS;
            daemon("pushcrypt-answers", () -> ended(-1, reason, ""));
            return;
        }
        BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
        pending.values().forEach(entry -> queue.add(entry.line));
        child = started;
        lines = queue;
        progressAt = System.nanoTime();
        StringBuffer errors = new StringBuffer();
        Thread listener = daemon("pushcrypt-errors", () -> listen(started, errors));
        daemon("pushcrypt-watch", () -> watch(started, errors));
        // Writing may block until answers are read, so it has a separate thread.
        daemon("pushcrypt-lines", () -> write(started, queue));
        daemon("pushcrypt-answers", () -> {
            String reason = read(started);
            queue.add(END);
            // A process that it started may hold its standard error open.
            listener.join(Format.FILTER_LAST_WORDS);
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
        try (OutputStream input = new BufferedOutputStream(started.getOutputStream(), BUFFER)) {
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

    /** Kills a child that has messages and answers none for the timeout: one that stopped, or hangs. */
    private synchronized void watch(Process started, StringBuffer errors) throws InterruptedException {
        while (child == started) {
            long timeout = answerTimeout.toNanos(), left = pending.isEmpty() ? timeout : timeout - (System.nanoTime() - progressAt);
            if (left <= 0) {
                errors.append("it did not answer for ").append(answerTimeout.toMillis()).append(" ms");
                started.destroyForcibly();
                return;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** Reads answers until the process ends. Returns why nothing more can be read from such a process, or null. */
    private String read(Process started) {
        try (InputStream output = started.getInputStream()) {
            byte[] some = new byte[BUFFER];
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            // A line without an end is not an answer: the process was killed while it wrote it.
            for (int count = output.read(some); count >= 0; count = output.read(some)) {
                read(some, count, line);
                if (line.size() > Format.FILTER_LONGEST_ANSWER) throw new PushcryptException(Code.MALFORMED_LINE);
            }
            return null;
        } catch (IOException ended) {
            return null;
        } catch (PushcryptException malformed) {
            started.destroyForcibly();
            return "its output is not that of pushcrypt";
        } catch (RuntimeException | Error unexpected) {
            started.destroyForcibly();
            return "its output cannot be read: " + unexpected;
        }
    }

    /** Takes the answers that end in some bytes, and then makes room for as many messages: a thread that waits for it wakes once. */
    private void read(byte[] some, int count, ByteArrayOutputStream line) {
        int start = 0, answered = 0;
        try {
            for (int at = 0; at < count; at++) {
                if (some[at] != '\n') continue;
                line.write(some, start, at - start);
                answer(line.toByteArray());
                answered += 1;
                line.reset();
                start = at + 1;
            }
        } finally {
            room.release(answered);
        }
        line.write(some, start, count - start);
    }

    private void answer(byte[] line) {
        Members members = Payload.parse(line, Code.MALFORMED_LINE);
        if (!(members.get(NUMBER) instanceof Payload.Number number) || !number.isInteger() || number.text().length() > LONGEST_NUMBER) {
            throw new PushcryptException(Code.MALFORMED_LINE);
        }
        boolean isRefused = !members.containsKey("payload") && members.get("error") instanceof Map<?, ?> error && error.get("code") instanceof String
            && error.get("message") instanceof String;
        if (!isRefused && !(members.get("payload") instanceof Members)) throw new PushcryptException(Code.MALFORMED_LINE);
        Entry entry;
        synchronized (this) {
            entry = pending.remove(Long.valueOf(number.text()));
            if (entry == null) throw new PushcryptException(Code.MALFORMED_LINE);
            ends = 0;
            progressAt = System.nanoTime();
            completing += 1;
            if (isClosing) notifyAll();
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
                completed();
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

    private synchronized void completed() {
        completing -= 1;
        if (isClosing) notifyAll();
    }

    /** Completes an answer. Its message gets an end even if there is no memory for its values. */
    private void complete(Entry entry, Members members) {
        try {
            completeWith(entry, members);
        } catch (RuntimeException | Error unexpected) {
            entry.answer.completeExceptionally(unanswered("its output cannot be read: " + unexpected, true));
        }
    }

    private static void completeWith(Entry entry, Members members) {
        if (members.get("error") instanceof Map<?, ?> error && !members.containsKey("payload")) {
            String text = String.valueOf(error.get("code"));
            Code code = Code.of(text);
            String message = (code == Code.UNKNOWN ? text + ": " : "") + error.get("message");
            entry.answer.completeExceptionally(new PushcryptException(code, message));
            return;
        }
        Map<String, Object> others = new LinkedHashMap<>();
        members.forEach((name, value) -> {
            if (!name.equals("payload") && !name.equals(NUMBER)) others.put(name, Json.plain(value));
        });
        entry.answer.complete(new Answer(members.written("payload"), others));
    }

    private void ended(int code, String reason, String errors) throws InterruptedException {
        long pause = restart(code, reason, errors);
        if (pause < 0) return;
        Thread.sleep(pause);
        synchronized (this) {
            isPausing = false;
            if (!pending.isEmpty()) start();
        }
    }

    /** Returns after how many milliseconds the next command may start, or -1 for never. */
    private synchronized long restart(int code, String reason, String errors) {
        child = null;
        isPausing = true;
        if (!pending.isEmpty()) ends = Math.min(ends + 1, Format.FILTER_MOST_ENDS);
        boolean isLast = code == Format.FILTER_MISUSE, isFailure = isLast || ends >= Format.FILTER_MOST_ENDS;
        if (isFailure) fail(reason != null ? reason : "it ended with " + code + ": " + errors, isLast);
        notifyAll();
        return isOver ? -1 : isFailure ? Format.FILTER_LONGEST_PAUSE : (long) Format.FILTER_FIRST_PAUSE << ends;
    }

    private FilterException unanswered(String reason, boolean isRetryable) {
        return new FilterException(command.get(0) + " seal --batch does not answer: " + reason, isRetryable);
    }

    /** Gives all that waits an error. The caller holds the lock. */
    private void fail(String reason, boolean isLast) {
        FilterException reported = unanswered(reason, !isLast);
        failure = reported;
        isOver |= isLast;
        List<Entry> all = List.copyOf(pending.values());
        pending.clear();
        room.release(all.size());
        notifyAll();
        completing += 1;
        execute(() -> all.forEach(entry -> entry.answer.completeExceptionally(reported)));
    }

    /** Builds a filter. */
    public static final class Builder {
        private List<String> command = List.of("pushcrypt"), options = List.of();
        private int window = Format.FILTER_WINDOW;
        private Executor executor = ForkJoinPool.commonPool();
        private Duration answerTimeout = Duration.ofMillis(Format.FILTER_ANSWER_TIMEOUT);

        private Builder() {}

        /**
         * Names the program.
         *
         * @param command the program, in the path or as a path, and its options before {@code seal}
         * @return this
         */
        public Builder command(String... command) {
            if (command.length == 0) throw new IllegalArgumentException("there is no program");
            this.command = List.of(command);
            return this;
        }

        /**
         * Sets the options after {@code seal --batch}.
         *
         * @param options such as {@code "--store", path, "--emit", "request"}
         * @return this
         */
        public Builder options(String... options) {
            this.options = List.of(options);
            return this;
        }

        /**
         * Sets the most messages without an answer. {@link SealFilter#seal} blocks for more.
         *
         * @param window 1 or more; 1,000 by default
         * @return this
         */
        public Builder window(int window) {
            if (window < 1) throw new IllegalArgumentException("a window is 1 or more");
            this.window = window;
            return this;
        }

        /**
         * Sets what completes the answers; by default {@link ForkJoinPool#commonPool}.
         *
         * @param executor {@code Runnable::run} completes them in the thread that reads them, which then must not seal or close, and holds the command up while
         *     what depends on an answer is slow
         * @return this
         */
        public Builder executor(Executor executor) {
            this.executor = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /**
         * Sets after which time without any answer the command is killed and started again.
         *
         * @param timeout a millisecond or more; 30 seconds by default
         * @return this
         */
        public Builder answerTimeout(Duration timeout) {
            if (timeout.toMillis() < 1) throw new IllegalArgumentException("a timeout is a millisecond or more");
            answerTimeout = timeout;
            return this;
        }

        /**
         * Builds the filter. The command starts with the first message.
         *
         * @return the filter
         */
        public SealFilter build() {
            return new SealFilter(this);
        }
    }
}

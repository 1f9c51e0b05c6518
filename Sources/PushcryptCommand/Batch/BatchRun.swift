internal import Pushcrypt
internal import PushcryptCommandKit

/// The options of every batch.
struct BatchArguments: Sendable {
    /// The number of threads; nil for the default.
    let jobs: Int?
    let metrics: String?
    /// The names of the options that were given.
    let given: [String]

    /// - Parameter hasJobs: Whether the number of threads can be chosen.
    init(_ arguments: inout Arguments, hasJobs: Bool = true) {
        ((jobs, metrics), given) = arguments.given { arguments in
            (
                hasJobs
                    ? arguments.count(
                        "--jobs", "N", 1...256,
                        help: "threads; default one per processor, or one to open with a store")
                    : nil,
                arguments.value(
                    "--metrics", "FILE", .file,
                    help: "replace this file every few seconds with counts for Prometheus")
            )
        }
    }
}

/// A batch from its input to its exit code, as the command line says.
struct BatchRun {
    private let verb: BatchVerb
    private let options: BatchArguments
    private let destination: OutputArguments?
    private let log: LogFormat?
    private let console: Console
    private let jobs: Int
    private let hasClearContent: Bool
    /// Ends the reading.
    let stop: StopSignal
    private let start = SystemEnvironment.nanoseconds()

    /// - Parameters:
    ///   - jobs: The default number of threads.
    ///   - hasClearContent: Whether only the owner may read the output.
    ///   - log: The form of the log, which ends with a summary. Without one, a terminal shows progress and a summary.
    init(
        _ verb: BatchVerb, jobs: Int, hasClearContent: Bool, log: LogFormat? = nil, _ options: BatchArguments,
        to output: OutputArguments? = nil, _ console: Console
    ) throws(CommandFailure) {
        self.verb = verb
        self.options = options
        destination = output
        self.log = log
        self.console = console
        self.jobs = options.jobs ?? jobs
        self.hasClearContent = hasClearContent
        do throws(SystemError) {
            stop = try StopSignal()
        } catch {
            throw .failed("cannot create a pipe: \(error.text)")
        }
    }

    /// Answers the lines of a file, or of standard input for `-`.
    func run<Worker: LineWorker>(
        file path: String, maximumLine: Int = BatchLine.maximumLength,
        readLength: Int = LineReader<DescriptorInput>.standardReadLength,
        worker: @escaping @Sendable () throws(CommandFailure) -> Worker
    ) throws(CommandFailure) -> ExitCode {
        let file = try InputFile(path, console)
        if readLength > InputFile.pieceLength { file.descriptor.enlargePipe(to: Int32(readLength)) }
        let source = LineReader(file.lines(until: stop), maximumLine: maximumLine, readLength: readLength)
        return try run(source, size: file.size, isStream: file.size == nil, worker: worker)
    }

    /// Answers lines. A signal may end a stream without leaving anything unanswered.
    func run<Source: LineSource & Sendable, Worker: LineWorker>(
        _ source: Source, size: Int? = nil, isStream: Bool = false,
        worker: @escaping @Sendable () throws(CommandFailure) -> Worker
    ) throws(CommandFailure) -> ExitCode {
        let output = try BatchOutput(isSecret: hasClearContent, destination, console)
        let metrics = options.metrics
        // An unwritable file is noticed before anything is sealed or opened.
        if let metrics { try self.metrics(BatchTally()).write(to: metrics) }
        ProcessMemory.returnLargePieces()
        do throws(SystemError) {
            try stop.raiseOnSignals(waitingOn: SystemThread.start)
        } catch {
            throw .failed("cannot start a thread: \(error.text)")
        }
        let end = work(source, size: size, output.sink, worker)
        report(end.tally)
        if let failure = end.failure { throw failure }
        guard end.isComplete || isStream && !output.isFile else {
            throw console.failure(stoppedBy: stop, after: end.tally.lines)
        }
        if !end.isComplete {
            console.hint("stopped by a signal after \(end.tally.lines) lines: all that was read is answered")
        }
        try output.finish()
        return !end.isComplete && console.isInterrupted(by: stop)
            ? .interrupted : ExitCode(refusedLines: end.tally.refused.keys)
    }

    private func work<Source: LineSource & Sendable, Worker: LineWorker>(
        _ source: Source, size: Int?, _ sink: BatchSink,
        _ worker: @escaping @Sendable () throws(CommandFailure) -> Worker
    ) -> BatchEngine.End {
        let engine = BatchEngine(limits: BatchEngine.Limits(jobs: jobs))
        var progress = BatchProgress(size: size, console, isShown: log == nil)
        var written = MetricsClock()
        return engine.run(source, stop: stop, worker: worker, write: sink.write) { tally in
            progress.show(tally)
            if let path = options.metrics, written.isDue(tally) { writeMetrics(tally, to: path) }
        }
    }

    private func report(_ tally: BatchTally) {
        if let path = options.metrics { writeMetrics(tally, to: path) }
        guard log != nil || console.messages.isTerminal else { return }
        console.log(
            "summary",
            BatchSummary(verb: verb, tally: tally, nanoseconds: SystemEnvironment.nanoseconds() - start).fields)
    }

    private func metrics(_ tally: BatchTally) -> BatchMetrics {
        BatchMetrics(verb: verb, tally: tally, nanoseconds: SystemEnvironment.nanoseconds() - start)
    }

    /// Writes the metrics; a failure is only a warning.
    private func writeMetrics(_ tally: BatchTally, to path: String) {
        do throws(CommandFailure) {
            try metrics(tally).write(to: path)
        } catch {
            console.warning(error.message)
        }
    }
}

/// Decides when the metrics are written again: after the interval, if the counts have changed.
private struct MetricsClock {
    private var last = SystemEnvironment.uptime()
    private var tally = BatchTally()

    mutating func isDue(_ tally: BatchTally) -> Bool {
        let now = SystemEnvironment.uptime()
        guard now >= last + BatchMetrics.interval, tally != self.tally else { return false }
        last = now
        self.tally = tally
        return true
    }
}

// MARK: Output

/// The output of a batch: standard output, or a file that appears when the batch is done.
struct BatchOutput: ~Copyable {
    /// Writes the answers; used by one thread at a time.
    let sink: BatchSink
    private let file: OutputFile?

    /// Opens the output; a secret file is readable by its owner only.
    init(isSecret: Bool, _ destination: OutputArguments?, _ console: Console) throws(CommandFailure) {
        guard let destination, let path = destination.file else {
            sink = BatchSink(output: console.output, name: "standard output", isFile: false, console: console)
            file = nil
            return
        }
        let file = try OutputFile(path, mode: isSecret ? 0o600 : 0o666, force: destination.force)
        sink = BatchSink(output: file.descriptor, name: quoted(path), isFile: true, console: console)
        self.file = consume file
    }

    /// Whether the answers go to a file.
    var isFile: Bool { sink.isFile }

    /// Gives the file its name; without this call no file remains.
    consuming func finish() throws(CommandFailure) { try file?.commit() }
}

/// The descriptors that answers are written to.
struct BatchSink: Sendable {
    let output: Descriptor
    let name: String
    let isFile: Bool
    let console: Console

    /// Writes an answer's output, then its log.
    func write(_ answer: BatchAnswer) throws(CommandFailure) {
        do throws(SystemError) {
            try output.writeAll(shown(answer.output).span)
        } catch {
            throw error == .readerIsGone ? .readerIsGone : .failed("cannot write \(name): \(error.text)")
        }
        // There is nowhere to report a failure.
        try? console.messages.writeAll(answer.log.span)
    }

    /// Escapes control characters for a terminal.
    private func shown(_ lines: ContiguousArray<UInt8>) -> ContiguousArray<UInt8> {
        guard output.isTerminal else { return lines }
        let safe = lines.split(separator: newline).map {
            sanitized(forTerminal: String(decoding: $0, as: UTF8.self)) + "\n"
        }
        return ContiguousArray(safe.joined().utf8)
    }
}

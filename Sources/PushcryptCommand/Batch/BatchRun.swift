internal import PushcryptCommandKit

/// The options of every batch.
struct BatchArguments: Sendable {
    /// The number of threads; nil for the default.
    let jobs: Int?
    let showsProgress: Bool
    let writesSummary: Bool
    let metrics: String?
    /// The names of the options that were given.
    let given: [String]

    init(_ arguments: inout Arguments) {
        ((jobs, showsProgress, writesSummary, metrics), given) = arguments.given { arguments in
            (
                arguments.count(
                    "--jobs", "N", 1...256,
                    help:
                        "threads; default one per processor, or one to open with a store"),
                arguments.flag(
                    "--progress", help: "show progress, speed and time left on a terminal"),
                arguments.flag("--summary", help: "end with a line of counts and speed on standard error"),
                arguments.value(
                    "--metrics", "FILE", .file,
                    help: "replace this file every few seconds with counts for Prometheus")
            )
        }
    }
}

/// A batch as the command line wants it, from its input to its exit code.
struct BatchRun {
    private let verb: String
    private let options: BatchArguments
    private let destination: OutputArguments
    private let isJSON: Bool
    private let console: Console
    private let jobs: Int
    private let hasClearContent: Bool
    /// What ends the reading.
    let stop: StopSignal
    private let start = SystemEnvironment.nanoseconds()

    /// - Parameters:
    ///   - verb: the fate of messages, `sealed` or `opened`.
    ///   - jobs: the default number of threads.
    ///   - hasClearContent: whether the output is for its owner only.
    ///   - isJSON: whether the summary is JSON.
    init(
        _ verb: String, jobs: Int, hasClearContent: Bool, isJSON: Bool, _ options: BatchArguments,
        to output: OutputArguments, _ console: Console
    ) throws(CommandFailure) {
        self.verb = verb
        self.options = options
        destination = output
        self.isJSON = isJSON
        self.console = console
        self.jobs = options.jobs ?? jobs
        self.hasClearContent = hasClearContent
        do throws(SystemError) {
            stop = try StopSignal()
        } catch {
            throw .failed("cannot make a pipe: \(error.text)")
        }
    }

    /// Runs the lines of a file, or of standard input for `-`, through workers.
    func run<Worker: LineWorker>(
        file path: String, worker: @escaping @Sendable () throws(CommandFailure) -> Worker
    ) throws(CommandFailure) -> ExitCode {
        let file = try InputFile(path, console)
        let source = LineReader(file.lines(until: stop), maximumLine: BatchLine.maximumLength)
        return try run(source, size: file.size, isStream: file.size == nil, worker: worker)
    }

    /// Runs lines through workers. A stream may be ended by a signal without anything being left over.
    func run<Source: LineSource & Sendable, Worker: LineWorker>(
        _ source: Source, size: Int? = nil, isStream: Bool = false,
        worker: @escaping @Sendable () throws(CommandFailure) -> Worker
    ) throws(CommandFailure) -> ExitCode {
        let output = try BatchOutput(isSecret: hasClearContent, destination, console)
        let metrics = options.metrics
        // What cannot be written is found out before anything is done.
        if let metrics { try self.metrics(BatchTally()).write(to: metrics) }
        ProcessMemory.returnLargePieces()
        do throws(SystemError) {
            try stop.raiseOnSignals(waitingOn: Thread.start)
        } catch {
            throw .failed("cannot start a thread: \(error.text)")
        }
        let end = work(source, size: size, output.sink, worker)
        report(end.tally)
        if let failure = end.failure { throw failure }
        guard end.isComplete || isStream && !output.isFile else {
            throw .failed("stopped by a signal after \(end.tally.lines) lines: the rest of the input was not read")
        }
        if !end.isComplete {
            console.hint("stopped by a signal after \(end.tally.lines) lines: all that was read is answered")
        }
        try output.finish()
        return end.tally.refused.isEmpty ? .done : .failed
    }

    private func work<Source: LineSource & Sendable, Worker: LineWorker>(
        _ source: Source, size: Int?, _ sink: BatchSink,
        _ worker: @escaping @Sendable () throws(CommandFailure) -> Worker
    ) -> BatchEngine.End {
        let engine = BatchEngine(limits: BatchEngine.Limits(jobs: jobs))
        var progress = BatchProgress(size: size, console, isShown: options.showsProgress)
        var written = MetricsClock()
        return engine.run(source, stop: stop, worker: worker, write: sink.write) { tally in
            progress.show(tally)
            if let path = options.metrics, written.isDue(tally) { writeMetrics(tally, to: path) }
        }
    }

    private func report(_ tally: BatchTally) {
        if let path = options.metrics { writeMetrics(tally, to: path) }
        guard options.writesSummary else { return }
        var console = console
        if isJSON { console.messageFormat = LogFormat.json.messages }
        console.log(
            "summary",
            BatchSummary(verb: verb, tally: tally, nanoseconds: SystemEnvironment.nanoseconds() - start).fields)
    }

    private func metrics(_ tally: BatchTally) -> BatchMetrics {
        BatchMetrics(verb: verb, tally: tally, nanoseconds: SystemEnvironment.nanoseconds() - start)
    }

    /// A collector that misses a moment is no reason to end the batch.
    private func writeMetrics(_ tally: BatchTally, to path: String) {
        do throws(CommandFailure) {
            try metrics(tally).write(to: path)
        } catch {
            console.warning(error.message)
        }
    }
}

/// When the metrics are written again: after a while, if there is anything new.
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

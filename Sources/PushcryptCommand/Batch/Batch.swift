internal import Pushcrypt
package import PushcryptCommandKit

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
            let help = "threads; default one per processor, or one to open with a store"
            return (
                hasJobs ? arguments.count("--jobs", "N", 1...256, help: help) : nil,
                arguments.value(
                    "--metrics", "FILE", .file,
                    help: "replace this file every few seconds with counts for Prometheus")
            )
        }
    }

    /// Refuses them without `--batch`.
    func refuse(beside things: String) throws {
        guard let name = given.first else { return }
        throw Failure.usage("\(name) goes with many \(things)", hint: "leave it out, or add --batch")
    }
}

/// A batch from its input to its end, as the command line says.
struct Batch {
    /// The time between writes of the metrics, in milliseconds.
    private static let metricsInterval: UInt64 = 5000

    let verb: BatchVerb
    /// The default number of threads.
    var jobs = Processors.count
    /// Whether only the owner may read the output.
    var hasClearContent = false
    /// The form of the log, which ends with a summary. Without one, a terminal shows progress and a summary.
    var log: LogFormat?
    let options: BatchArguments
    /// Nil for standard output.
    var output: OutputArguments?
    let console: Console
    private let start = SystemEnvironment.nanoseconds()

    /// Answers the lines of a file, or of standard input for `-`.
    func run<Worker: LineWorker>(
        file path: String, maximumLine: Int = Line.maximumLength, readLength: Int = 16_384,
        worker: @escaping @Sendable () throws -> Worker
    ) throws {
        let file = try InputFile(path, console)
        if readLength > InputFile.pieceLength { file.descriptor.enlargePipe(to: Int32(readLength)) }
        try run(size: file.size, isStream: file.size == nil, worker: worker) { stop in
            LineReader(file.lines(until: stop), maximumLine: maximumLine, readLength: readLength)
        }
    }

    /// Answers lines. A signal may end a stream without leaving anything unanswered.
    ///
    /// - Parameter source: Makes the source of the lines; the signal ends reading.
    func run<Source: LineSource & Sendable, Worker: LineWorker>(
        size: Int? = nil, isStream: Bool = false, worker: @escaping @Sendable () throws -> Worker,
        source: (StopSignal) -> Source
    ) throws {
        let output = try BatchOutput(isSecret: hasClearContent, output, console)
        try checkMetrics()
        ProcessMemory.returnLargePieces()
        let stop = try StopSignal.ofSignals()
        let pipeline = Pipeline(
            source(stop), PipelineLimits(jobs: options.jobs ?? jobs), stop: stop, worker: worker,
            write: output.sink.write)
        var progress = BatchProgress(size: size, console, isShown: log == nil)
        var written = (at: SystemEnvironment.uptime(), tally: BatchTally())
        let end = pipeline.run { tally in
            progress.show(tally)
            let now = SystemEnvironment.uptime()
            guard now >= written.at + Self.metricsInterval, tally != written.tally else { return }
            written = (now, tally)
            tryToWriteMetrics(tally)
        }
        tryToWriteMetrics(end.tally)
        if log != nil || console.messages.isTerminal { console.log("summary", report(end.tally).summary) }
        if let failure = end.failure { throw failure }
        guard end.isComplete || isStream && !output.sink.isFile else {
            throw console.failure(stoppedBy: stop, after: end.tally.lines)
        }
        if !end.isComplete {
            console.hint("stopped by a signal after \(end.tally.lines) lines: all that was read is answered")
        }
        try output.finish()
        if !end.isComplete, console.isInterrupted(by: stop) { throw ExitCode.interrupted }
        try ExitCode(refusedLines: end.tally.refused.keys).end()
    }

    private func report(_ tally: BatchTally) -> BatchReport {
        BatchReport(verb: verb, tally: tally, nanoseconds: SystemEnvironment.nanoseconds() - start)
    }

    /// Notices an unwritable file before anything is sealed or opened.
    func checkMetrics() throws { try writeMetrics(BatchTally()) }

    /// A failure is only a warning.
    func tryToWriteMetrics(_ tally: BatchTally) {
        do { try writeMetrics(tally) } catch { console.warning(Failure(error).message) }
    }

    private func writeMetrics(_ tally: BatchTally) throws {
        if let path = options.metrics { try report(tally).writeMetrics(to: path) }
    }
}

extension StopSignal {
    /// Creates one that SIGINT and SIGTERM raise.
    package static func ofSignals() throws -> StopSignal {
        do {
            let stop = try StopSignal()
            try stop.raiseOnSignals(waitingOn: SystemThread.start)
            return stop
        } catch {
            throw Failure.failed("cannot wait for signals: \(error.text)")
        }
    }
}

/// The output of a batch: standard output, or a file that appears when the batch is done.
struct BatchOutput: ~Copyable {
    /// Writes the answers; used by one thread at a time.
    let sink: BatchSink
    private let file: OutputFile?

    /// Opens the output; a secret file is readable by its owner only.
    init(isSecret: Bool, _ destination: OutputArguments?, _ console: Console) throws {
        guard let destination, let path = destination.file else {
            sink = BatchSink(output: console.output, name: "standard output", isFile: false, console: console)
            file = nil
            return
        }
        let file = try OutputFile(path, mode: isSecret ? 0o600 : 0o666, force: destination.force)
        sink = BatchSink(output: file.descriptor, name: quoted(path), isFile: true, console: console)
        self.file = consume file
    }

    /// Gives the file its name; without this call no file remains.
    consuming func finish() throws { try file?.commit() }
}

/// The descriptors that answers are written to.
struct BatchSink: Sendable {
    let output: Descriptor
    let name: String
    let isFile: Bool
    let console: Console

    /// Writes an answer's output, then its log.
    func write(_ answer: Finished) throws {
        try write(answer.output)
        // There is nowhere to report a failure.
        try? console.messages.writeAll(answer.log.span)
    }

    /// Writes whole lines.
    func write(_ lines: ContiguousArray<UInt8>) throws {
        do {
            try output.writeAll(shown(lines).span)
        } catch {
            throw error == .readerIsGone ? Failure.readerIsGone : .failed("cannot write \(name): \(error.text)")
        }
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

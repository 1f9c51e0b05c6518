internal import Pushcrypt
internal import PushcryptCommandKit

/// Answers the lines of an input on several threads, and writes the answers in the order of the input.
///
/// One thread at a time reads a chunk. The thread that finishes the next answer in order writes it, and all that follow it
/// and are finished. A very long answer is written in parts. Reading pauses while too much is unwritten, and a write error
/// ends the batch.
struct BatchEngine: Sendable {
    /// The most that may be read and not written, so that memory does not grow with the input.
    struct Limits: Sendable {
        var jobs: Int
        var chunksPerJob = 4
        var bytes = 8 << 20
        /// A longer chunk holds one long line. Bytes beyond this length count `weightOfRest` times, for the memory that
        /// parsing takes, so that few such lines are answered at once on any number of threads.
        var usualChunk = 64 << 10
        var weightOfRest = 12

        /// The bytes that a chunk counts for while it is answered.
        func weight(of chunk: LineChunk) -> Int {
            chunk.bytes.count + max(0, chunk.bytes.count - usualChunk) * weightOfRest
        }
    }

    let limits: Limits

    /// The time between calls of `tick`, in milliseconds.
    static let tickInterval: UInt64 = 200

    /// The end of a batch.
    struct End {
        /// The counts of everything written.
        let tally: BatchTally
        /// Whether all of the input was read; false if `stop` was raised first.
        let isComplete: Bool
        let failure: CommandFailure?
    }

    /// Answers the input to its end, or until `stop` is raised: lines already read are still answered.
    ///
    /// - Parameters:
    ///   - source: The lines; read by one thread at a time until `stop` is raised.
    ///   - worker: Creates the worker of a thread, on that thread.
    ///   - write: Writes an answer; called by one thread at a time, in order.
    ///   - tick: Called on this thread from time to time with the counts so far.
    /// - Returns: The end, with the first failure to read, write or create a worker. All threads have ended.
    func run<Source: LineSource & Sendable, Worker: LineWorker>(
        _ source: Source, stop: StopSignal, worker: @escaping @Sendable () throws(CommandFailure) -> Worker,
        write: @escaping @Sendable (BatchAnswer) throws(CommandFailure) -> Void, tick: (BatchTally) -> Void
    ) -> End {
        let work = BatchWork(source, limits, stop)
        for job in 0..<limits.jobs {
            let code = SystemThread.start { work.run(worker, write) }
            guard code == 0 else {
                for _ in job..<limits.jobs { work.leave() }
                work.fail(.failed("cannot start a thread: \(SystemError(code: code).text)"))
                break
            }
        }
        while !work.hasEnded(withinMilliseconds: Self.tickInterval) { tick(work.tally) }
        return work.end
    }
}

// MARK: Threads

/// The state that the threads of one batch share.
private final class BatchWork<Source: LineSource & Sendable>: Sendable {
    private struct Order {
        /// The number of chunks read, and written.
        var read = 0
        var written = 0
        /// The weight of the chunks being answered, and the bytes of the answers waiting to be written.
        var bytes = 0
        var waiting: [Int: BatchAnswer] = [:]
        var isWriting = false
        var tally = BatchTally()
        var failure: CommandFailure?
        /// Whether writing has failed.
        var isBroken = false
    }

    private let source: Monitor<Source>
    private let order: Monitor<Order>
    /// The number of threads that have not ended; apart, because waiting for them would otherwise wake at every chunk.
    private let threads: Monitor<Int>
    private let limits: BatchEngine.Limits
    private let stop: StopSignal

    init(_ source: Source, _ limits: BatchEngine.Limits, _ stop: StopSignal) {
        self.source = Monitor(source)
        order = Monitor(Order())
        threads = Monitor(limits.jobs)
        self.limits = limits
        self.stop = stop
    }

    var tally: BatchTally { order.change(\.tally) }

    var end: BatchEngine.End {
        let isComplete = source.change(\.isAtEnd)
        return order.change { BatchEngine.End(tally: $0.tally, isComplete: isComplete, failure: $0.failure) }
    }

    /// Waits until every thread has ended; returns false if the time passes first.
    func hasEnded(withinMilliseconds time: UInt64) -> Bool {
        threads.wait(atMostMilliseconds: time) { $0 == 0 ? true : nil } ?? false
    }

    /// Counts down a thread that ends.
    func leave() { threads.change { $0 -= 1 } }

    /// Stops reading; the first failure is kept. Chunks already read are still answered, unless writing has failed.
    func fail(_ failure: CommandFailure, isBroken: Bool = false) {
        order.change { order in
            order.failure = order.failure ?? failure
            order.isBroken = order.isBroken || isBroken
        }
        stop.raise()
    }

    /// Runs one thread until the input or the batch ends.
    func run<Worker: LineWorker>(
        _ make: () throws(CommandFailure) -> Worker, _ write: @escaping (BatchAnswer) throws(CommandFailure) -> Void
    ) {
        defer { leave() }
        do throws(CommandFailure) {
            let worker = try make()
            while let chunk = try next() {
                let read = SystemEnvironment.nanoseconds()
                var start = read
                var answer = worker.answer(chunk) { part in
                    let pause = SystemEnvironment.nanoseconds()
                    // Waiting does not count as work.
                    defer { start += SystemEnvironment.nanoseconds() - pause }
                    return self.write(part, of: chunk, readAt: read, write)
                }
                answer.readAt = read
                answer.tally.input = chunk.bytes.count
                answer.tally.nanoseconds = SystemEnvironment.nanoseconds() - start
                order.change { order in
                    order.bytes += answer.size - limits.weight(of: chunk)
                    order.waiting[chunk.number] = answer
                }
                writeDue(write)
            }
        } catch {
            fail(error)
        }
    }

    /// Writes a part of an answer once everything before it is written; returns false if writing has failed.
    private func write(
        _ part: BatchAnswer, of chunk: LineChunk, readAt: UInt64, _ write: (BatchAnswer) throws(CommandFailure) -> Void
    ) -> Bool {
        let isDue = order.wait { order in
            if order.isBroken { return false }
            guard order.written == chunk.number, !order.isWriting else { return nil }
            order.isWriting = true
            return true
        }
        guard isDue else { return false }
        do throws(CommandFailure) {
            try write(part)
        } catch {
            fail(error, isBroken: true)
            return false
        }
        let now = SystemEnvironment.nanoseconds()
        order.change { order in
            order.isWriting = false
            order.tally.add(part.tally)
            order.tally.latency.add(now - readAt, times: part.tally.lines)
        }
        return true
    }

    /// Writes the answers that are due, and those that become due meanwhile.
    private func writeDue(_ write: (BatchAnswer) throws(CommandFailure) -> Void) {
        while let answers = due() {
            do throws(CommandFailure) {
                for answer in answers { try write(answer) }
            } catch {
                return fail(error, isBroken: true)
            }
            settle(answers)
        }
    }

    /// Reads a chunk once there is room for it; returns nil at the end.
    private func next() throws(CommandFailure) -> LineChunk? {
        try source.change { (source) throws(CommandFailure) in
            let maximum = limits.jobs * limits.chunksPerJob
            let mayRead = order.wait { order in
                if order.failure != nil { return false }
                let ahead = order.read - order.written
                return ahead == 0 || ahead < maximum && order.bytes < limits.bytes ? true : nil
            }
            guard mayRead, let chunk = try source.next() else { return nil }
            order.change { order in
                order.read += 1
                order.bytes += limits.weight(of: chunk)
            }
            return chunk
        }
    }

    /// Removes the answers that are due; returns nil if there are none or another thread is writing.
    private func due() -> [BatchAnswer]? {
        order.change { order in
            guard !order.isWriting, !order.isBroken else { return nil }
            var answers: [BatchAnswer] = []
            while let answer = order.waiting.removeValue(forKey: order.written + answers.count) {
                answers.append(answer)
            }
            guard !answers.isEmpty else { return nil }
            order.isWriting = true
            return answers
        }
    }

    private func settle(_ answers: [BatchAnswer]) {
        let now = SystemEnvironment.nanoseconds()
        order.change { order in
            order.isWriting = false
            order.written += answers.count
            for answer in answers {
                order.bytes -= answer.size
                order.tally.add(answer.tally)
                order.tally.latency.add(now - answer.readAt, times: answer.tally.lines)
            }
        }
    }
}

extension BatchAnswer {
    fileprivate var size: Int { output.count + log.count }
}

// MARK: Answers

/// Answers the lines of a batch on one thread.
protocol LineWorker: SendableMetatype {
    /// Waits for its turn, and writes a part of an answer; returns false if writing has failed.
    typealias Part = (BatchAnswer) -> Bool

    /// Answers the lines of a chunk in order.
    ///
    /// Passes a long answer to `write` in parts, and returns the rest.
    func answer(_ chunk: LineChunk, inParts write: @escaping Part) -> BatchAnswer
}

/// The answer to the lines of a chunk.
struct BatchAnswer: Sendable {
    /// Whole lines of output.
    var output: ContiguousArray<UInt8> = []
    /// Whole lines for standard error, written after the output.
    var log: ContiguousArray<UInt8> = []
    var tally = BatchTally()
    /// When its lines were read.
    var readAt: UInt64 = 0

    /// Appends an object as a line of the output.
    mutating func append(_ members: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        // Written behind the lines before it, and not copied there.
        swap(&json.bytes, &output)
        json.object(members)
        swap(&json.bytes, &output)
        output.append(newline)
    }
}

/// The counts of a batch.
struct BatchTally: Sendable, Equatable {
    /// The lines answered, without empty ones.
    var lines = 0
    /// The bytes of these lines.
    var input = 0
    /// The messages sealed or opened.
    var done = 0
    /// The messages written as they are, for devices without a key.
    var unencrypted = 0
    /// The refused messages, by code.
    var refused: [String: Int] = [:]
    /// The bytes of the payloads, by bucket.
    var bytes: [Int: Int] = [:]
    /// The working time of all threads, in nanoseconds.
    var nanoseconds: UInt64 = 0
    /// The time from the reading of a line to its answer.
    var latency = DurationHistogram()

    /// The number of refused messages.
    var refusals: Int { refused.values.reduce(0, +) }

    mutating func add(_ other: BatchTally) {
        lines += other.lines
        input += other.input
        done += other.done
        unencrypted += other.unencrypted
        refused.merge(other.refused, uniquingKeysWith: +)
        bytes.merge(other.bytes, uniquingKeysWith: +)
        nanoseconds += other.nanoseconds
    }
}

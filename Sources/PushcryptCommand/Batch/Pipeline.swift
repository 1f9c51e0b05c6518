internal import Pushcrypt
internal import PushcryptCommandKit

/// Answers the lines of an input on several threads, and writes the answers in the order of the input.
///
/// One thread at a time reads a chunk. The thread that finishes the next answer in order writes it, and all finished ones that
/// follow it. A very long answer is written in parts. Reading pauses while too much is unwritten, and a write error ends the
/// batch.
final class Pipeline<Source: LineSource & Sendable, Worker: LineWorker>: Sendable {
    /// The time between calls of `tick`, in milliseconds.
    private static var tickInterval: UInt64 { 200 }

    private struct Order {
        /// The number of chunks read, and written.
        var read = 0
        var written = 0
        /// The weight of the chunks being answered, and the bytes of the answers waiting to be written.
        var bytes = 0
        var waiting: [Int: Finished] = [:]
        var isWriting = false
        var tally = BatchTally()
        var failure: Failure?
        /// Whether writing has failed.
        var isBroken = false

        /// Removes the answers that are due; returns nil if there are none or another thread is writing.
        mutating func takeDue() -> [Finished]? {
            guard !isWriting, !isBroken else { return nil }
            var answers: [Finished] = []
            while let answer = waiting.removeValue(forKey: written + answers.count) { answers.append(answer) }
            guard !answers.isEmpty else { return nil }
            isWriting = true
            return answers
        }

        /// Counts answers that are written.
        mutating func settle(_ answers: [Finished]) {
            let now = SystemEnvironment.nanoseconds()
            isWriting = false
            for answer in answers {
                tally.add(answer.tally)
                tally.latency.add(now - answer.readAt, times: answer.tally.lines)
            }
        }
    }

    private let source: Monitor<Source>
    private let order = Monitor(Order())
    /// The number of threads that have not ended; kept apart, or waiting for them would wake at every chunk.
    private let threads: Monitor<Int>
    private let limits: PipelineLimits
    private let stop: StopSignal
    private let worker: @Sendable () throws -> Worker
    private let write: @Sendable (Finished) throws -> Void

    /// - Parameters:
    ///   - source: The lines; read by one thread at a time until `stop` is raised.
    ///   - worker: Creates the worker of a thread, on that thread.
    ///   - write: Writes an answer; called by one thread at a time, in order.
    init(
        _ source: Source, _ limits: PipelineLimits, stop: StopSignal, worker: @escaping @Sendable () throws -> Worker,
        write: @escaping @Sendable (Finished) throws -> Void
    ) {
        (self.source, threads) = (Monitor(source), Monitor(limits.jobs))
        (self.limits, self.stop, self.worker, self.write) = (limits, stop, worker, write)
    }

    /// Answers the input to its end, or until `stop` is raised: lines already read are still answered.
    ///
    /// - Parameter tick: Called on this thread from time to time with the counts so far.
    /// - Returns: The end, with the first failure to read, write or create a worker. All threads have ended.
    func run(tick: (BatchTally) -> Void) -> PipelineEnd {
        for job in 0..<limits.jobs {
            let code = SystemThread.start { self.work() }
            guard code == 0 else {
                threads.change { $0 -= limits.jobs - job }
                fail(Failure.failed("cannot start a thread: \(SystemError(code: code).text)"))
                break
            }
        }
        while threads.wait(atMostMilliseconds: Self.tickInterval, { $0 == 0 ? true : nil }) != true {
            tick(order.change(\.tally))
        }
        let isComplete = source.change(\.isAtEnd)
        return order.change { PipelineEnd(tally: $0.tally, isComplete: isComplete, failure: $0.failure) }
    }

    /// Stops reading; the first failure is kept. Chunks already read are still answered, unless writing has failed.
    private func fail(_ error: any Error, isBroken: Bool = false) {
        order.change { order in
            order.failure = order.failure ?? Failure(error)
            order.isBroken = order.isBroken || isBroken
        }
        stop.raise()
    }

    /// Runs one thread until the input or the batch ends.
    private func work() {
        defer { threads.change { $0 -= 1 } }
        do {
            let worker = try worker()
            while let chunk = try next() {
                let read = SystemEnvironment.nanoseconds()
                var pauses: UInt64 = 0
                var answers = Answers { part in
                    let pause = SystemEnvironment.nanoseconds()
                    // Waiting does not count as work.
                    defer { pauses += SystemEnvironment.nanoseconds() - pause }
                    return self.write(Finished(part, readAt: read), partOf: chunk)
                }
                worker.answer(chunk, &answers)
                answers.tally.input = chunk.bytes.count
                answers.tally.nanoseconds = SystemEnvironment.nanoseconds() - read - pauses
                let finished = Finished(answers, readAt: read)
                order.change { order in
                    order.bytes += finished.size - limits.weight(of: chunk)
                    order.waiting[chunk.number] = finished
                }
                writeDue()
            }
        } catch {
            fail(error)
        }
    }

    /// Reads a chunk once there is room for it; returns nil at the end.
    private func next() throws -> LineChunk? {
        try source.change { source in
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

    // MARK: Writing

    /// Writes a part of an answer once everything before it is written; returns false if writing has failed.
    private func write(_ part: Finished, partOf chunk: LineChunk) -> Bool {
        let isDue = order.wait { order in
            if order.isBroken { return false }
            guard order.written == chunk.number, !order.isWriting else { return nil }
            order.isWriting = true
            return true
        }
        guard isDue, write([part]) else { return false }
        order.change { $0.settle([part]) }
        return true
    }

    /// Writes the answers that are due, and those that become due meanwhile, unless another thread does.
    private func writeDue() {
        while let answers = order.change({ $0.takeDue() }), write(answers) {
            order.change { order in
                order.written += answers.count
                for answer in answers { order.bytes -= answer.size }
                order.settle(answers)
            }
        }
    }

    private func write(_ answers: [Finished]) -> Bool {
        do {
            for answer in answers { try write(answer) }
            return true
        } catch {
            fail(error, isBroken: true)
            return false
        }
    }
}

/// Answers that a thread has finished.
struct Finished: Sendable {
    let output: ContiguousArray<UInt8>
    let log: ContiguousArray<UInt8>
    let tally: BatchTally
    let readAt: UInt64

    init(_ answers: Answers, readAt: UInt64 = 0) {
        (output, log, tally, self.readAt) = (answers.output, answers.log, answers.tally, readAt)
    }

    var size: Int { output.count + log.count }
}

/// The most that may be read and not written, so that memory does not grow with the input.
struct PipelineLimits: Sendable {
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

/// The end of a batch.
struct PipelineEnd {
    /// The counts of everything written.
    let tally: BatchTally
    /// Whether all of the input was read; false if `stop` was raised first.
    let isComplete: Bool
    let failure: Failure?
}

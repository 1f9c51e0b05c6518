internal import Pushcrypt
internal import PushcryptCommandKit

/// Runs the lines of an input through workers on several threads, and writes their answers in the order of the input.
///
/// Each thread reads a chunk, alone, answers its lines, and hands the answer over; whoever hands over the one that is due
/// writes it, and those that are due after it. An answer that is very long is written in parts, each when it is due. A
/// reader that is slow, or gone, is felt before long: reading waits while too much is not written yet, and an error ends
/// everything.
struct BatchEngine: Sendable {
    /// How much may have been read and not written: memory does not depend on the length of the input.
    struct Limits: Sendable {
        var jobs: Int
        var chunksPerJob = 4
        var bytes = 8 << 20
        /// A chunk that is longer holds one long line. What reading it as JSON takes is reckoned with, so that few such
        /// lines are worked on at the same time, however many threads there are.
        var usualChunk = 64 << 10
        var weightOfRest = 12

        /// What a chunk counts for, in bytes, while it is worked on.
        func weight(of chunk: LineChunk) -> Int {
            chunk.bytes.count + max(0, chunk.bytes.count - usualChunk) * weightOfRest
        }
    }

    let limits: Limits

    /// How often the caller's `tick` is called, in milliseconds.
    static let tickInterval: UInt64 = 200

    /// How a batch has ended.
    struct End {
        /// What was written by then.
        let tally: BatchTally
        /// Whether all of the input was read; false when `stop` was raised before.
        let isComplete: Bool
        let failure: CommandFailure?
    }

    /// Answers the input up to its end, or until `stop` is raised: then what was read is answered, and no more is read.
    ///
    /// - Parameters:
    ///   - source: is read by one thread at a time; raising `stop` ends its reading.
    ///   - worker: makes the worker of a thread, on that thread.
    ///   - write: is called by one thread at a time, in order.
    ///   - tick: is called on this thread from time to time, with the counts so far.
    /// - Returns: with the first failure of reading, writing or making a worker. Every thread has ended by then.
    func run<Source: LineSource & Sendable, Worker: LineWorker>(
        _ source: Source, stop: StopSignal, worker: @escaping @Sendable () throws(CommandFailure) -> Worker,
        write: @escaping @Sendable (BatchAnswer) throws(CommandFailure) -> Void, tick: (BatchTally) -> Void
    ) -> End {
        let work = BatchWork(source, limits, stop)
        for job in 0..<limits.jobs {
            do throws(SystemError) {
                try Thread.start { work.run(worker, write) }
            } catch {
                for _ in job..<limits.jobs { work.leave() }
                work.fail(.failed("cannot start a thread: \(error.text)"))
                break
            }
        }
        while !work.hasEnded(withinMilliseconds: Self.tickInterval) { tick(work.tally) }
        return work.end
    }
}

// MARK: Work

/// What the threads of one batch share.
private final class BatchWork<Source: LineSource & Sendable>: Sendable {
    private struct Order {
        /// How many chunks have been read, and how many written.
        var read = 0
        var written = 0
        /// The bytes of what is worked on, by weight, and of what is waiting to be written.
        var bytes = 0
        var waiting: [Int: BatchAnswer] = [:]
        var isWriting = false
        var threads: Int
        var tally = BatchTally()
        var failure: CommandFailure?
        /// Nothing can be written any more.
        var isBroken = false
    }

    private let source: Monitor<Source>
    private let order: Monitor<Order>
    private let limits: BatchEngine.Limits
    private let stop: StopSignal

    init(_ source: Source, _ limits: BatchEngine.Limits, _ stop: StopSignal) {
        self.source = Monitor(source)
        order = Monitor(Order(threads: limits.jobs))
        self.limits = limits
        self.stop = stop
    }

    var tally: BatchTally { order.change(\.tally) }

    var end: BatchEngine.End {
        let isComplete = source.change(\.isAtEnd)
        return order.change { BatchEngine.End(tally: $0.tally, isComplete: isComplete, failure: $0.failure) }
    }

    /// Waits until every thread has ended; false when one has not by then.
    func hasEnded(withinMilliseconds time: UInt64) -> Bool {
        order.wait(atMostMilliseconds: time) { $0.threads == 0 ? true : nil } ?? false
    }

    /// Counts a thread that ends.
    func leave() { order.change { $0.threads -= 1 } }

    /// Ends the reading for a reason, of which the first one counts. What was read is answered all the same, unless nothing
    /// can be written.
    func fail(_ failure: CommandFailure, isBroken: Bool = false) {
        order.change { order in
            order.failure = order.failure ?? failure
            order.isBroken = order.isBroken || isBroken
        }
        stop.raise()
    }

    /// What one thread does, until the input or everything ends.
    func run<Worker: LineWorker>(
        _ make: () throws(CommandFailure) -> Worker, _ write: @escaping (BatchAnswer) throws(CommandFailure) -> Void
    ) {
        defer { leave() }
        do throws(CommandFailure) {
            let worker = try make()
            while let chunk = try next() {
                var start = SystemEnvironment.nanoseconds()
                var answer = worker.answer(chunk) { part in
                    let pause = SystemEnvironment.nanoseconds()
                    // To wait is no work.
                    defer { start += SystemEnvironment.nanoseconds() - pause }
                    return self.write(part, of: chunk, write)
                }
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

    /// Writes a part of an answer once everything before it is written; false when nothing can be.
    private func write(
        _ part: BatchAnswer, of chunk: LineChunk, _ write: (BatchAnswer) throws(CommandFailure) -> Void
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
        order.change { order in
            order.isWriting = false
            order.tally.add(part.tally)
        }
        return true
    }

    /// Writes what is due, and what comes to be due meanwhile.
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

    /// Reads a chunk once there is room for it; nil when there is nothing more to do.
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

    /// The answers that are due, unless another thread is writing or there are none.
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
        order.change { order in
            order.isWriting = false
            order.written += answers.count
            for answer in answers {
                order.bytes -= answer.size
                order.tally.add(answer.tally)
            }
        }
    }
}

extension BatchAnswer {
    fileprivate var size: Int { output.count + log.count }
}

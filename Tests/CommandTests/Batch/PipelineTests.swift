import Foundation
import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Many threads answer lines, and the order stays; nothing ever waits for what does not come.
@Suite struct PipelineTests {
    /// Returns chunks of one line each: its number.
    private struct Numbers: LineSource, Sendable {
        let count: Int
        var read = 0
        var failsAt = Int.max
        let counter: Counter

        var isAtEnd: Bool { read == count }

        mutating func next() throws -> LineChunk? {
            guard read < count else { return nil }
            if read == failsAt { throw Failure.failed("the input is broken") }
            defer { read += 1 }
            counter.add(1)
            return LineChunk(number: read, firstLine: read + 1, bytes: ContiguousArray("\(read)\n".utf8))
        }
    }

    /// Counts from any thread.
    final class Counter: Sendable {
        private let count = Monitor(0)

        var value: Int { count.change { $0 } }

        func add(_ number: Int) { count.change { $0 += number } }
    }

    /// The output.
    private final class Output: Sendable {
        private let text = Monitor(ContiguousArray<UInt8>())

        var lines: [String] {
            String(decoding: text.change { $0 }, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        func write(_ answer: Finished) { text.change { $0 += answer.output } }
    }

    /// Repeats its lines, after a while.
    private struct Echo: LineWorker {
        var delay: @Sendable () -> Int = { 0 }

        func answer(_ chunk: LineChunk, _ answers: inout Answers) {
            let milliseconds = delay()
            if milliseconds > 0 { SystemEnvironment.sleep(milliseconds: milliseconds) }
            answers.output = chunk.bytes
            answers.tally.lines = 1
            if chunk.number.isMultiple(of: 10) { answers.tally.refused["tenth"] = 1 } else { answers.tally.done = 1 }
        }
    }

    private func limits(_ jobs: Int) -> PipelineLimits { PipelineLimits(jobs: jobs) }

    private func run<Source: LineSource & Sendable, Worker: LineWorker>(
        _ limits: PipelineLimits, _ source: Source, stop: StopSignal, worker: @escaping @Sendable () throws -> Worker,
        write: @escaping @Sendable (Finished) throws -> Void, tick: (BatchTally) -> Void
    ) -> PipelineEnd {
        Pipeline(source, limits, stop: stop, worker: worker, write: write).run(tick: tick)
    }

    @Test("The answers are in the order of the input, whichever thread is slow", arguments: [1, 2, 3, 8, 64])
    func order(jobs: Int) throws {
        let output = Output()
        let end = run(
            limits(jobs), Numbers(count: 400, counter: Counter()), stop: try StopSignal(),
            worker: { Echo { Int.random(in: 0...9) == 0 ? Int.random(in: 1...20) : 0 } }, write: output.write,
            tick: { _ in })
        #expect(output.lines == (0..<400).map(String.init))
        #expect(end.failure == nil && end.isComplete)
        #expect(end.tally.lines == 400 && end.tally.done == 360 && end.tally.refused == ["tenth": 40])
    }

    @Test("An input without lines ends at once", arguments: [1, 8])
    func nothing(jobs: Int) throws {
        let output = Output()
        let end = run(
            limits(jobs), Numbers(count: 0, counter: Counter()), stop: try StopSignal(), worker: { Echo() },
            write: output.write,
            tick: { _ in })
        #expect(output.lines.isEmpty && end.tally == BatchTally() && end.isComplete)
    }

    @Test("A reader that stops is waited for, and no more is read meanwhile than fits", arguments: [1, 2, 8])
    func backPressure(jobs: Int) throws {
        let counter = Counter()
        let gate = Monitor(false)
        let output = Output()
        let most = Counter()
        let end = run(
            limits(jobs), Numbers(count: 500, counter: counter), stop: try StopSignal(), worker: { Echo() },
            write: { answer in
                if output.lines.isEmpty {
                    // Any thread that reads on does so now.
                    SystemEnvironment.sleep(milliseconds: 200)
                    most.add(counter.value)
                    gate.change { $0 = true }
                }
                output.write(answer)
            }, tick: { _ in })
        #expect(most.value <= 4 * jobs && most.value >= 1)
        #expect(output.lines == (0..<500).map(String.init) && end.failure == nil)
    }

    /// Answers each line with many, in parts of one.
    private struct Parts: LineWorker {
        let counter: Counter

        func answer(_ chunk: LineChunk, _ answers: inout Answers) {
            for number in 0..<9 {
                if Int.random(in: 0...9) == 0 { SystemEnvironment.sleep(milliseconds: 2) }
                answers.output = ContiguousArray("\(chunk.number).\(number)\n".utf8)
                answers.tally.done = 1
                answers.flush()
                guard answers.isWanted else { break }
                counter.add(1)
            }
            answers.output = ContiguousArray("\(chunk.number).9\n".utf8)
        }
    }

    @Test("Parts of answers stand in the order of the input, and between no others", arguments: [1, 2, 8])
    func parts(jobs: Int) throws {
        let output = Output()
        let end = run(
            limits(jobs), Numbers(count: 50, counter: Counter()), stop: try StopSignal(),
            worker: { Parts(counter: Counter()) },
            write: output.write, tick: { _ in })
        #expect(output.lines == (0..<500).map { "\($0 / 10).\($0 % 10)" })
        #expect(end.failure == nil && end.tally.done == 450)
    }

    @Test(
        "A part that cannot be written ends the work on it, and every thread that waits to write one",
        arguments: [1, 2, 8])
    func brokenPart(jobs: Int) throws {
        let counter = Counter()
        let end = run(
            limits(jobs), Numbers(count: 1000, counter: Counter()), stop: try StopSignal(),
            worker: { Parts(counter: counter) },
            write: { answer throws in
                if answer.output == ContiguousArray("3.4\n".utf8) { throw Failure.readerIsGone }
            }, tick: { _ in })
        #expect(end.failure?.exit == .done && end.tally.done == 31 && counter.value == 31)
    }

    @Test("What is waiting to be written is bounded in bytes, too")
    func bytes() throws {
        struct Long: LineWorker {
            func answer(_ chunk: LineChunk, _ answers: inout Answers) {
                answers.output = ContiguousArray(repeating: 0x61, count: 1000)
            }
        }
        var limits = limits(8)
        limits.bytes = 3000
        let counter = Counter()
        let most = Counter()
        let end = run(
            limits, Numbers(count: 100, counter: counter), stop: try StopSignal(), worker: { Long() },
            write: { _ in
                if most.value == 0 {
                    SystemEnvironment.sleep(milliseconds: 200)
                    most.add(counter.value)
                }
            }, tick: { _ in })
        // As many as were being worked on when the room was gone.
        #expect(most.value < 3 + 8 + 1)
        #expect(end.isComplete && end.failure == nil)
    }

    @Test("Lines that are long are worked on one after the other, however many threads there are")
    func longLines() throws {
        struct Watcher: LineWorker {
            let atOnce: Counter
            let most: Monitor<Int>

            func answer(_ chunk: LineChunk, _ answers: inout Answers) {
                atOnce.add(1)
                let now = atOnce.value
                most.change { $0 = max($0, now) }
                SystemEnvironment.sleep(milliseconds: 5)
                atOnce.add(-1)
                answers.output = ContiguousArray("\(chunk.bytes.count)\n".utf8)
            }
        }
        let line = String(repeating: "x", count: 1_000_000) + "\n"
        let input = TextInput(ContiguousArray(String(repeating: line, count: 10).utf8))
        let (atOnce, most, output) = (Counter(), Monitor(0), Output())
        let end = run(
            limits(8), LineReader(input, maximumLine: 1 << 20), stop: try StopSignal(),
            worker: { Watcher(atOnce: atOnce, most: most) }, write: output.write, tick: { _ in })
        #expect(most.change { $0 } == 1)
        #expect(output.lines.count == 10 && end.failure == nil)
    }

    @Test("A failure to write ends everything, whatever the threads wait for", arguments: [1, 2, 8])
    func brokenOutput(jobs: Int) throws {
        let counter = Counter()
        let end = run(
            limits(jobs), Numbers(count: 100_000, counter: counter), stop: try StopSignal(), worker: { Echo() },
            write: { answer throws in
                if answer.output == ContiguousArray("7\n".utf8) { throw Failure.failed("the disk is full") }
            }, tick: { _ in })
        #expect(end.failure?.message == "the disk is full")
        #expect(!end.isComplete && end.tally.lines <= 7)
        #expect(counter.value <= 8 + 4 * jobs)
    }

    @Test("A reader that is gone wakes who waits for input")
    func goneWhileWaiting() throws {
        let stop = try StopSignal()
        let pipe = try PipeEnds()
        // The input never ends, and only its first line ever comes.
        try pipe.writer.descriptor.writeAll(ContiguousArray("one\n".utf8).span)
        let input = DescriptorInput(descriptor: pipe.reader.descriptor, name: "the pipe", stop: stop)
        let end = run(
            limits(3), LineReader(input, maximumLine: 100), stop: stop, worker: { Echo() },
            write: { _ throws in throw Failure.readerIsGone }, tick: { _ in })
        #expect(end.failure?.exit == .done)
    }

    @Test("A failure to read is reported once what was read is answered", arguments: [1, 4])
    func brokenInput(jobs: Int) throws {
        let output = Output()
        var numbers = Numbers(count: 100, counter: Counter())
        numbers.failsAt = 20
        let end = run(
            limits(jobs), numbers, stop: try StopSignal(), worker: { Echo { 1 } }, write: output.write, tick: { _ in })
        #expect(end.failure?.message == "the input is broken")
        #expect(output.lines == (0..<20).map(String.init))
    }

    @Test("A worker that cannot be made ends everything")
    func noWorker() throws {
        let end = run(
            limits(4), Numbers(count: 100, counter: Counter()), stop: try StopSignal(),
            worker: { () throws -> Echo in throw Failure.failed("no connection is left") }, write: { _ in },
            tick: { _ in })
        #expect(end.failure?.message == "no connection is left")
    }

    @Test(
        "Who is asked to stop answers what was read, and a line read in part: no byte more is read",
        arguments: [1, 4], [false, true])
    func stopped(jobs: Int, inALine: Bool) throws {
        let (text, more) = inALine ? ("one\ntwo\nhalf a li", "ne\nthree\n") : ("one\ntwo\n", "three\n")
        let (end, output, rest) = try stop(jobs: jobs, after: text, then: more)
        #expect(output.lines == ["one", "two"] + (inALine ? ["half a line"] : []))
        #expect(!end.isComplete && end.failure == nil)
        #expect(rest == "three\n" || !inALine)
    }

    @Test("A stop reports the bytes of a line that does not end in time", arguments: [1, 4])
    func stoppedInAnEndlessLine(jobs: Int) throws {
        let (end, output, _) = try stop(jobs: jobs, after: "one\ntwo\nhalf a li", then: "")
        #expect(output.lines == ["one", "two"])
        #expect(end.failure?.message.contains("line 3") == true && end.failure?.message.contains("9 bytes") == true)
    }

    /// Stops a batch that has read some text from a pipe, and is waiting for more; returns what it left in the pipe.
    private func stop(jobs: Int, after text: String, then more: String) throws -> (PipelineEnd, Output, String) {
        let stop = try StopSignal()
        let pipe = try PipeEnds()
        let output = Output()
        let writer = pipe.writer.descriptor
        let input = DescriptorInput(descriptor: pipe.reader.descriptor, name: "the pipe", stop: stop)
        try writer.writeAll(ContiguousArray(text.utf8).span)
        let end = run(
            limits(jobs), LineReader(input, maximumLine: 100), stop: stop, worker: { Echo() },
            write: { answer in
                output.write(answer)
                guard !stop.isRaised else { return }
                stop.raise()
                try? writer.writeAll(ContiguousArray(more.utf8).span)
            }, tick: { _ in })
        try writer.writeAll(ContiguousArray("!".utf8).span)
        var rest = ContiguousArray<UInt8>(repeating: 0, count: 100)
        var span = rest.mutableSpan
        let count = try pipe.reader.descriptor.readSome(into: &span, from: 0)
        return (end, output, String(decoding: rest[..<(count - 1)], as: UTF8.self))
    }

    @Test("What comes is answered before more comes")
    func filter() throws {
        let stop = try StopSignal()
        let pipe = try PipeEnds()
        let input = DescriptorInput(descriptor: pipe.reader.descriptor, name: "the pipe", stop: stop)
        let sent = Counter()
        let writer = pipe.writer.descriptor
        try writer.writeAll(ContiguousArray("0\n".utf8).span)
        let output = Output()
        let end = run(
            limits(2), LineReader(input, maximumLine: 100), stop: stop, worker: { Echo() },
            write: { answer in
                output.write(answer)
                sent.add(1)
                // The next line exists only now.
                if sent.value < 50 {
                    try? writer.writeAll(ContiguousArray("\(sent.value)\n".utf8).span)
                } else {
                    stop.raise()
                }
            }, tick: { _ in })
        #expect(output.lines == (0..<50).map(String.init) && end.failure == nil)
    }

    @Test("Who looks on sees counts that only grow")
    func ticks() throws {
        var seen: [Int] = []
        let end = run(
            limits(2), Numbers(count: 60, counter: Counter()), stop: try StopSignal(), worker: { Echo { 20 } },
            write: { _ in },
            tick: { seen.append($0.lines) })
        #expect(!seen.isEmpty && seen == seen.sorted() && end.tally.lines == 60)
        #expect(end.tally.nanoseconds >= 60 * 20 * 1_000_000)
    }
}

import Foundation
import Testing
import Waiting

@testable import Pushcrypt

/// A sequence of messages that is sealed as it comes.
@Suite struct BatchSealerTests {
    private let fixture: FormatFixture
    private let sealer: Sealer

    init() throws {
        fixture = try FormatFixture()
        sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
    }

    private func message(_ payload: String) -> Sealer.Message {
        Sealer.Message(payload.utf8, to: fixture.device.publicKey, at: FormatFixture.now)
    }

    private func message(_ number: Int) -> Sealer.Message { message(alertPayload("\(number)")) }

    private func opened(_ sealed: SealedPayload) throws -> String {
        String(decoding: try fixture.opener().open(sealed.json, at: FormatFixture.now).payload, as: UTF8.self)
    }

    /// Numbers, as a source gives them, that tells how far it was read.
    private final class Source: AsyncSequence, Sendable {
        let count: Int
        let read = Counter()
        let ended = Counter()
        let failure: (any Error)?

        init(_ count: Int, failure: (any Error)? = nil) {
            self.count = count
            self.failure = failure
        }

        struct Iterator: AsyncIteratorProtocol {
            let source: Source
            var next = 0

            mutating func next() async throws -> Int? {
                guard next < source.count else {
                    source.ended.increment()
                    if let failure = source.failure { throw failure }
                    return nil
                }
                defer { next += 1 }
                source.read.increment()
                return next
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(source: self) }
    }

    private struct Broken: Error {}

    // MARK: Results

    @Test(arguments: [1, 2, 8]) func everyMessageHasItsResultInItsPlace(_ concurrency: Int) async throws {
        var expected = 0
        let batch = BatchSealer(sealer, Source(700), concurrency: concurrency) { number in
            message(number % 7 == 3 ? "{}" : alertPayload("\(number)"))
        }
        for try await element in batch {
            #expect(element.request == expected)
            if expected % 7 == 3 {
                #expect(element.result.failure?.code == .missingAPS)
            } else {
                #expect(try opened(element.result.get()) == alertPayload("\(expected)"))
            }
            expected += 1
        }
        #expect(expected == 700)
    }

    @Test func anEmptySequenceEnds() async throws {
        for try await _ in BatchSealer(sealer, Source(0), message: message) { Issue.record("there is nothing") }
    }

    @Test func afterTheEndThereIsNothing() async throws {
        var iterator = BatchSealer(sealer, Source(1), message: message).makeAsyncIterator()
        #expect(try await iterator.next()?.request == 0)
        for _ in 0..<3 { #expect(try await iterator.next() == nil) }
    }

    @Test func anErrorOfTheSequenceComesAfterWhatWasBeforeIt() async throws {
        var iterator = BatchSealer(sealer, Source(100, failure: Broken()), message: message).makeAsyncIterator()
        for number in 0..<100 { #expect(try await iterator.next()?.request == number) }
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    /// As between two queues: the next message may take hours.
    @Test func aResultDoesNotWaitForTheNextMessage() async throws {
        let (messages, continuation) = AsyncStream.makeStream(of: Sealer.Message.self)
        var iterator = BatchSealer(sealer, messages).makeAsyncIterator()
        for number in 0..<20 {
            continuation.yield(message(number))
            let element = try await iterator.next()
            #expect(try opened(#require(element).result.get()) == alertPayload("\(number)"))
        }
    }

    // MARK: Back-pressure

    @Test(arguments: [1, 4]) func aSlowReaderSlowsTheSource(_ concurrency: Int) async throws {
        let source = Source(10_000)
        var iterator = BatchSealer(sealer, source, concurrency: concurrency, message: message).makeAsyncIterator()
        for number in 1...40 {
            _ = try await iterator.next()
            // One more, which waits for room.
            let most = number + 32 * concurrency + 1
            if number % 20 == 0 {
                #expect(await eventually { source.read.value == most })
                await allTurns()
            }
            #expect(source.read.value <= most)
        }
    }

    // MARK: Cancellation

    /// A source that never ends and never gives anything; it tells when it is let go.
    private func silence() -> (AsyncStream<Int>, ended: AsyncStream<Void>) {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let stream = AsyncStream<Int> { continuation in
            continuation.onTermination = { _ in
                end.yield()
                end.finish()
            }
            // Kept, or the stream would end with it.
            SilenceKeeper.keep(continuation)
        }
        return (stream, ended)
    }

    @Test func aCancelledTaskWaitsNoLonger() async throws {
        let (silence, ended) = silence()
        let batch = BatchSealer(sealer, silence, message: message)
        let task = Task {
            for try await _ in batch { Issue.record("nothing was sent") }
        }
        await allTurns()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for await _ in ended {}
    }

    /// A source that does not look whether it was cancelled holds nobody up.
    @Test func aDeafSourceHoldsNobodyUp() async throws {
        struct Deaf: AsyncSequence, AsyncIteratorProtocol, Sendable {
            func next() async throws -> Int? {
                await withCheckedContinuation { DeafKeeper.keep($0) }
                return nil
            }
            func makeAsyncIterator() -> Deaf { self }
        }
        let batch = BatchSealer(sealer, Deaf(), message: message)
        let task = Task {
            for try await _ in batch {}
        }
        await allTurns()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        DeafKeeper.resume()
    }

    // MARK: A signer elsewhere

    /// A sealer whose signer waits at a gate. On a thread for tasks it refuses to sign: there it would hold up the test.
    private func sealer(at gate: Gate, _ calls: Counter = Counter()) async throws -> Sealer {
        let service = SigningService(key: fixture.provider) { (key, messages) throws(SigningError) in
            guard unsafe withUnsafeCurrentTask(body: { unsafe $0 == nil }) else {
                throw SigningError(.signerUnavailable, "on a thread for tasks")
            }
            if messages != [MessageSignerTests.hedgeLabel] {
                calls.increment()
                gate.pass()
            }
            return SigningService.sign(key, messages)
        }
        return Sealer(signer: try await .connect(to: service), topic: fixture.topic)
    }

    @Test func whatGathersWhileASignerWorksIsSignedAtOnce() async throws {
        let (calls, gate, source) = (Counter(), Gate(), Source(600))
        let sealer = try await sealer(at: gate, calls)
        var iterator = BatchSealer(sealer, source, concurrency: 2, message: message).makeAsyncIterator()
        #expect(await gate.hasVisitors(2))
        // Who asks for one more has taken the last one.
        #expect(await eventually { source.ended.value == 1 })
        gate.open()
        for number in 0..<600 {
            let element = try #require(await iterator.next())
            #expect(try opened(element.result.get()) == alertPayload("\(number)"))
        }
        // Two that begin with one message each, and what gathers meanwhile: 256, 256 and 86.
        #expect(calls.value == 5)
    }

    /// More signers wait than Swift's pool has threads: on the pool none of them would ever be done.
    @Test func aWaitingSignerHoldsUpNoThreadOfThePool() async throws {
        let together = ProcessInfo.processInfo.activeProcessorCount + 2
        let gate = Gate()
        let sealer = try await sealer(at: gate)
        let (messages, continuation) = AsyncStream.makeStream(of: Sealer.Message.self)
        var iterator = BatchSealer(sealer, messages, concurrency: together).makeAsyncIterator()
        for number in 0..<together {
            // One for each call: what comes later gathers.
            continuation.yield(message(number))
            #expect(await gate.hasVisitors(number + 1))
        }
        gate.open()
        for _ in 0..<together { _ = try #require(await iterator.next()).result.get() }
    }
}

/// Keeps what would end a stream if it were let go.
private enum SilenceKeeper {
    nonisolated(unsafe) private static var kept: [AsyncStream<Int>.Continuation] = []
    private static let lock = NSLock()

    static func keep(_ continuation: AsyncStream<Int>.Continuation) {
        lock.withLock { unsafe kept.append(continuation) }
    }
}

/// Keeps what a deaf source waits for.
private enum DeafKeeper {
    nonisolated(unsafe) private static var kept: [CheckedContinuation<Void, Never>] = []
    private static let lock = NSLock()

    static func keep(_ continuation: CheckedContinuation<Void, Never>) {
        lock.withLock { unsafe kept.append(continuation) }
    }

    static func resume() {
        lock.withLock {
            for continuation in unsafe kept { continuation.resume() }
            unsafe kept = []
        }
    }
}

/// Counts from any thread.
private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }

    func increment() { lock.withLock { count += 1 } }
}

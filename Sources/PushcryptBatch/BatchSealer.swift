public import Pushcrypt

/// Seals the messages of an async sequence, several at the same time, and gives the results in their order.
///
///     for try await sealed in BatchSealer(sealer, requests, message: { $0.message }) {
///         switch sealed.result { … }
///     }
///
/// A message that is refused is a result like the others and stops none. An error of the sequence itself is thrown after
/// the results of all that came before it. A result is given as soon as those before it are, even if the sequence has
/// nothing more for now. A slow consumer slows the sequence down: never more than 32 messages for each of
/// `concurrency` are held, 512 with a signer outside this process.
///
/// A cancelled task gets `CancellationError` at once, also while it waits; what was being sealed is dropped. So it is when
/// the iterator is let go. An iterator is for one task.
///
/// With a signer outside this process, what has gathered is signed by one call, up to 256 messages, on a separate thread: a
/// signer may wait without holding up other tasks.
public struct BatchSealer<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element: Sendable {
    /// One message and what became of it.
    public struct Element: Sendable {
        /// The source's element.
        public let request: Base.Element
        /// The payload to send, or why there is none.
        public let result: Result<SealedPayload, SealError>
    }

    private let sealer: Sealer
    private let base: Base
    private let concurrency: Int
    private let message: @Sendable (Base.Element) -> Sealer.Message

    /// Creates the sequence; nothing is read before there is an iterator.
    ///
    /// - Parameters:
    ///   - sealer: the sender and the app.
    ///   - base: what to seal, each element with whatever belongs to it: a device token, a receipt of a queue.
    ///   - concurrency: how much is sealed at the same time, at least 1; the number of cores is enough for a key in this process.
    ///   - message: the message of an element.
    public init(
        _ sealer: Sealer, _ base: Base, concurrency: Int = 8,
        message: @escaping @Sendable (Base.Element) -> Sealer.Message
    ) {
        self.sealer = sealer
        self.base = base
        self.concurrency = Swift.max(1, concurrency)
        self.message = message
    }

    /// Begins to read and to seal.
    public func makeAsyncIterator() -> Iterator {
        let seal = { @Sendable [sealer, message] (requests: [Base.Element]) async -> [Element] in
            let results = await sealer.seal(requests.map(message))
            return zip(requests, results).map { Element(request: $0, result: $1) }
        }
        return Iterator(
            Run(base, BatchWindow(workers: concurrency, unit: sealer.batchUnit, work: seal)))
    }

    /// Returns the results in the order of the messages.
    public struct Iterator: AsyncIteratorProtocol {
        private let run: Run

        fileprivate init(_ run: Run) {
            self.run = run
        }

        /// The next result, or nil after the last one; throws the sequence's error, or `CancellationError`.
        public mutating func next() async throws -> Element? {
            try Task.checkCancellation()
            return try await withTaskCancellationHandler {
                try await run.window.next()
            } onCancel: { [run] in
                run.cancel()
            }
        }
    }

    /// The work behind an iterator, which ends with it.
    fileprivate final class Run: Sendable {
        let window: BatchWindow<Base.Element, Element>
        private let reading: Task<Void, Never>

        init(_ base: Base, _ window: BatchWindow<Base.Element, Element>) {
            self.window = window
            reading = Task {
                do {
                    for try await request in base { try await window.add(request) }
                    await window.end(.success(()))
                } catch {
                    await window.end(.failure(error))
                }
            }
        }

        func cancel() {
            reading.cancel()
            Task { [window] in await window.cancel() }
        }

        deinit {
            cancel()
        }
    }
}

extension BatchSealer where Base.Element == Sealer.Message {
    /// Creates it from a sequence of messages that nothing else uses.
    public init(_ sealer: Sealer, _ base: Base, concurrency: Int = 8) {
        self.init(sealer, base, concurrency: concurrency) { $0 }
    }
}

extension Sealer {
    /// How many messages are worth being sealed as one: what a signer takes at once, or enough for a task to be a small part
    /// of its work.
    fileprivate var batchUnit: Int { waitsForSigner ? Self.signaturesAtOnce : 16 }
}

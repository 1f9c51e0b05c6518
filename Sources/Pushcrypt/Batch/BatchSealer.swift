/// Seals the messages of an asynchronous sequence, several at the same time, and returns the results in order.
///
///     for try await sealed in BatchSealer(sealer, requests, message: { $0.message }) {
///         switch sealed.result { … }
///     }
///
/// A refused message is a result like any other and does not stop the sequence. An error of the sequence is thrown
/// after the results of all elements before it. A result is returned as soon as it and all results before it are ready,
/// even while the sequence waits for its next element. A slow consumer slows the sequence down: at most 32 messages for
/// each unit of `concurrency` are held, or 512 with an external signer.
///
/// A cancelled task gets `CancellationError` at once, even while waiting, and messages being sealed are dropped. The
/// same happens when the iterator is released. An iterator is for one task.
///
/// With an external signer, the waiting messages, up to 256, are signed in one call on a separate thread, so that the
/// signer may block without delaying other tasks.
public struct BatchSealer<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element: Sendable {
    /// One message and its result.
    public struct Element: Sendable {
        /// The element of the sequence.
        public let request: Base.Element
        /// The payload to send, or the error.
        public let result: Result<SealedPayload, SealError>
    }

    private let sealer: Sealer
    private let base: Base
    private let concurrency: Int
    private let message: @Sendable (Base.Element) -> Sealer.Message

    /// Creates a sequence of results; nothing is read before an iterator exists.
    ///
    /// - Parameters:
    ///   - sealer: The sealer for the app.
    ///   - base: The sequence, whose elements may contain more than the message: a device token, a receipt of a queue.
    ///   - concurrency: The number of tasks that seal, at least 1; for a key in this process, the number of cores is
    ///     enough.
    ///   - message: Returns the message of an element.
    public init(
        _ sealer: Sealer, _ base: Base, concurrency: Int = 8,
        message: @escaping @Sendable (Base.Element) -> Sealer.Message
    ) {
        self.sealer = sealer
        self.base = base
        self.concurrency = Swift.max(1, concurrency)
        self.message = message
    }

    /// Starts reading and sealing.
    public func makeAsyncIterator() -> Iterator {
        let seal = { @Sendable [sealer, message] (requests: [Base.Element]) async -> [Element] in
            let results = await sealer.seal(requests.map(message))
            return zip(requests, results).map { Element(request: $0, result: $1) }
        }
        return Iterator(
            Run(base, BatchWindow(workers: concurrency, unit: sealer.batchUnit, work: seal)))
    }

    /// An iterator over the results, in the order of the messages.
    public struct Iterator: AsyncIteratorProtocol {
        private let run: Run

        fileprivate init(_ run: Run) {
            self.run = run
        }

        /// Returns the next result, or nil after the last one.
        ///
        /// - Throws: The sequence's error, or `CancellationError`.
        public mutating func next() async throws -> Element? {
            try Task.checkCancellation()
            return try await withTaskCancellationHandler {
                try await run.window.next()
            } onCancel: { [run] in
                run.cancel()
            }
        }
    }

    /// The work of an iterator, which ends with it.
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
    /// Creates a sequence of results for a sequence of messages.
    public init(_ sealer: Sealer, _ base: Base, concurrency: Int = 8) {
        self.init(sealer, base, concurrency: concurrency) { $0 }
    }
}

extension Sealer {
    /// The number of messages per task: one request to a signer, or enough that the cost of a task does not matter.
    fileprivate var batchUnit: Int { waitsForSigner ? Self.signaturesAtOnce : 16 }
}

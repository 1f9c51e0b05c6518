/// The elements of a sequence that are in progress: a limited number, whose results are returned in order.
///
/// A free worker takes the waiting requests, up to a full unit. So a single request starts at once, and under load
/// units are full.
actor BatchWindow<Request: Sendable, Result: Sendable> {
    private let workers: Int
    private let unit: Int
    private let work: @Sendable ([Request]) async -> [Result]

    /// The requests that no worker has taken yet.
    private var gathered: [Request] = []
    /// The finished units that wait for earlier ones.
    private var finished: [Int: [Result]] = [:]
    /// The results to return next, in reverse order.
    private var ready: [Result] = []
    private var begun = 0
    private var handedOut = 0
    private var working = 0
    /// The number of requests whose result has not been returned.
    private var held = 0

    private var reader: CheckedContinuation<Void, Never>?
    private var source: CheckedContinuation<Void, Never>?
    private var end: Swift.Result<Void, any Error>?
    private var isCancelled = false

    init(workers: Int, unit: Int, work: @escaping @Sendable ([Request]) async -> [Result]) {
        self.workers = workers
        self.unit = unit
        self.work = work
    }

    /// The limit: as many results may be ready as requests are in progress.
    private var capacity: Int { 2 * workers * unit }

    // MARK: Source

    /// Adds a request; waits while the window is full.
    func add(_ request: Request) async throws {
        while held >= capacity, !isCancelled { await withCheckedContinuation { source = $0 } }
        if isCancelled { throw CancellationError() }
        held += 1
        gathered.append(request)
        begin()
    }

    /// Marks the end of the requests.
    func end(_ end: Swift.Result<Void, any Error>) {
        self.end = end
        wakeReader()
    }

    // MARK: Work

    private func begin() {
        while working < workers, !gathered.isEmpty, !isCancelled {
            let requests = Array(gathered.prefix(unit))
            gathered.removeFirst(requests.count)
            let number = begun
            begun += 1
            working += 1
            Task { await finish(number, work(requests)) }
        }
    }

    private func finish(_ number: Int, _ results: [Result]) {
        working -= 1
        if isCancelled { return }
        finished[number] = results
        begin()
        wakeReader()
    }

    // MARK: Reader

    /// Waits for the next result; returns nil after the last one.
    func next() async throws -> Result? {
        while true {
            if isCancelled { throw CancellationError() }
            if let result = takeReady() { return result }
            if held == 0, let end {
                self.end = .success(())
                try end.get()
                return nil
            }
            precondition(reader == nil, "an iterator is for one task")
            await withCheckedContinuation { reader = $0 }
        }
    }

    private func takeReady() -> Result? {
        if ready.isEmpty, let next = finished.removeValue(forKey: handedOut) {
            ready = next.reversed()
            handedOut += 1
        }
        guard let result = ready.popLast() else { return nil }
        held -= 1
        source.take()?.resume()
        return result
    }

    /// Stops everything; the results of work in progress are dropped.
    func cancel() {
        isCancelled = true
        gathered = []
        finished = [:]
        ready = []
        wakeReader()
        source.take()?.resume()
    }

    private func wakeReader() {
        reader.take()?.resume()
    }
}

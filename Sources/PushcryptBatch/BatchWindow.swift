/// The part of a sequence that is being worked on: bounded, and handed out in order.
///
/// Whenever one of the workers is free it takes what has gathered, up to a unit. So a single request is begun at once,
/// and under load units are whole.
actor BatchWindow<Request: Sendable, Result: Sendable> {
    private let workers: Int
    private let unit: Int
    private let work: @Sendable ([Request]) async -> [Result]

    /// Requests that no worker has taken.
    private var gathered: [Request] = []
    /// Finished units that wait for those before them.
    private var finished: [Int: [Result]] = [:]
    /// The results to hand out next, last one first.
    private var ready: [Result] = []
    private var begun = 0
    private var handedOut = 0
    private var working = 0
    /// Requests whose result has not been handed out.
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

    /// As much again may be ready as is being worked on.
    private var capacity: Int { 2 * workers * unit }

    // MARK: The source's side

    /// Accepts a request if there is room.
    func add(_ request: Request) async throws {
        while held >= capacity, !isCancelled { await withCheckedContinuation { source = $0 } }
        if isCancelled { throw CancellationError() }
        held += 1
        gathered.append(request)
        begin()
    }

    /// No request comes any more.
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

    // MARK: The reader's side

    /// Waits for the next result; nil after the last one.
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

    /// Stops everything; what is being worked on is dropped when it is done.
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

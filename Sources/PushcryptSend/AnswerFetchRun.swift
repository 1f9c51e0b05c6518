internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// `answer fetch`: takes answers from a relay, opens and writes them, and only then acknowledges them. to
extension AnswerFetchArguments {
    /// The pauses of `--follow` after failures, in seconds.
    private static let pauses: [UInt32] = [1, 2, 5, 10, 30]

    func run(_ console: Console) throws {
        let (origin, keys) = try relay(console)
        let destination = try Destination(origin, authorities: authorities)
        var source = AnswerRelay(origin: origin, keys: keys, destination: destination)
        let answers = try self.answers(console)
        var exit = ExitCode.done
        var taken: [String] = []
        while true {
            let wait = isFollowing && taken.isEmpty ? RelayRequest.longestWait : 0
            let texts = try take(from: &source, waiting: wait, done: taken, console)
            if texts.isEmpty, !isFollowing { return try exit.end() }
            if texts.contains(where: Set(taken).contains) {
                guard isFollowing else {
                    throw Failure.failed("\(destination.authority) returns answers that were acknowledged")
                }
                sleep(Self.pauses[0])
            } else if texts.isEmpty, taken.isEmpty {
                // A relay waits for the next answers; a proxy may not.
                sleep(Self.pauses[0])
            }
            taken = Array(texts.prefix(RelayRequest.mostDone))
            for text in taken where try !show(text, answers, console) { exit = .refused }
        }
    }

    /// Takes what is there; with `--follow`, as often as it takes.
    private func take(
        from relay: inout AnswerRelay, waiting seconds: Int, done: [String], _ console: Console
    ) throws -> [String] {
        var pauses = Self.pauses[...]
        while true {
            do {
                return try relay.take(waiting: seconds, done: done, console)
            } catch {
                let error = Failure(error)
                guard isFollowing, error.exit == .failed else { throw error }
                if pauses.count == Self.pauses.count { console.warning("\(error.message); trying again") }
                sleep(pauses.count > 1 ? pauses.removeFirst() : pauses[pauses.startIndex])
            }
        }
    }

    /// Writes an answer; returns false for one that does not open, which is acknowledged nevertheless: it never will.
    private func show(_ text: String, _ answers: StoredAnswers, _ console: Console) throws -> Bool {
        do {
            try answers.show(text, asJSON: isJSON)
            return true
        } catch {
            let error = Failure(error)
            guard error.cause is OpenError else { throw error }
            console.warning("an answer does not open: \(error.message)")
            return false
        }
    }
}

/// The answers that a relay has for the push keys.
private struct AnswerRelay {
    /// The longest body: 512 KB of texts.
    private static let longestAnswer = 1 << 20

    let origin: RelayOrigin
    let keys: () throws -> [PushKey]
    let destination: Destination
    /// The relay's time less that of this machine, in milliseconds.
    private var offset: Int64 = 0

    init(origin: RelayOrigin, keys: @escaping () throws -> [PushKey], destination: Destination) {
        (self.origin, self.keys, self.destination) = (origin, keys, destination)
    }

    /// Acknowledges texts, and returns those that are there; waits only for those of the first key.
    mutating func take(
        waiting seconds: Int, done: [String], _ console: Console
    ) throws -> [String] {
        let keys = try keys()
        var texts: [String] = []
        for key in keys.dropFirst() { texts += try take(for: key, waiting: 0, done: done, console) }
        return texts + (try take(for: keys[0], waiting: texts.isEmpty ? seconds : 0, done: done, console))
    }

    private mutating func take(
        for key: PushKey, waiting seconds: Int, done: [String], _ console: Console
    ) throws -> [String] {
        var response = try ask(for: key, waiting: seconds, done: done, console)
        let times = 0...Int64(Timestamp.maximum.milliseconds)
        if response.status == 401, let now = json(response)?["now"]?.integer, times.contains(now) {
            offset = now - Int64(console.now())
            response = try ask(for: key, waiting: seconds, done: done, console)
        }
        if response.status == 200, let texts = json(response)?["answers"] { return texts.elements.compactMap(\.string) }
        let code =
            json(response)?["code"]?.string.flatMap { PushAnswer.isWord($0) ? $0 : nil }
            ?? "not the response of a relay"
        let text = "\(destination.authority) responded with \(response.status), \(code)"
        guard response.status == 429 || response.status >= 500 else {
            throw Failure.usage(text, hint: "is \(origin) the relay's 'origin', as in its relay.json?")
        }
        throw Failure.failed(text)
    }

    private func json(_ response: Response) -> JSONValue? {
        try? JSONDocument(parsing: response.body, maximumBytes: Self.longestAnswer).root
    }

    private func ask(
        for key: PushKey, waiting seconds: Int, done: [String], _ console: Console
    ) throws -> Response {
        let time = Timestamp(milliseconds: UInt64(max(0, Int64(console.now()) + offset)))
        let signed = RelayRequest(waiting: seconds, done: done, to: origin, signedBy: key, at: time)
        let request = Request(
            path: RelayRequest.answersPath, headers: signed.headers.map { ($0.name.lowercased(), $0.value) },
            body: signed.body)
        switch try Probe(destination: destination).ask(request, longestAnswer: Self.longestAnswer) {
        case .answer(let response): return response
        case .noConnection(let text): throw Failure.failed("no connection to \(destination.authority): \(text)")
        case .noAnswer(let text): throw Failure.failed("\(destination.authority) did not respond: \(text)")
        }
    }
}

internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// The time for which this process has run, in milliseconds: none passes while it is stopped or its laptop is asleep.
struct RunningTime {
    private(set) var now: UInt64
    private var absence: UInt64 = 0

    init(_ uptime: UInt64) { now = uptime }

    /// Advances to an uptime. If over five seconds more than the intended wait have passed, the process was not running.
    mutating func pass(to uptime: UInt64, meaningToWait wait: UInt64) {
        let uptime = uptime - absence
        guard uptime > now + wait + 5000 else { return now = uptime }
        absence += uptime - now - wait
        now += wait
    }
}

/// The lines of a run: what is read, whose messages are under way, and the answers. Each line is answered once.
final class RunLines {
    struct Settings {
        /// Whether the messages are for a relay.
        var isForRelay = false
        /// How long a message is tried, in milliseconds.
        var retryFor: UInt64 = 3_600_000
        var limits = ReadLimits()
        var isInOrder = false
        var log: LogFormat?
        /// Nothing is sent.
        var isDry = false
    }

    let console: Console
    let descriptor: Descriptor
    private let settings: Settings
    private var input: InputLines
    private var output: SendOutput
    private var held: [Int: (line: SendLine, addedAt: UInt64)] = [:]
    private var heldBytes = 0
    private var messages = 0
    /// When the run was asked to end.
    private var stoppedAt: UInt64?
    private var time = RunningTime(SystemEnvironment.uptime())
    /// A failure that ends the run after the answers that are under way.
    private(set) var failure: Failure?
    var counts = SendCounts()
    let events: EventLog
    /// When a message was last accepted, in milliseconds since 1970-01-01 UTC.
    private var acceptedAt: UInt64?
    /// The uptime at which a message was last accepted, or none was waiting.
    private var readyAt: UInt64

    init(_ settings: Settings, _ input: Descriptor, named name: String, _ console: Console) {
        (self.settings, descriptor, self.console) = (settings, input, console)
        self.input = InputLines(input, name: name)
        output = SendOutput(console, isInOrder: settings.isInOrder)
        events = EventLog(console, isOn: settings.log != nil)
        readyAt = SystemEnvironment.uptime()
    }

    var now: Moment {
        woke(afterMeaningToWait: 0)
        return Moment(uptime: time.now, wall: console.now())
    }

    /// Notes that the process runs again; `wait` is in milliseconds.
    func woke(afterMeaningToWait wait: UInt64) { time.pass(to: SystemEnvironment.uptime(), meaningToWait: wait) }

    var isStopped: Bool { stoppedAt != nil }
    var hasReadAll: Bool { input.isAtEnd }
    var isLogJSON: Bool { settings.log == .json }
    var hasOutput: Bool { output.hasBytes }
    /// Whether everything is read, answered and written.
    var isDone: Bool {
        held.isEmpty && (input.isAtEnd || isStopped && input.isEmpty) && output.isEmpty
    }
}

// MARK: Reading

extension RunLines {
    /// The messages that wait for something other than their turn, and how many are read ahead.
    struct Deferred {
        var count = 0
        var bytes = 0
        var readAhead = 0
    }

    /// Whether more lines are read now.
    func takesInput(deferred: Deferred) -> Bool {
        !isStopped && !output.isFull
            && settings.limits.allow(
                held: (held.count, heldBytes), deferred: (deferred.count, deferred.bytes),
                answers: (output.waitingCount, output.waitingBytes), window: deferred.readAhead)
    }

    /// Whether a line may be at hand, and otherwise whether to wait for the input.
    func wants(takesInput: Bool) -> (line: Bool, input: Bool) {
        // A regular file can always be read: without this, all of it would soon be in memory.
        let hasLine = takesInput ? input.mayHaveLine : isStopped && !input.isEmpty
        return (hasLine, takesInput && !hasLine && !input.hasEnded)
    }

    /// Reads once; call it if the input is readable.
    func read() {
        do { try input.read() } catch { let error = Failure(error); fail(error) }
    }

    /// Ends the run with an error, after the answers that are under way.
    func fail(_ error: Failure) { failure = failure ?? error }

    /// Takes the lines at hand, and gives each message to `send`.
    func take(deferred: () -> Deferred, _ send: (Message, PushEnvironment?) -> Void) {
        // After a stop, what was read is answered.
        while takesInput(deferred: deferred()) || isStopped, let next = input.next() {
            count()
            take(SendLine(next, number: input.number, forRelay: settings.isForRelay, console), next, send)
        }
        if isStopped, input.dropBeginning() {
            count()
            refuse(SendLine(nil, number: input.number))
        }
    }

    private func count() {
        messages += 1
        counts.lines += 1
    }

    private func take(
        _ line: SendLine, _ text: ContiguousArray<UInt8>?, _ send: (Message, PushEnvironment?) -> Void
    ) {
        switch line.content {
        case .refused(let failure):
            counts.fail(failure.code, mayRetry: false)
            output.append(line.answer(failure), as: messages)
        case .passedOn:
            // `seal` knows the reason.
            counts.fail("passed-on", mayRetry: true)
            if let text { output.append(text + [newline], as: messages) }
        case .message(_, _) where isStopped: refuse(line)
        case .message(_, _) where settings.isDry: output.append(line.dryAnswer, as: messages)
        case .message(let push, let environment):
            let now = now
            let message = Message(number: messages, push: push, end: now.uptime + settings.retryFor)
            message.byteCount = line.byteCount
            held[messages] = (line, now.uptime)
            heldBytes += line.byteCount
            send(message, environment)
        }
    }

    /// Answers a line that comes after the stop.
    private func refuse(_ line: SendLine) {
        counts.fail(SendCode.notSent.rawValue, mayRetry: true)
        output.append(line.answer(.notSent), as: messages)
    }

    /// Reads nothing new from now on.
    func stop() { if stoppedAt == nil { stoppedAt = now.uptime } }
}

// MARK: Answers

extension RunLines {
    /// Answers a message.
    func answer(_ message: Message, _ outcome: Outcome) {
        guard let line = held.removeValue(forKey: message.number)?.line else { return }
        heldBytes -= line.byteCount
        output.append(line.answer(outcome), as: message.number)
        let failure = SendFailure(outcome)
        if let failure {
            counts.fail(failure.code.rawValue, mayRetry: failure.mayRetry)
        } else {
            counts.accepted += 1
            readyAt = now.uptime
            acceptedAt = now.wall
        }
        guard settings.log != nil else { return }
        var fields: [MessageFormat.Field] = [("line", .number(line.number))]
        if let id = line.id { fields.append(("id", .word(id))) }
        if let fingerprint = EventLog.fingerprint(of: message.push.payload) {
            fields.append(("fingerprint", .word(fingerprint)))
        }
        if case .accepted(let answer) = outcome {
            fields.append(("apns_id", .word(answer.apnsID ?? "-")))
        } else {
            fields.append(("code", .word(failure?.code.rawValue ?? "")))
        }
        events.add(failure == nil ? "accepted" : "failed", fields, at: now)
    }

    /// Writes an event of `--log`.
    func report(_ event: String, _ fields: @autoclosure () -> [MessageFormat.Field]) {
        events.add(event, fields(), at: now)
    }

    /// Writes answers. Nobody may wait for ever for a reader who has gone, or reads nothing.
    ///
    /// - Parameter timeout: How long an answer may take, in milliseconds.
    func write(timeout: UInt64) throws {
        if held.isEmpty { readyAt = now.uptime }
        let left =
            "\(counts.lines) lines were read and \(counts.accepted) messages accepted; those without an answer may be sent again"
        do {
            try output.write()
        } catch {
            let error = Failure(error)
            throw error.exit == .done
                ? Failure.failed("the reader of the answers has gone: \(left)") : error.advising(error.hints + [left])
        }
        if let stoppedAt, now.uptime > stoppedAt + timeout + 5000 {
            throw Failure.failed("stopped by a signal, and nobody reads the answers: \(left)")
        }
    }

    /// The operator's view of the lines.
    var state: SendState {
        let uptime = now.uptime
        var state = SendState()
        state.waiting = held.count
        state.oldest = Int((uptime - (held.values.map(\.addedAt).min() ?? uptime)) / 1000)
        state.acceptedAt = acceptedAt
        state.isReady = uptime < readyAt + SendState.patience
        return state
    }
}

internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Sends the messages of an input to a publisher's relay, on one thread, which waits for everything at once.
final class RelaySender: SendRun {
    struct Settings {
        var relay: RelayClient.Settings
        var dispatch = RelayDispatcher.Settings()
        /// In milliseconds.
        var retryFor: UInt64 = 3_600_000
        var limits = ReadLimits()
        var log: LogFormat?
        /// Nothing is sent.
        var isDry = false
    }

    /// The number of the question what the relay is.
    static let question = 0

    let settings: Settings
    let console: Console
    /// Nil if nothing is sent.
    let key: PushKey?
    let client: RelayClient
    let dispatcher: RelayDispatcher
    private let stop: StopSignal
    var input: InputLines
    private let inputDescriptor: Descriptor
    /// Whether the input had nothing more when it was checked last.
    var isInputIdle = false
    var output: SendOutput
    var lines: [Int: (line: SendLine, addedAt: UInt64)] = [:]
    var heldBytes = 0
    private var messages = 0
    var batches: [Int: RelayDispatcher.Batch] = [:]
    /// Whether the relay has said what it is; nil before it was asked, or once that was of no use.
    var isKnown: Bool?
    var askedAt: UInt64 = 0
    private var stoppedAt: UInt64?
    var failure: CommandFailure?
    var counts = SendCounts()
    var events: EventLog
    private var hasWarned = false
    var acceptedAt: UInt64?
    var readyAt: UInt64

    init(
        _ settings: Settings, key: PushKey?, input: Descriptor, named name: String, isInOrder: Bool, stop: StopSignal,
        _ console: Console
    ) throws(CommandFailure) {
        (self.settings, self.key, self.stop, self.console) = (settings, key, stop, console)
        client = try RelayClient(settings.relay)
        dispatcher = RelayDispatcher(settings.dispatch)
        inputDescriptor = input
        self.input = InputLines(input, name: name)
        output = SendOutput(console, isInOrder: isInOrder)
        events = EventLog(console, isOn: settings.log != nil)
        readyAt = SystemEnvironment.uptime()
    }

    var now: Moment { Moment(uptime: SystemEnvironment.uptime(), wall: console.now()) }
    var hasReadAll: Bool { input.isAtEnd }
    var isStopped: Bool { stoppedAt != nil }
}

// MARK: The loop

extension RelaySender {
    /// Sends everything, and calls `tick` at least every second.
    func run(tick: () -> Void) throws(CommandFailure) {
        while true {
            takeLines()
            act()
            try write()
            look()
            tick()
            if lines.isEmpty, input.isAtEnd || isStopped && input.isEmpty, output.isEmpty { break }
            try wait()
        }
        events.countLeft(at: now)
        if let failure { throw failure }
    }

    var takesInput: Bool {
        !isStopped && !output.isFull
            && settings.limits.allow(
                held: (lines.count, heldBytes), deferred: dispatcher.deferred,
                answers: (output.waitingCount, output.waitingBytes))
    }

    private func takeLines() {
        // After a stop, what was read is answered.
        while takesInput || isStopped, let next = input.next() {
            messages += 1
            counts.lines += 1
            switch next {
            case .text(let text): take(SendLine(text, number: input.number, .relay), text)
            case .tooLong: take(SendLine(unread: input.number), nil)
            }
        }
        if isStopped, input.dropBeginning() {
            messages += 1
            counts.lines += 1
            refuse(SendLine(unread: input.number))
        }
    }

    /// Answers a line that comes after the stop.
    private func refuse(_ line: SendLine) {
        counts.fail(SendCode.notSent.rawValue, mayRetry: true)
        output.append(line.answer(.notSent), as: messages)
    }

    private func take(_ line: SendLine, _ text: ContiguousArray<UInt8>?) {
        switch line.content {
        case .refused(let failure):
            counts.fail(failure.code, mayRetry: false)
            output.append(line.answer(failure), as: messages)
        case .passedOn:
            counts.fail("passed-on", mayRetry: true)
            if let text { output.append(text + [newline], as: messages) }
        case .message(_, _) where isStopped: refuse(line)
        case .message(_, _) where settings.isDry: output.append(line.dryAnswer, as: messages)
        case .message(let push, _):
            let now = now
            let delivery = Delivery(number: messages, request: push, end: now.uptime + settings.retryFor)
            delivery.byteCount = line.byteCount
            lines[messages] = (line, now.uptime)
            heldBytes += line.byteCount
            dispatcher.add(delivery)
        }
    }

    /// Writes answers. Nobody may wait for ever for a reader who has gone, or reads nothing.
    private func write() throws(CommandFailure) {
        let left =
            "\(counts.lines) lines were read and \(counts.accepted) messages accepted; those without an answer may be sent again"
        do throws(CommandFailure) {
            try output.write()
        } catch {
            throw error.exit == .done ? .failed("the reader of the answers has gone: \(left)") : error
        }
        if let stoppedAt, now.uptime > stoppedAt + settings.relay.timeout + 5000 {
            throw .failed("stopped by a signal, and nobody reads the answers: \(left)")
        }
    }

    /// Says once that an outage has begun, or has ended.
    private func look() {
        if lines.isEmpty { readyAt = now.uptime }
        let trouble = dispatcher.trouble
        guard (trouble != nil) != hasWarned else { return }
        hasWarned = trouble != nil
        if let trouble {
            console.warning("the relay \(settings.relay.origin): \(trouble); waiting: \(lines.count)")
        } else {
            console.hint("the relay answers again")
        }
    }

    /// Reads and sends nothing new from now on.
    func halt() {
        if stoppedAt == nil { stoppedAt = now.uptime }
        dispatcher.stop()
    }

    private func wait() throws(CommandFailure) {
        let hasLine = takesInput ? input.mayHaveLine : isStopped && !input.isEmpty
        let readsInput = takesInput && !hasLine && !input.hasEnded
        // The system passes over -1.
        var waits = [
            RelayClient.Wait(descriptor: isStopped ? -1 : stop.descriptor.number),
            RelayClient.Wait(descriptor: readsInput ? inputDescriptor.number : -1),
            RelayClient.Wait(descriptor: output.hasBytes ? console.output.number : -1, writes: true),
        ]
        let now = now
        var time = now.uptime + 1000
        if let wake = dispatcher.wakeTime(at: now) { time = min(time, max(wake, now.uptime + 1)) }
        // Whether a request waits for more messages is known only once the input was checked.
        let looks = hasLine || readsInput && !isInputIdle
        try client.wait(&waits, for: looks ? 0 : Int32(clamping: time - now.uptime))
        if waits[0].isReady, !isStopped { halt() }
        isInputIdle = !readsInput || !waits[1].isReady
        guard readsInput, waits[1].isReady, !isStopped else { return }
        do throws(CommandFailure) { try input.read() } catch { failure = failure ?? error }
    }
}

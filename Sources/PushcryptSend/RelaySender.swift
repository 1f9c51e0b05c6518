internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Sends the messages of an input to a publisher's relay, on one thread, which waits for everything at once.
final class RelaySender: SendRun {
    struct Settings {
        var relay: RelayClient.Settings
        var dispatch = RelayDispatcher.Settings()
        var lines = RunLines.Settings()
    }

    /// The number of the question what the relay is.
    static let question = 0

    let settings: Settings
    let lines: RunLines
    /// Nil if nothing is sent.
    let key: PushKey?
    let client: RelayClient
    let dispatcher: RelayDispatcher
    private let stop: StopSignal
    /// Whether the input had nothing more when it was checked last.
    var isInputIdle = false
    var batches: [Int: RelayDispatcher.Batch] = [:]
    /// Whether the relay has said what it is; nil before it was asked, or once that was of no use.
    var isKnown: Bool?
    var askedAt: UInt64 = 0
    private var hasWarned = false

    init(
        _ settings: Settings, key: PushKey?, _ lines: RunLines, stop: StopSignal
    ) throws(CommandFailure) {
        (self.settings, self.key, self.lines, self.stop) = (settings, key, lines, stop)
        client = try RelayClient(settings.relay)
        dispatcher = RelayDispatcher(settings.dispatch)
    }

    var now: Moment { lines.now }
    var takesInput: Bool { lines.takesInput(deferred: dispatcher.deferred) }
}

// MARK: The loop

extension RelaySender {
    /// Sends everything, and calls `tick` at least every second.
    func run(tick: () -> Void) throws(CommandFailure) {
        while true {
            lines.take(deferred: { dispatcher.deferred }) { delivery, _ in dispatcher.add(delivery) }
            act()
            try lines.write(timeout: settings.relay.timeout)
            look()
            tick()
            if lines.isDone { break }
            try wait()
        }
        lines.events.countLeft(at: now)
        if let failure = lines.failure { throw failure }
    }

    /// Says once that an outage has begun, or has ended.
    private func look() {
        let trouble = dispatcher.trouble
        guard (trouble != nil) != hasWarned else { return }
        hasWarned = trouble != nil
        if let trouble {
            lines.console.warning("the relay \(settings.relay.origin): \(trouble); waiting: \(dispatcher.unanswered)")
        } else {
            lines.console.hint("the relay answers again")
        }
    }

    /// Reads and sends nothing new from now on.
    func halt() {
        lines.stop()
        dispatcher.stop()
    }

    private func wait() throws(CommandFailure) {
        let wants = lines.wants(takesInput: takesInput)
        // The system passes over -1.
        var waits = [
            RelayClient.Wait(descriptor: lines.isStopped ? -1 : stop.descriptor.number),
            RelayClient.Wait(descriptor: wants.input ? lines.descriptor.number : -1),
            RelayClient.Wait(descriptor: lines.hasOutput ? lines.console.output.number : -1, writes: true),
        ]
        let now = now
        var time = now.uptime + 1000
        if let wake = dispatcher.wakeTime(at: now) { time = min(time, max(wake, now.uptime + 1)) }
        // Whether a request waits for more messages is known only once the input was checked.
        let looks = wants.line || wants.input && !isInputIdle
        try client.wait(&waits, for: looks ? 0 : Int32(clamping: time - now.uptime))
        if waits[0].isReady, !lines.isStopped { halt() }
        isInputIdle = !wants.input || !waits[1].isReady
        if wants.input, waits[1].isReady, !lines.isStopped { lines.read() }
    }
}

internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// The messages of one environment, and the connections that they go through.
final class Route {
    let destination: Destination
    let dispatcher: Dispatcher
    var connections: [Connection] = []
    var outages = Outages()

    init(_ destination: Destination, _ dispatcher: Dispatcher) {
        self.destination = destination
        self.dispatcher = dispatcher
    }
}

/// Sends the messages of an input on one thread, which waits for everything at once.
final class Sender {
    struct Settings {
        var dispatch = Dispatcher.Settings()
        var destinations: [PushEnvironment: Destination] = [:]
        var standardEnvironment = PushEnvironment.production
        /// In milliseconds.
        var retryFor: UInt64 = 3_600_000
        var limits = ReadLimits()
        /// Whether what is not encrypted is sent again if APNs may have it.
        var repeatsClear = false
        var log: LogFormat?
        /// Nothing is sent.
        var isDry = false
    }

    let settings: Settings
    let console: Console
    let token: ProviderToken?
    let tokens = TokenSchedule()
    let dialer: Dialer
    let stop: StopSignal
    var routes: [PushEnvironment: Route] = [:]
    var input: InputLines
    let inputDescriptor: Descriptor
    var output: SendOutput
    var lines: [Int: (line: SendLine, addedAt: UInt64)] = [:]
    /// The bytes of these lines.
    var heldBytes = 0
    private var messages = 0
    /// When the run was asked to end.
    private(set) var stoppedAt: UInt64?
    /// Whether the only message was added.
    private var hasAllInput = false
    /// What ends the run after the answers that are under way.
    var failure: CommandFailure?
    var counts = SendCounts()
    var events: EventLog
    /// When a message was last accepted, in milliseconds since 1970-01-01 UTC.
    var acceptedAt: UInt64?
    /// The uptime at which a message was last accepted, or none was waiting.
    var readyAt: UInt64
    private var lookedAt: UInt64 = 0

    init(
        _ settings: Settings, token: ProviderToken?, input: Descriptor, named name: String, isInOrder: Bool,
        stop: StopSignal,
        _ console: Console
    ) throws(CommandFailure) {
        self.settings = settings
        self.console = console
        self.token = token
        self.stop = stop
        dialer = try Dialer()
        inputDescriptor = input
        self.input = InputLines(input, name: name)
        output = SendOutput(console, isInOrder: isInOrder)
        events = EventLog(console, isOn: settings.log != nil)
        readyAt = SystemEnvironment.uptime()
        if let age = token?.takeKept(at: now, console) { tokens.keep(age: age, at: now) }
    }

    var now: Moment { Moment(uptime: SystemEnvironment.uptime(), wall: console.now()) }

    var hasReadAll: Bool { input.isAtEnd }
    var isStopped: Bool { stoppedAt != nil }

    /// The messages that wait for something other than their turn, and their bytes.
    var deferred: (count: Int, bytes: Int) {
        routes.values.reduce((0, 0)) { ($0.0 + $1.dispatcher.deferred.count, $0.1 + $1.dispatcher.deferred.bytes) }
    }
}

// MARK: The loop

extension Sender {
    /// Sends everything, and calls `tick` at least every second.
    func run(tick: () -> Void) throws(CommandFailure) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { unsafe room.deallocate() }
        while true {
            try takeLines()
            act()
            try write()
            look()
            tick()
            if lines.isEmpty, input.isAtEnd || isStopped && input.isEmpty || hasAllInput, output.isEmpty { break }
            try unsafe wait(reading: room)
        }
        look(isEnd: true)
        for route in routes.values {
            for connection in route.connections {
                connection.session.goAway()
                _ = connection.flush()
                close(connection, of: route)
            }
        }
        if let failure { throw failure }
    }

    var takesInput: Bool {
        !isStopped && !hasAllInput && !output.isFull
            && settings.limits.allow(
                held: (lines.count, heldBytes), deferred: deferred, answers: (output.waitingCount, output.waitingBytes))
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
        let patience = settings.dispatch.timeout + 5000
        if let stoppedAt, now.uptime > stoppedAt + patience {
            throw .failed("stopped by a signal, and nobody reads the answers: \(left)")
        }
    }

    /// Says which outages have begun or ended.
    private func look(isEnd: Bool = false) {
        let now = now
        if lines.isEmpty { readyAt = now.uptime }
        guard isEnd || now.uptime >= lookedAt + 100 else { return }
        lookedAt = now.uptime
        for route in routes.values {
            let dispatcher = route.dispatcher
            let said = route.outages.update(
                dispatcher.troubles, attempts: dispatcher.requestsSent + dispatcher.connectionsOpened,
                waiting: dispatcher.unanswered, at: now.uptime)
            for line in said { events.say(line, of: route.destination.authority, isJSON: settings.log == .json) }
        }
        if isEnd { events.countLeft(at: now) }
    }

    private func takeLines() throws(CommandFailure) {
        // After a stop, what was read is answered.
        while takesInput || isStopped, let next = input.next() {
            messages += 1
            let line =
                switch next {
                case .text(let text): SendLine(text, number: input.number)
                case .tooLong: SendLine(unread: input.number)
                }
            counts.lines += 1
            take(line, next)
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

    /// Adds a single message.
    func add(_ line: SendLine) {
        messages += 1
        counts.lines += 1
        take(line, nil)
        hasAllInput = true
    }

    private func take(_ line: SendLine, _ text: InputLines.Line?) {
        switch line.content {
        case .refused(let failure):
            counts.fail(failure.code, mayRetry: false)
            output.append(line.answer(failure), as: messages)
        case .passedOn:
            // `seal` knows the reason.
            counts.fail("passed-on", mayRetry: true)
            if case .text(let text) = text { output.append(text + [newline], as: messages) }
        case .message(_, _) where isStopped: refuse(line)
        case .message(_, _) where settings.isDry: output.append(line.dryAnswer, as: messages)
        case .message(let request, let environment):
            let now = now
            let delivery = Delivery(number: messages, request: request, end: now.uptime + settings.retryFor)
            delivery.mayRepeat = !request.isClear || settings.repeatsClear
            delivery.byteCount = line.byteCount
            lines[messages] = (line, now.uptime)
            heldBytes += line.byteCount
            route(to: environment ?? settings.standardEnvironment).dispatcher.add(delivery)
        }
    }

    private func route(to environment: PushEnvironment) -> Route {
        if let route = routes[environment] { return route }
        let destination = settings.destinations[environment] ?? Destination(host: "")
        let route = Route(destination, Dispatcher(settings.dispatch, tokens: tokens))
        routes[environment] = route
        return route
    }

    /// Reads and sends nothing new from now on.
    func halt() {
        if stoppedAt == nil { stoppedAt = now.uptime }
        for route in routes.values { route.dispatcher.stop() }
    }
}

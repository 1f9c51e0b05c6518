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

/// The messages of one environment, and the connections that they go through.
private final class Route {
    let destination: Destination
    let dispatcher: Dispatcher
    var connections: [Connection] = []
    var hasFailed = false

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
        var window = 2000
        /// The bytes of these messages, of which one more may be added.
        var windowBytes = 8 << 20
        var log: LogFormat?
        /// Nothing is sent.
        var isDry = false
    }

    private let settings: Settings
    private let console: Console
    private let token: ProviderToken?
    private let tokens = TokenSchedule()
    private let breaker = CircuitBreaker()
    private let dialer: Dialer
    private let stop: StopSignal
    private var routes: [PushEnvironment: Route] = [:]
    private var input: InputLines
    private let inputDescriptor: Descriptor
    private var output: SendOutput
    private var lines: [Int: SendLine] = [:]
    /// The bytes of these lines.
    private var heldBytes = 0
    private var messages = 0
    private var isStopped = false
    /// Whether the only message was added.
    private var hasAllInput = false
    /// What ends the run after the answers that are under way.
    private var failure: CommandFailure?
    private(set) var counts = SendCounts()

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
    }

    private var now: Moment { Moment(uptime: SystemEnvironment.uptime(), wall: console.now()) }

    var hasReadAll: Bool { input.isAtEnd }

    /// Why the run ended before its input; nil if it did not, or was asked to.
    var stopReason: Dispatcher.StopReason? {
        routes.values.lazy.compactMap(\.dispatcher.stopReason).first { $0 != .requested }
    }
}

// MARK: The loop

extension Sender {
    /// Sends everything, and calls `tick` at least every second.
    func run(tick: (SendCounts) -> Void) throws(CommandFailure) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { unsafe room.deallocate() }
        while true {
            try takeLines()
            act()
            try output.write()
            counts.inFlight = routes.values.reduce(0) { $0 + $1.dispatcher.inFlight }
            counts.connections = routes.values.reduce(0) { $0 + $1.dispatcher.connectionsOpened }
            tick(counts)
            if lines.isEmpty, input.isAtEnd || isStopped && input.isEmpty || hasAllInput, output.isEmpty { break }
            try unsafe wait(reading: room)
        }
        for route in routes.values {
            for connection in route.connections {
                connection.session.goAway()
                _ = connection.flush()
                close(connection, of: route)
            }
        }
        if let failure { throw failure }
    }

    private var takesInput: Bool {
        !isStopped && !hasAllInput && lines.count + output.waitingCount < settings.window
            && heldBytes + output.waitingBytes < settings.windowBytes && !output.isFull
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
            let delivery = Delivery(number: messages, request: request, end: now.uptime + settings.retryFor)
            lines[messages] = line
            heldBytes += line.byteCount
            route(to: environment ?? settings.standardEnvironment).dispatcher.add(delivery, at: now)
        }
    }

    private func route(to environment: PushEnvironment) -> Route {
        if let route = routes[environment] { return route }
        let destination = settings.destinations[environment] ?? Destination(host: "")
        let route = Route(
            destination,
            Dispatcher(settings.dispatch, tokens: tokens, breaker: breaker, environment: environment.rawValue))
        routes[environment] = route
        return route
    }

    /// Carries out what the dispatchers want, and writes to the connections, until nothing is left to do now.
    private func act() {
        for route in routes.values {
            var isDone = false
            while !isDone {
                isDone = true
                while let action = route.dispatcher.nextAction(at: now) {
                    isDone = false
                    carryOut(action, route)
                }
                for connection in route.connections {
                    if let text = connection.flush() {
                        lose(connection, text, of: route)
                    } else if takeEvents(of: connection, route) {
                        isDone = false
                    } else if connection.isConnected, connection.session.isOver {
                        lose(connection, "it ended the connection", of: route)
                        isDone = false
                    }
                }
            }
            if let reason = route.dispatcher.stopReason, reason != .requested { halt(reason) }
            for (topic, answer) in route.dispatcher.rested {
                let others = topic.map { "every message of \($0)" } ?? "the login to \(route.destination.authority)"
                console.warning(
                    "APNs refuses \(others) with \(answer.text): \(answer.advice); messages for it are 'on-hold' for 15 minutes"
                )
            }
            route.dispatcher.rested = []
            for (delivery, outcome) in route.dispatcher.answers { answer(delivery, outcome) }
            route.dispatcher.answers.removeAll(keepingCapacity: true)
        }
    }

    private func carryOut(_ action: Dispatcher.Action, _ route: Route) {
        switch action {
        case .connect(let link):
            guard let handle = dialer.dial(route.destination, for: link, of: ObjectIdentifier(route)) else {
                return route.dispatcher.connectionFailed(link, "libcurl refuses an option", isLasting: true, at: now)
            }
            do throws(HTTP2Error) {
                route.connections.append(try Connection(handle, link, authority: route.destination.authority))
            } catch {
                dialer.close(handle)
                route.dispatcher.connectionFailed(link, error.text, isLasting: false, at: now)
            }
        case .send(let delivery, let link):
            guard let connection = route.connections.first(where: { $0.link == link }) else { return }
            let authorization: String?
            do throws(CommandFailure) {
                authorization = try token?.authorization(delivery.tokenGeneration, at: now)
            } catch {
                fail(error)
                return route.dispatcher.failed(delivery, wasRead: false, on: link, at: now)
            }
            do throws(HTTP2Error) {
                try connection.session.send(delivery, authorization: authorization)
                counts.requests += 1
            } catch {
                // The numbers of its streams are used up.
                route.dispatcher.goingAway(link)
                route.dispatcher.failed(delivery, wasRead: false, on: link, at: now)
            }
        case .cancel(let delivery, let link):
            var wasRead = true
            if let connection = route.connections.first(where: { $0.link == link }) {
                guard let isSent = connection.session.cancel(delivery) else { return }
                wasRead = isSent
            }
            report("timed-out", [("connection", .number(link))])
            route.dispatcher.failed(delivery, wasRead: wasRead, on: link, at: now)
        case .close(let link):
            guard let connection = route.connections.first(where: { $0.link == link }) else { return }
            connection.session.goAway()
            _ = connection.flush()
            close(connection, of: route)
        }
    }

    private func close(_ connection: Connection, of route: Route) {
        dialer.close(connection.handleToClose)
        route.connections.removeAll { $0 === connection }
    }

    private func lose(_ connection: Connection, _ text: String, of route: Route) {
        connection.session.failAll()
        _ = takeEvents(of: connection, route)
        report("connection-lost", [("connection", .number(connection.link)), ("reason", .word(text))])
        route.dispatcher.lost(connection.link, text, at: now)
        close(connection, of: route)
    }

    /// Passes on what happened on a connection; returns whether anything did.
    private func takeEvents(of connection: Connection, _ route: Route) -> Bool {
        let events = connection.session.takeEvents()
        let (dispatcher, link) = (route.dispatcher, connection.link)
        for event in events {
            switch event {
            case .streams(let count): dispatcher.allowed(count, on: link)
            case .goingAway(let reason):
                report("going-away", [("connection", .number(link)), ("reason", .word(reason))])
                dispatcher.goingAway(link)
            case .answered(let delivery, let answer):
                counts.latency.add((now.uptime - min(now.uptime, delivery.sentAt)) * 1_000_000)
                if answer.verdict != .accepted { counts.answers[answer.kind, default: 0] += 1 }
                dispatcher.answered(delivery, answer, on: link, at: now)
            case .failed(let delivery, let wasRead):
                counts.answers[wasRead ? "none" : "unread", default: 0] += 1
                dispatcher.failed(delivery, wasRead: wasRead, on: link, at: now)
            }
        }
        return !events.isEmpty
    }

    private func answer(_ delivery: Delivery, _ outcome: Outcome) {
        guard let line = lines.removeValue(forKey: delivery.number) else { return }
        heldBytes -= line.byteCount
        output.append(line.answer(outcome), as: delivery.number)
        if let failure = SendFailure(outcome) {
            counts.fail(failure.code.rawValue, mayRetry: failure.mayRetry)
            report("failed", [("line", .number(line.number)), ("code", .word(failure.code.rawValue))])
        } else {
            counts.accepted += 1
            if case .accepted(let answer) = outcome {
                report("accepted", [("line", .number(line.number)), ("apns_id", .word(answer.apnsID ?? "-"))])
            }
        }
    }

    /// Ends the run with an error, after the answers that are under way.
    private func fail(_ error: CommandFailure) {
        failure = failure ?? error
        halt(.requested)
    }

    /// Reads and sends nothing new from now on.
    private func halt(_ reason: Dispatcher.StopReason) {
        isStopped = true
        for route in routes.values { route.dispatcher.stop(reason) }
    }

    private func report(_ event: String, _ fields: @autoclosure () -> [MessageFormat.Field]) {
        guard settings.log != nil else { return }
        console.log(event, fields())
    }
}

// MARK: Waiting

extension Sender {
    private enum Source {
        case input, output, stop
        case dialer
        case connection(Connection, Route)
    }

    /// Waits until something can go on, and reads what has come.
    private func wait(reading room: UnsafeMutableRawBufferPointer) throws(CommandFailure) {
        var sources: [Source] = []
        var polls: [pollfd] = []
        func add(_ source: Source, _ descriptor: Int32, reads: Bool, writes: Bool) {
            sources.append(source)
            let events = (reads ? POLLIN : 0) | (writes ? POLLOUT : 0)
            polls.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
        }
        if !isStopped { add(.stop, stop.descriptor.number, reads: true, writes: false) }
        // A regular file can always be read: without this, all of it would soon be in memory.
        let takesMore = takesInput ? input.mayHaveLine : isStopped && !input.isEmpty
        if takesInput, !takesMore, !input.hasEnded { add(.input, inputDescriptor.number, reads: true, writes: false) }
        if output.hasBytes { add(.output, console.output.number, reads: false, writes: true) }
        for wait in dialer.waits { add(.dialer, wait.descriptor, reads: wait.reads, writes: wait.writes) }
        for route in routes.values {
            for connection in route.connections where connection.isConnected {
                add(
                    .connection(connection, route), connection.descriptor.number, reads: true,
                    writes: connection.isBlocked)
            }
        }
        guard unsafe poll(&polls, nfds_t(polls.count), takesMore ? 0 : timeout()) >= 0 || errno == EINTR else {
            throw .failed("cannot wait: \(SystemError.last.text)")
        }
        var dialling: [(descriptor: Int32, reads: Bool, writes: Bool)] = []
        for (source, result) in zip(sources, polls) {
            if case .connection(let connection, _) = source, connection.mayHaveMore {
                // What TLS has decrypted is no longer in the socket.
            } else if result.revents == 0 {
                continue
            }
            switch source {
            case .stop: halt(.requested)
            case .input:
                do throws(CommandFailure) { try input.read() } catch { failure = failure ?? error }
            // It is written at the beginning of the next round.
            case .output: break
            case .dialer:
                let isReadable = Int32(result.revents) & ~Int32(POLLOUT) != 0
                dialling.append((result.fd, isReadable, Int32(result.revents) & Int32(POLLOUT) != 0))
            case .connection(let connection, let route):
                if let text = unsafe connection.receive(into: room, at: now.uptime) {
                    lose(connection, text, of: route)
                } else {
                    _ = takeEvents(of: connection, route)
                    if connection.session.isOver { lose(connection, "it ended the connection", of: route) }
                }
            }
        }
        for (owner, link, result) in dialer.proceed(ready: dialling, at: now.uptime) {
            guard let route = routes.values.first(where: { ObjectIdentifier($0) == owner }) else { continue }
            connect(link, result, route)
        }
        for route in routes.values {
            for connection in route.connections {
                if let text = connection.checkSilence(at: now.uptime) { lose(connection, text, of: route) }
            }
        }
    }

    private func connect(_ link: Int, _ result: Dialer.Result, _ route: Route) {
        guard let connection = route.connections.first(where: { $0.link == link }) else { return }
        switch result {
        case .connected:
            report("connected", [("connection", .number(link)), ("host", .word(route.destination.host))])
            connection.connected(at: now.uptime)
            route.dispatcher.connected(link)
            route.hasFailed = false
        case .failed(let text, let isLasting):
            close(connection, of: route)
            if !route.hasFailed { console.warning("no connection to \(route.destination.authority): \(text)") }
            route.hasFailed = true
            route.dispatcher.connectionFailed(link, text, isLasting: isLasting, at: now)
        }
    }

    /// The milliseconds until something is due.
    private func timeout() -> Int32 {
        let now = now
        if routes.values.contains(where: { $0.connections.contains(where: \.mayHaveMore) }) { return 0 }
        var time = now.uptime + 1000
        if let wake = dialer.wakeTime { time = min(time, wake) }
        for route in routes.values {
            if let wake = route.dispatcher.wakeTime(at: now) { time = min(time, wake) }
        }
        return Int32(clamping: time - min(time, now.uptime))
    }
}

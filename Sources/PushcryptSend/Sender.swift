internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Sends the messages of an input on one thread, which waits for everything at once.
final class Sender {
    struct Settings {
        var dispatch = Dispatcher.Settings()
        /// To where messages go: those that do not say to the standard one.
        var routes: [PushEnvironment: any Route] = [:]
        var standardEnvironment = PushEnvironment.production
        var lines = RunLines.Settings()
        /// Whether what is not encrypted is sent again if APNs may have it.
        var repeatsClear = false
    }

    /// A route in use: who decides, and the connections.
    final class Line {
        let route: any Route
        let dispatcher: Dispatcher
        var connections: [Connection] = []
        var outages = Outages()

        init(_ route: any Route, _ dispatcher: Dispatcher) { (self.route, self.dispatcher) = (route, dispatcher) }

        func connection(_ link: Int) -> Connection? { connections.first { $0.link == link } }
    }

    let settings: Settings
    let lines: RunLines
    let dialer: Dialer
    let stop: StopSignal
    /// Nil without provider tokens.
    private let tokens: TokenSchedule?
    var routes: [PushEnvironment: Line] = [:]
    private var lookedAt: UInt64 = 0

    init(
        _ settings: Settings, token: ProviderToken?, _ lines: RunLines, stop: StopSignal
    ) throws {
        (self.settings, self.lines, self.stop) = (settings, lines, stop)
        dialer = try Dialer(isSecure: settings.routes.values.contains(where: \.destination.isSecure))
        tokens = token == nil ? nil : TokenSchedule()
        if let age = token?.takeKept(at: now, console) { tokens?.keep(age: age, at: now) }
    }

    var now: Moment { lines.now }
    var console: Console { lines.console }

    /// The messages that wait for something other than their turn, and how many are read ahead.
    var deferred: RunLines.Deferred {
        var all = RunLines.Deferred(readAhead: settings.dispatch.ahead)
        for line in routes.values {
            let (count, bytes) = line.dispatcher.deferred
            all.count += count
            all.bytes += bytes
            all.readAhead = max(all.readAhead, line.dispatcher.readAhead)
        }
        return all
    }
}

// MARK: The loop

extension Sender {
    /// Sends everything, and calls `tick` at least every second.
    func run(tick: () -> Void) throws {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { unsafe room.deallocate() }
        while true {
            lines.take(deferred: { deferred }, send)
            act()
            try lines.write(timeout: settings.dispatch.timeout)
            look()
            tick()
            if lines.isDone { break }
            try unsafe wait(reading: room)
        }
        look(isEnd: true)
        for line in routes.values {
            for connection in line.connections { end(connection, of: line) }
        }
        if let failure = lines.failure { throw failure }
    }

    /// Says which outages have begun or ended.
    private func look(isEnd: Bool = false) {
        let now = now
        guard isEnd || now.uptime >= lookedAt + 100 else { return }
        lookedAt = now.uptime
        for line in routes.values {
            let dispatcher = line.dispatcher
            let said = line.outages.update(
                dispatcher.troubles, attempts: dispatcher.requestsSent + dispatcher.connectionsOpened,
                waiting: dispatcher.unanswered, at: now.uptime)
            for outage in said {
                lines.events.say(outage, of: line.route.destination.authority, isJSON: lines.isLogJSON)
            }
        }
    }

    private func send(_ message: Message, to environment: PushEnvironment?) {
        message.mayRepeat = !message.push.isClear || settings.repeatsClear
        let environment = environment ?? settings.standardEnvironment
        if let line = routes[environment] { return line.dispatcher.add(message) }
        guard let route = settings.routes[environment] else { return }
        let line = Line(route, Dispatcher(settings.dispatch, tokens: tokens))
        routes[environment] = line
        line.dispatcher.add(message)
    }

    /// Reads and sends nothing new from now on.
    func halt() {
        lines.stop()
        for line in routes.values { line.dispatcher.stop() }
    }
}

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
        var lines = RunLines.Settings()
        /// Whether what is not encrypted is sent again if APNs may have it.
        var repeatsClear = false
    }

    let settings: Settings
    let lines: RunLines
    let token: ProviderToken?
    let tokens = TokenSchedule()
    let dialer: Dialer
    let stop: StopSignal
    var routes: [PushEnvironment: Route] = [:]
    private var lookedAt: UInt64 = 0

    init(
        _ settings: Settings, token: ProviderToken?, _ lines: RunLines, stop: StopSignal
    ) throws(CommandFailure) {
        (self.settings, self.token, self.lines, self.stop) = (settings, token, lines, stop)
        dialer = try Dialer()
        if let age = token?.takeKept(at: now, console) { tokens.keep(age: age, at: now) }
    }

    var now: Moment { lines.now }
    var console: Console { lines.console }

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
            lines.take(deferred: { deferred }, send)
            act()
            try lines.write(timeout: settings.dispatch.timeout)
            look()
            tick()
            if lines.isDone { break }
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
        if let failure = lines.failure { throw failure }
    }

    /// Says which outages have begun or ended.
    private func look(isEnd: Bool = false) {
        let now = now
        guard isEnd || now.uptime >= lookedAt + 100 else { return }
        lookedAt = now.uptime
        for route in routes.values {
            let dispatcher = route.dispatcher
            let said = route.outages.update(
                dispatcher.troubles, attempts: dispatcher.requestsSent + dispatcher.connectionsOpened,
                waiting: dispatcher.unanswered, at: now.uptime)
            for line in said {
                lines.events.say(line, of: route.destination.authority, isJSON: settings.lines.log == .json)
            }
        }
        if isEnd { lines.events.countLeft(at: now) }
    }

    /// Adds a single message, in place of an input.
    func add(_ line: SendLine) { lines.take(only: line, send) }

    private func send(_ delivery: Delivery, to environment: PushEnvironment?) {
        delivery.mayRepeat = !delivery.request.isClear || settings.repeatsClear
        route(to: environment ?? settings.standardEnvironment).dispatcher.add(delivery)
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
        lines.stop()
        for route in routes.values { route.dispatcher.stop() }
    }
}

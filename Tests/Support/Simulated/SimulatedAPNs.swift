import Seed

@testable import PushcryptSend

let accepted = PushAnswer(status: 200)
let expiredToken = PushAnswer(status: 403, reason: "ExpiredProviderToken")
let badToken = PushAnswer(status: 400, reason: "BadDeviceToken")
let busy = PushAnswer(status: 503, reason: "ServiceUnavailable")
let wrongKey = PushAnswer(status: 403, reason: "InvalidProviderToken")
let tooMany = PushAnswer(status: 429, reason: "TooManyRequests")
let internalError = PushAnswer(status: 500, reason: "InternalServerError")

/// APNs or a relay, the network and `Sender`'s loop around a dispatcher, in virtual time.
final class SimulatedAPNs {
    /// The server's view of a message.
    struct Request {
        /// In milliseconds since the start.
        let time: UInt64
        let number: Int
        let token: String
        let link: Int
        /// Its place on its connection, and among all, from 1.
        let place: Int
        let count: Int
        let generation: Int
        /// From 0 to 1, by the seed.
        let random: Double
        /// The messages of its request.
        let batch: Int
    }

    enum Reaction {
        /// `lost`: taken, and the connection breaks; `unread`: not taken, and it breaks; `noAnswer`: taken, and the stream is reset.
        case accept, lost, unread, goAway, refuse, silence, noAnswer
        case answer(PushAnswer, closes: Bool = false)
    }

    private struct Event {
        let time: UInt64
        let place: Int
        let action: () -> Void
    }

    /// HTTP/2's windows of a connection: the bytes that may be sent, and the bodies that are not wholly sent.
    private struct Flow {
        final class Body {
            let sent: Sent
            var left: Int
            var window: Int

            init(_ sent: Sent, _ left: Int, _ window: Int) {
                (self.sent, self.left, self.window) = (sent, left, window)
            }
        }

        var window: Int
        var bodies: [Body] = []
        var consumed = 0
    }

    static let start: UInt64 = 1_000_000
    static let wall: UInt64 = 1_800_000_000_000

    let dispatcher: Dispatcher
    var react: (Request) -> Reaction
    private var random: Seed
    private(set) var time: UInt64 = 0
    private var events: [Event] = []
    private var eventCount = 0
    private var input: [(at: UInt64, message: Message)] = []
    private var read = 0
    private(set) var live: [Int: [Int: Sent]] = [:]
    private var places: [Int: Int] = [:]
    /// Connections of which the server reads nothing more.
    private var draining: Set<Int> = []
    private var flows: [Int: Flow] = [:]
    private var outages = Outages()
    private var tries: [Int: Int] = [:]
    /// When the server is free again.
    private var free = 0.0
    /// How long this process did not run.
    private var absence: UInt64 = 0

    var roundTrip: UInt64 = 40
    var streams = 100
    var body = 900
    var lifetime: UInt64 = 3_600_000
    /// The HTTP/2 window of connections and streams; nil for no limit. An update comes after each body, or for half a window.
    var window: Int?
    var updatesLate = false
    /// The requests a second that the server takes.
    var speed: Double?
    var latency: () -> UInt64 = { 0 }
    /// Refusals come after the acceptances of their so many milliseconds.
    var bunch: UInt64 = 0
    /// When this process is stopped, and goes on.
    var stop: (UInt64, UInt64)?
    /// Whether a connection can be made, by the time.
    var canConnect: (UInt64) -> Bool = { _ in true }
    /// By how much the server's clock differs from the right time; nil if it does not say it.
    var ahead: ((UInt64) -> Int64)?
    /// By how much this machine's clock does.
    var wallError: (UInt64) -> Int64 = { _ in 0 }

    private(set) var requests: [Request] = []
    private(set) var connects: [UInt64] = []
    private(set) var sent = 0
    /// How often the server has taken each message, and when its acceptance was known.
    private(set) var taken: [Int: Int] = [:]
    private(set) var accepted: [Int: UInt64] = [:]
    private(set) var outcomes: [Int: Outcome] = [:]
    private(set) var said: [(at: UInt64, line: Outages.Line)] = []

    init(
        _ seed: UInt64, usesToken: Bool = true, _ change: (inout Dispatcher.Settings) -> Void = { _ in },
        react: @escaping (Request) -> Reaction
    ) {
        self.react = react
        random = Seed(seed)
        var settings = Dispatcher.Settings()
        var own = Seed(seed + 100)
        settings.random = { Double.random(in: 0...1, using: &own) }
        change(&settings)
        dispatcher = Dispatcher(settings, tokens: usesToken ? TokenSchedule() : nil)
    }

    /// Adds a message to the input, by default with its own device.
    func add(
        _ number: Int, to token: String? = nil, at time: UInt64 = 0, lifetime: UInt64? = nil, mayRepeat: Bool = true,
        topic: String = "app"
    ) {
        var push = PushToSend(deviceToken: token ?? "\(number)", topic: topic)
        push.expiration = lifetime.map { Self.wall / 1000 + $0 } ?? 0
        push.payload = Self.bytes(body)
        let message = Message(number: number, push: push, end: Self.start + time + self.lifetime)
        message.mayRepeat = mayRepeat
        input.append((time, message))
    }

    /// The same storage for all.
    private static func bytes(_ count: Int) -> ContiguousArray<UInt8> {
        count == small.count ? small : count == large.count ? large : .init(repeating: 0, count: count)
    }
    private static let small = ContiguousArray<UInt8>(repeating: 0, count: 900)
    private static let large = ContiguousArray<UInt8>(repeating: 0, count: 4096)

    var state: String {
        let others = outcomes.filter { accepted[$0.key] == nil }
        return "\(accepted.count) accepted of \(outcomes.count) answered, \(dispatcher.unanswered) wait, "
            + "\(requests.count) requests, \(connects.count) connects, \(dispatcher.troubles.map(\.kind)), "
            + "\(others.first.map { "\($0)" } ?? "")"
    }

    func mostConnects(from start: UInt64 = 0, before end: UInt64 = .max) -> Int {
        let times = connects.filter { $0 >= start && $0 < end }
        return times.map { first in times.count { $0 >= first && $0 < first + 60_000 } }.max() ?? 0
    }

    /// The messages a second that were accepted between two times.
    func rate(_ start: UInt64, _ end: UInt64) -> Double {
        Double(accepted.values.count { $0 >= start && $0 < end }) * 1000 / Double(end - start)
    }

    /// The longest time without an accepted message.
    func gap(from start: UInt64 = 0) -> UInt64 {
        let times = [start] + accepted.values.filter { $0 >= start }.sorted() + [time]
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    }
}

// MARK: The loop

extension SimulatedAPNs {
    private var now: Moment {
        Moment(uptime: Self.start + time - absence, wall: UInt64(Int64(Self.wall + time) + wallError(time)))
    }

    /// Goes on until a time since the start, or until `isEnough`; returns the time.
    @discardableResult
    func run(until end: UInt64, isEnough: () -> Bool = { false }) -> UInt64 {
        while !isEnough() {
            settle()
            var next = end
            if read < input.count, mayRead { next = min(next, max(time + 1, input[read].at)) }
            if let event = events.last { next = min(next, event.time) }
            if let wake = dispatcher.wakeTime(at: now) {
                let uptime = now.uptime
                next = min(next, max(time + 1, time + wake - min(wake, uptime)))
            }
            if let (begin, goesOn) = stop, begin <= next {
                // Bytes that came meanwhile are read first.
                if goesOn > next + 5000 { absence += goesOn - next }
                (next, stop) = (goesOn, nil)
            }
            guard next < end else {
                time = end
                settle()
                return end
            }
            time = max(time, next)
            while let event = events.last, event.time <= time { events.removeLast().action() }
        }
        return time
    }

    private var mayRead: Bool {
        ReadLimits(deferred: dispatcher.settings.aside).allow(
            held: (dispatcher.unanswered, 0), deferred: (dispatcher.deferred.count, 0), answers: (0, 0),
            window: dispatcher.readAhead)
    }

    private func settle() {
        while read < input.count, input[read].at <= time, mayRead {
            dispatcher.add(input[read].message)
            read += 1
            if read % 500 == 0 { act() }
        }
        act()
        for (message, outcome) in dispatcher.answers {
            precondition(outcomes[message.number] == nil, "\(message.number) is answered twice")
            outcomes[message.number] = outcome
            if case .accepted = outcome { accepted[message.number] = time }
        }
        dispatcher.answers = []
        let attempts = dispatcher.requestsSent + dispatcher.connectionsOpened
        said += outages.update(
            dispatcher.troubles, attempts: attempts, waiting: dispatcher.unanswered, at: Self.start + time
        ).map { (time, $0) }
    }

    private func act() {
        while let action = dispatcher.nextAction(at: now) {
            switch action {
            case .connect(let link):
                connects.append(time)
                after(2 * roundTrip) { [self] in
                    guard canConnect(time) else { return dispatcher.lost(link, "refused", at: now) }
                    live[link] = [:]
                    flows[link] = window.map { Flow(window: $0) }
                    dispatcher.connected(link)
                    dispatcher.allowed(streams, on: link)
                }
            case .send(let request, let link):
                sent += 1
                live[link]?[request.number] = request
                for message in request.messages { tries[message.number, default: 0] += 1 }
                guard let window else {
                    arrives(request, on: link)
                    continue
                }
                let length = request.messages.reduce(0) { $0 + $1.push.payload.count }
                flows[link]?.bodies.append(Flow.Body(request, length, window))
                write(link)
            case .cancel(let request, let link):
                live[link]?[request.number] = nil
                flows[link]?.bodies.removeAll { $0.sent === request }
                write(link)
                dispatcher.failed(request, wasRead: true, on: link, at: now)
            case .close(let link): (live[link], flows[link]) = (nil, nil)
            }
        }
    }

    /// As nghttp2 does: a body that the connection's window cuts goes behind the new ones.
    private func write(_ link: Int) {
        while let window = flows[link]?.window, window > 0,
            let index = flows[link]?.bodies.firstIndex(where: { $0.window > 0 }),
            let body = flows[link]?.bodies.remove(at: index)
        {
            let count = min(body.left, window, body.window)
            flows[link]?.window -= count
            body.left -= count
            body.window -= count
            if body.left > 0 { flows[link]?.bodies.append(body) } else { arrives(body.sent, on: link) }
            after(roundTrip) { [self] in
                body.window += count
                flows[link]?.consumed += count
                guard let flow = flows[link], !updatesLate || flow.consumed >= (self.window ?? 0) / 2 else { return }
                flows[link]?.window += flow.consumed
                flows[link]?.consumed = 0
                write(link)
            }
        }
        dispatcher.writes(flows[link]?.bodies.isEmpty ?? true, on: link)
    }
}

// MARK: The server

extension SimulatedAPNs {
    private func arrives(_ request: Sent, on link: Int) {
        var at = time + roundTrip / 2
        if let speed {
            free = max(Double(at), free + 1000 / speed)
            at = UInt64(free)
        }
        after(at - time) { [self] in arrive(request, on: link) }
    }

    private func arrive(_ request: Sent, on link: Int) {
        guard live[link]?[request.number] === request else { return }
        func refuse() { end(request, on: link) { $0.failed($1, wasRead: false, on: link, at: $2) } }
        if draining.contains(link) { return refuse() }
        var answers: [PushAnswer] = []
        for message in request.messages {
            places[link, default: 0] += 1
            let seen = Request(
                time: time, number: message.number, token: message.push.deviceToken, link: link,
                place: places[link] ?? 0, count: requests.count + 1, generation: request.token,
                random: .random(in: 0...1, using: &random), batch: request.messages.count)
            requests.append(seen)
            var reaction = react(seen)
            // A device of zeros is nobody's, and this request asks for the time only.
            if message.number == 0, case .accept = reaction { reaction = .answer(badToken) }
            switch reaction {
            case .accept: answers.append(take(message))
            case .goAway:
                answers.append(take(message))
                draining.insert(link)
                after(roundTrip / 2) { [self] in if live[link] != nil { dispatcher.goingAway(link) } }
            case .lost:
                _ = take(message)
                return lose(link)
            case .unread: return lose(link)
            case .refuse: return refuse()
            case .silence: return
            case .noAnswer:
                _ = take(message)
                return end(request, on: link) { $0.failed($1, wasRead: true, on: link, at: $2) }
            case .answer(let said, closes: true):
                answer(request, request.messages.map { _ in said }, on: link)
                return lose(link)
            case .answer(let said, closes: false): answers.append(said)
            }
        }
        answer(request, answers, on: link)
    }

    private func take(_ message: Message) -> PushAnswer {
        taken[message.number, default: 0] += 1
        return PushAnswer(status: 200)
    }

    private func answer(_ request: Sent, _ answers: [PushAnswer], on link: Int) {
        var answers = answers
        for index in answers.indices { answers[index].time = ahead.map { UInt64(Int64(Self.wall + time) + $0(time)) } }
        let pause = bunch > 0 && answers.first?.status != 200 ? bunch - time % bunch : 0
        end(request, on: link, after: latency() + pause) { [answers] in $0.answered($1, answers, on: link, at: $2) }
    }

    /// Tells the dispatcher about a request half a round trip later, unless it has ended by then.
    private func end(
        _ request: Sent, on link: Int, after pause: UInt64 = 0, _ tell: @escaping (Dispatcher, Sent, Moment) -> Void
    ) {
        after(roundTrip / 2 + pause) { [self] in
            if live[link]?.removeValue(forKey: request.number) != nil { tell(dispatcher, request, now) }
        }
    }

    func lose(_ link: Int) {
        draining.insert(link)
        after(roundTrip / 2) { [self] in
            guard let open = live.removeValue(forKey: link) else { return }
            flows[link] = nil
            for request in open.values.sorted(by: { $0.number < $1.number }) {
                dispatcher.failed(request, wasRead: true, on: link, at: now)
            }
            dispatcher.lost(link, "it closed the connection", at: now)
        }
    }

    /// Loses every connection at a time.
    func loseAll(at time: UInt64) { after(time) { [self] in for link in live.keys.sorted() { lose(link) } } }

    /// Adds an event; the next one is the last of the list.
    private func after(_ pause: UInt64, _ action: @escaping () -> Void) {
        eventCount += 1
        let event = Event(time: time + pause, place: eventCount, action: action)
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            let other = events[middle]
            if (other.time, other.place) > (event.time, event.place) { low = middle + 1 } else { high = middle }
        }
        events.insert(event, at: low)
    }
}

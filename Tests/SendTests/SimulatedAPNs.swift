import Seed
import Testing

@testable import PushcryptSend

let busy = APNsAnswer(status: 503, reason: "ServiceUnavailable")
let wrongKey = APNsAnswer(status: 403, reason: "InvalidProviderToken")

/// APNs, the network and `Sender`'s loop around a dispatcher, in virtual time.
final class SimulatedAPNs {
    /// What APNs sees.
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
    }

    enum Reaction {
        case accept, lost, unread, goAway, refuse, silence
        case answer(APNsAnswer, closes: Bool = false)
    }

    private struct Event {
        let time: UInt64
        let place: Int
        let action: () -> Void
    }

    private static let start: UInt64 = 1_000_000
    private static let wall: UInt64 = 1_800_000_000_000
    private static let roundTrip: UInt64 = 40

    let dispatcher: Dispatcher
    private let react: (Request) -> Reaction
    private var random: Seed
    private var time: UInt64 = 0
    private var events: [Event] = []
    private var eventCount = 0
    private var input: [(at: UInt64, delivery: Delivery)] = []
    private var read = 0
    private var live: [Int: [Int: Delivery]] = [:]
    private var places: [Int: Int] = [:]
    /// Connections of which APNs reads nothing more.
    private var draining: Set<Int> = []
    private var outages = Outages()

    var streams = 100
    /// Whether a connection can be made, by the time.
    var canConnect: (UInt64) -> Bool = { _ in true }
    /// By how much APNs' clock differs from the right time; nil if it does not say it.
    var ahead: ((UInt64) -> Int64)?
    /// By how much this machine's clock does.
    var wallError: (UInt64) -> Int64 = { _ in 0 }

    private(set) var requests: [Request] = []
    private(set) var connects: [UInt64] = []
    /// How often APNs has taken each message, and when its acceptance was known.
    private(set) var taken: [Int: Int] = [:]
    private(set) var accepted: [Int: UInt64] = [:]
    private(set) var outcomes: [Int: Outcome] = [:]
    private(set) var said: [(at: UInt64, line: Outages.Line)] = []

    init(_ seed: UInt64, _ react: @escaping (Request) -> Reaction) {
        self.react = react
        random = Seed(seed)
        var settings = Dispatcher.Settings()
        var own = Seed(seed + 100)
        settings.policy = RetryPolicy(random: { Double.random(in: 0...1, using: &own) })
        dispatcher = Dispatcher(settings)
    }

    /// Adds a message to the input, by default with its own device.
    func add(
        _ number: Int, to token: String? = nil, at time: UInt64 = 0, lifetime: UInt64? = nil, mayRepeat: Bool = true
    ) {
        let expiration = lifetime.map { Self.wall / 1000 + $0 } ?? 0
        let delivery = Delivery(
            number: number,
            request: PushToSend(deviceToken: token ?? "\(number)", topic: "app", expiration: expiration),
            end: Self.start + time + 3_600_000)
        delivery.mayRepeat = mayRepeat
        input.append((time, delivery))
    }

    var state: String {
        let others = outcomes.filter { accepted[$0.key] == nil }
        return "\(accepted.count) accepted of \(outcomes.count) answered, \(dispatcher.unanswered) wait, "
            + "\(requests.count) requests, \(connects.count) connects, \(dispatcher.troubles.map(\.kind)), "
            + "\(others.first.map { "\($0)" } ?? "")"
    }

    func mostConnects(from start: UInt64 = 0, before end: UInt64) -> Int {
        let times = connects.filter { $0 >= start && $0 < end }
        return times.map { first in times.count { $0 >= first && $0 < first + 60_000 } }.max() ?? 0
    }

    private var now: Moment {
        Moment(uptime: Self.start + time, wall: UInt64(Int64(Self.wall + time) + wallError(time)))
    }

    /// Goes on until a time since the start, or until `isEnough`; returns the time.
    @discardableResult
    func run(until end: UInt64, isEnough: () -> Bool = { false }) -> UInt64 {
        while !isEnough() {
            settle()
            var next = end
            if read < input.count, mayRead { next = min(next, max(time + 1, input[read].at)) }
            if let event = events.last { next = min(next, event.time) }
            if let wake = dispatcher.wakeTime(at: now) { next = min(next, max(time + 1, wake - Self.start)) }
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
        ReadLimits().allow(held: (dispatcher.unanswered, 0), deferred: dispatcher.deferred, answers: (0, 0))
    }

    private func settle() {
        while read < input.count, input[read].at <= time, mayRead {
            dispatcher.add(input[read].delivery)
            read += 1
            if read % 500 == 0 { act() }
        }
        act()
        for (delivery, outcome) in dispatcher.answers {
            #expect(outcomes[delivery.number] == nil, "\(delivery.number) is answered twice")
            outcomes[delivery.number] = outcome
            if case .accepted = outcome { accepted[delivery.number] = time }
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
                after(2 * Self.roundTrip) { [self] in
                    guard canConnect(time) else { return dispatcher.connectionFailed(link, "refused", at: now) }
                    live[link] = [:]
                    dispatcher.connected(link)
                    dispatcher.allowed(streams, on: link)
                }
            case .send(let delivery, let link):
                live[link]?[delivery.number] = delivery
                let generation = delivery.tokenGeneration
                after(Self.roundTrip / 2) { [self] in arrive(delivery, generation, on: link) }
            case .cancel(let delivery, let link):
                live[link]?[delivery.number] = nil
                dispatcher.failed(delivery, wasRead: true, on: link, at: now)
            case .close(let link): live[link] = nil
            }
        }
    }

    private func arrive(_ delivery: Delivery, _ generation: Int, on link: Int) {
        guard live[link]?[delivery.number] === delivery else { return }
        if draining.contains(link) {
            return end(delivery, on: link) { $0.failed($1, wasRead: false, on: link, at: $2) }
        }
        places[link, default: 0] += 1
        let request = Request(
            time: time, number: delivery.number, token: delivery.request.deviceToken, link: link,
            place: places[link] ?? 0, count: requests.count + 1, generation: generation,
            random: .random(in: 0...1, using: &random))
        requests.append(request)
        // A device of zeros is nobody's, and this request asks for the time only.
        let isProbe = delivery.number == 0
        switch react(request) {
        case .accept where isProbe: answer(delivery, badToken, on: link)
        case .accept: take(delivery, on: link)
        case .goAway:
            take(delivery, on: link)
            draining.insert(link)
            after(Self.roundTrip / 2) { [self] in
                if live[link] != nil { dispatcher.goingAway(link) }
            }
        case .lost:
            taken[delivery.number, default: 0] += 1
            lose(link)
        case .unread: lose(link)
        case .refuse: end(delivery, on: link) { $0.failed($1, wasRead: false, on: link, at: $2) }
        case .silence: break
        case .answer(let said, let closes):
            answer(delivery, said, on: link)
            if closes { lose(link) }
        }
    }

    private func take(_ delivery: Delivery, on link: Int) {
        taken[delivery.number, default: 0] += 1
        answer(delivery, APNsAnswer(status: 200), on: link)
    }

    private func answer(_ delivery: Delivery, _ answer: APNsAnswer, on link: Int) {
        var answer = answer
        answer.time = ahead.map { UInt64(Int64(Self.wall + time) + $0(time)) }
        end(delivery, on: link) { $0.answered($1, answer, on: link, at: $2) }
    }

    /// Tells the dispatcher about a request half a round trip later, unless it has ended by then.
    private func end(_ delivery: Delivery, on link: Int, _ tell: @escaping (Dispatcher, Delivery, Moment) -> Void) {
        after(Self.roundTrip / 2) { [self] in
            guard live[link]?.removeValue(forKey: delivery.number) != nil else { return }
            tell(dispatcher, delivery, now)
        }
    }

    private func lose(_ link: Int) {
        draining.insert(link)
        after(Self.roundTrip / 2) { [self] in
            guard let open = live.removeValue(forKey: link) else { return }
            for delivery in open.values { dispatcher.failed(delivery, wasRead: true, on: link, at: now) }
            dispatcher.lost(link, "it closed the connection", at: now)
        }
    }

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

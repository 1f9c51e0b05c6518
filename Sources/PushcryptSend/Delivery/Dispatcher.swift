/// Decides what is sent when, on which connection, and how each message ends. It does no input or output, and reads no clock.
///
/// The caller reports what happened, then takes actions with `nextAction` until there are none, and the answers. Every message that
/// is added is answered exactly once. A fault delays what it concerns: a message, a device, a topic, the login, or the route, which is
/// a host with a login. A dispatcher is one route. No two parts ask the same question: `Gate` whether to try at all, `Dialling` whether
/// to connect, `Window` how many requests are open, `Budget` how many of them may be repeats.
final class Dispatcher {
    struct Settings {
        /// The most connections at a time.
        var connections = 4
        /// How long an answer may take before its connection no longer counts, in milliseconds.
        var timeout: UInt64 = 30_000
        /// The most requests on a connection, whatever it allows.
        var mostStreams = Int.max
        /// The most messages of a request, and their bytes.
        var mostMessages = 1
        var mostBytes = Int.max
        /// The messages that are read ahead, at least, and those that may wait for something else.
        var ahead = 2000
        var aside = 20_000
        /// The name of the server, for people.
        var peer = "APNs"
        /// Returns a number from 0 to 1.
        var random: () -> Double = { Double.random(in: 0...1) }
    }

    enum Action {
        case connect(Int)
        case send(Sent, on: Int)
        /// Ends a request that is lost; the caller then reports `failed`.
        case cancel(Sent, on: Int)
        /// Closes a connection that has no request, and is forgotten.
        case close(Int)
    }

    /// The time between looks for messages and requests whose time has ended, and between questions for the time.
    static let sweepInterval: UInt64 = 250
    private static let questionInterval: UInt64 = 12_000

    let settings: Settings
    /// Nil if requests carry no provider token.
    let tokens: TokenSchedule?
    var clock = ServerClock()
    var window = Window()
    var budget = Budget()
    var dialling: Dialling
    var route = Gate(enough: 20, subjects: 10)
    /// Of the login and of topics.
    var gates: [Place: Gate] = [.login: Gate(enough: 20, subjects: 1)]
    var waiting = Waiting()
    var links: [Link] = []
    /// The most messages of the next request: fewer after a refusal for which one message or their number may be the reason.
    var batchSize: Int
    /// The message that asks for the server's time, and when another may ask.
    var question: Message?
    private var questionAt: UInt64 = 0
    /// Decisions since the last that was none.
    var decisionsInARow = 0
    /// When the newest request that was answered went out.
    var answeredSince: UInt64 = 0
    private var nextSweep: UInt64 = 0
    private var overdue: [(sent: Sent, link: Int)] = []
    /// Whether the next attempt at a gate is the newest message: the oldest ones may all be bad.
    private var triesNewest = true

    /// The messages that have ended since the caller took them.
    var answers: [(message: Message, outcome: Outcome)] = []
    private(set) var isStopped = false
    /// The messages that are not answered yet.
    private(set) var unanswered = 0
    private(set) var connectionsOpened = 0
    private(set) var requestsSent = 0

    init(_ settings: Settings, tokens: TokenSchedule? = nil) {
        (self.settings, self.tokens) = (settings, tokens)
        batchSize = settings.mostMessages
        dialling = Dialling(random: settings.random)
    }

    /// The requests that are out.
    var inFlight: Int { links.reduce(0) { $0 + $1.requests.count } }

    /// The messages that wait for something other than their turn, and their bytes.
    var deferred: (count: Int, bytes: Int) { waiting.deferred }

    /// The messages to read ahead: more where the connections take more.
    var readAhead: Int {
        max(settings.ahead, 2 * settings.mostMessages * links.reduce(0) { $0 + ($1.capacity ?? 0) })
    }

    /// Whether there is a connection that the other side has not ended.
    var isConnected: Bool { links.contains(where: \.isOpen) }
}

// MARK: Messages

extension Dispatcher {
    /// Adds a message, which must be new.
    func add(_ message: Message) {
        unanswered += 1
        if isStopped { answer(message, .notSent) } else { waiting.ready.append(message) }
    }

    /// Sends nothing new from now on: messages that are not under way are answered, and the others when they end.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        for message in waiting.removeAll() { giveUp(message) }
    }

    func answer(_ message: Message, _ outcome: Outcome) {
        unanswered -= 1
        answers.append((message, outcome))
    }

    func hasExpired(_ message: Message, _ now: Moment) -> Bool { message.hasExpired(at: clock.time(now)) }

    /// Whether its time has ended. By a clock that the server has not confirmed, an expiration has not come.
    private func isOver(_ message: Message, _ now: Moment) -> Bool {
        now.uptime >= message.end || clock.isConfirmed && hasExpired(message, now)
    }

    /// Answers a message whose time has ended.
    private func end(_ message: Message, _ now: Moment) {
        if clock.isConfirmed, hasExpired(message, now) {
            answer(message, .expired(message.setback))
        } else {
            giveUp(message)
        }
    }

    /// Answers a message that is not sent again.
    private func giveUp(_ message: Message) {
        switch message.setback {
        case .answer(let said):
            answer(message, isStopped ? .stopped(said) : said.concernsLogin ? .refused(said) : .gaveUp(said))
        case .unknown: answer(message, .unknown(message.hold))
        case .unread, nil:
            if isStopped {
                answer(message, .notSent)
            } else if let refusal = message.hold {
                answer(message, .held(refusal))
            } else if let why = dialling.why {
                answer(message, .unreachable("no connection to \(settings.peer): \(why)"))
            } else {
                answer(message, .notTried)
            }
        }
    }

    /// Sends a message again after a pause, unless its time ends before.
    func retry(_ message: Message, after pause: UInt64, _ now: Moment) {
        message.due = now.uptime + pause
        guard !isStopped, message.due < message.end else { return giveUp(message) }
        waiting.later.insert(message, due: min(message.due, now.uptime + message.timeLeft(at: clock.time(now))))
    }

    /// Sends a message as soon as possible.
    func again(_ message: Message) { if isStopped { giveUp(message) } else { waiting.first(message) } }

    /// Keeps a message until its topic or the login is accepted, or the time is known.
    func hold(_ message: Message, _ place: Place) {
        guard !isStopped else { return giveUp(message) }
        message.hold = gates[place]?.why
        waiting.hold(message, place)
    }

    private func wakeDue(_ now: Moment) {
        while let message = waiting.later.popDue(at: now.uptime) {
            if isOver(message, now) {
                end(message, now)
            } else {
                waiting.first(message)
            }
        }
    }
}

// MARK: What is next

extension Dispatcher {
    /// Returns the next action to take now; nil if there is none.
    func nextAction(at now: Moment) -> Action? {
        clock.check(now)
        sweep(now)
        wakeDue(now)
        if let (sent, link) = overdue.popLast() { return .cancel(sent, on: link) }
        if let action = nextRequest(now) { return action }
        if let index = links.firstIndex(where: { $0.isDraining && $0.requests.isEmpty }) {
            let link = links.remove(at: index)
            judge(link, link.isBlocked ? "it allows no request" : "it ended the connection", now)
            return .close(link.number)
        }
        guard needsLink(now) else { return nil }
        dialling.tries(now)
        connectionsOpened += 1
        links.append(Link(number: connectionsOpened, isProven: tokens == nil, at: now))
        return .connect(connectionsOpened)
    }

    /// The requests that are open on connections which answer.
    private func open(_ now: Moment) -> Int { links.reduce(0) { $0 + ($1.isStalled(now) ? 0 : $1.requests.count) } }

    /// The most requests on one connection.
    private func share(_ now: Moment) -> Int {
        window.share(of: dialling.allows(now) ? settings.connections : links.count(where: \.isOpen))
    }

    private func nextRequest(_ now: Moment) -> Action? {
        let open = open(now)
        let share = share(now)
        guard window.allows(open), route.allows(now),
            let index = links.firstIndex(where: { $0.isOpen && !$0.isFull(share) && !$0.isStalled(now) })
        else { return nil }
        let batch = take(now, open)
        guard !batch.isEmpty else { return nil }
        let sent = Sent(batch, token: tokens?.current(at: now) ?? 0, at: now.uptime)
        route.tries(now)
        if batch.contains(where: \.mayHaveArrived) { budget.add(-1) }
        requestsSent += 1
        links[index].token = links[index].token ?? sent.token
        if links[index].requests.isEmpty { links[index].heardAt = now.uptime }
        links[index].requests[sent.number] = sent
        return .send(sent, on: links[index].number)
    }

    /// Takes the messages of the next request.
    private func take(_ now: Moment, _ open: Int) -> [Message] {
        if let probe = probe(now) { return [probe] }
        var batch: [Message] = []
        var size = 0
        let allowsRepeats = budget.allows(now)
        while batch.count < batchSize {
            let isRepeat = allowsRepeats && !waiting.again.isEmpty
            guard let next = isRepeat ? waiting.again.first : waiting.ready.first,
                batch.isEmpty
                    || size + next.push.payload.count < settings.mostBytes
                        && next.usesOtherKey == batch[0].usesOtherKey,
                let message = isRepeat ? waiting.again.popFirst() : waiting.ready.popFirst()
            else { break }
            guard mayGo(message, now) else { continue }
            if let place = place(of: message) {
                hold(message, place)
            } else {
                batch.append(message)
                size += message.push.payload.count + 1
            }
        }
        // As in Nagle's algorithm: what is not full waits for the answer to what is under way.
        if open > 0, batch.count < batchSize, size < settings.mostBytes / 2 {
            for message in batch.reversed() { waiting.first(message) }
            return []
        }
        // A message may just have turned out to wait for the time.
        return batch.isEmpty ? probe(now).map { [$0] } ?? [] : batch
    }

    /// A message that shows whether its login or topic is accepted again, or a question for the time.
    private func probe(_ now: Moment) -> Message? {
        guard !waiting.held.isEmpty else { return nil }
        if waiting.held[.clock]?.isEmpty == false {
            if clock.isConfirmed {
                waiting.release(.clock)
            } else if inFlight == 0, question == nil, now.uptime >= questionAt {
                questionAt = now.uptime + Self.questionInterval
                let topic = waiting.held[.clock]?.first?.push.topic
                question = Message(number: 0, push: .harmless(topic: topic), end: .max)
                return question
            }
        }
        for (place, gate) in gates where gate.isClosed {
            // When reading has stopped, one at a time without a pause: what could open it may stand behind what cannot.
            let isFull =
                place != .login && inFlight == 0
                && waiting.held[place].map { $0.count >= settings.aside - settings.ahead } == true
            guard gate.allows(now) || isFull else { continue }
            while let message = triesNewest ? waiting.held[place]?.popLast() : waiting.held[place]?.popFirst() {
                guard mayGo(message, now) else { continue }
                triesNewest.toggle()
                gates[place]?.tries(now)
                return message
            }
        }
        return nil
    }

    /// Where a message must wait; nil if it need not.
    func place(of message: Message) -> Place? {
        let topic = Place.topic(message.push.topic)
        return gates[.login]?.isClosed == true ? .login : gates[topic]?.isClosed == true ? topic : nil
    }

    /// Whether a message can be sent now; otherwise it is answered, or waits elsewhere.
    private func mayGo(_ message: Message, _ now: Moment) -> Bool {
        if isOver(message, now) {
            end(message, now)
        } else if hasExpired(message, now) {
            hold(message, .clock)
        } else if case let until = waiting.busyUntil(message.push.deviceToken), until > now.uptime {
            retry(message, after: until - now.uptime, now)
        } else {
            return true
        }
        return false
    }

    /// Whether another connection is needed: every one has all the requests that it may have, or is stuck.
    private func needsLink(_ now: Moment) -> Bool {
        guard !isStopped, dialling.allows(now), window.allows(open(now)) else { return false }
        let usable = links.filter { !$0.isDraining && !$0.isLate }
        guard usable.count < settings.connections else { return false }
        let share = share(now)
        let areFull = usable.allSatisfy {
            $0.isStalled(now) || $0.isConnected && $0.capacity != nil && $0.isProven && $0.isFull(share)
        }
        guard areFull else { return false }
        return !waiting.ready.isEmpty || !waiting.again.isEmpty
            || waiting.held.contains { !$0.value.isEmpty && gates[$0.key]?.allows(now) ?? true }
    }

    /// Ends what is over: messages, and requests that are lost.
    private func sweep(_ now: Moment) {
        guard now.uptime >= nextSweep else { return }
        nextSweep = now.uptime + Self.sweepInterval
        for message in waiting.remove(where: { isOver($0, now) }) { end(message, now) }
        waiting.forgetPauses(before: now.uptime)
        overdue = []
        for index in links.indices {
            links[index].blockedSince = links[index].isBlocked ? links[index].blockedSince ?? now.uptime : nil
            if let since = links[index].blockedSince, now.uptime >= since + settings.timeout {
                links[index].isDraining = true
            }
            // Lost is what was sent before something that was answered elsewhere. A late answer counts while its connection lives; a run
            // that is asked to end waits less.
            let patience = links[index].isStalled(now) ? 0 : settings.timeout
            links[index].isLate = false
            for sent in links[index].requests.values {
                if now.uptime >= sent.at + settings.timeout { links[index].isLate = true }
                let longest = (isStopped ? 1 : 3) * settings.timeout
                guard answeredSince > sent.at + patience || now.uptime >= sent.at + longest else { continue }
                overdue.append((sent, links[index].number))
                links[index].isDraining = true
            }
        }
    }

    /// The uptime at which `nextAction` should be called again if nothing happens before; nil if nothing is left to do.
    func wakeTime(at now: Moment) -> UInt64? {
        var times: [UInt64] = []
        if let due = waiting.later.firstDue { times.append(due) }
        if !waiting.ready.isEmpty, dialling.next > now.uptime { times.append(dialling.next) }
        if unanswered > 0 || links.contains(where: { !$0.requests.isEmpty }) { times.append(nextSweep) }
        return times.min()
    }
}

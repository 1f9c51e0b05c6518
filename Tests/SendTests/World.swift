import Testing

@testable import PushcryptSend
@testable import Simulated

/// A dispatcher with a clock and the far end in the hands of a test.
final class World {
    var now = Moment(uptime: 1_000_000, wall: 1_800_000_000_000)
    let dispatcher: Dispatcher
    private(set) var sent: [(request: Sent, link: Int)] = []
    private(set) var opened: [Int] = []
    private(set) var closed: [Int] = []
    private var count = 0
    /// The streams that a new connection may open; nil to leave it dialling.
    var streams: Int? = 100

    init(usesToken: Bool = true, _ change: (inout Dispatcher.Settings) -> Void = { _ in }) {
        var settings = Dispatcher.Settings()
        settings.random = { 0 }
        change(&settings)
        dispatcher = Dispatcher(settings, tokens: usesToken ? TokenSchedule() : nil)
    }

    @discardableResult
    func add(
        token: String = "aa", topic: String = "app", bytes: Int = 0, expiration: UInt64 = 0,
        retryFor: UInt64 = 3_600_000
    ) -> Message {
        count += 1
        var push = PushToSend(deviceToken: token, topic: topic, expiration: expiration)
        push.payload = .init(repeating: 0x20, count: bytes)
        let message = Message(number: count, push: push, end: now.uptime + retryFor)
        dispatcher.add(message)
        return message
    }

    /// Adds a message, and carries out the actions.
    @discardableResult
    func send(
        token: String = "aa", topic: String = "app", expiration: UInt64 = 0, retryFor: UInt64 = 3_600_000
    ) -> Message {
        defer { settle() }
        return add(token: token, topic: topic, expiration: expiration, retryFor: retryFor)
    }

    /// Carries out the actions until there are none.
    func settle() {
        while let action = dispatcher.nextAction(at: now) {
            switch action {
            case .connect(let link):
                opened.append(link)
                guard let streams else { continue }
                dispatcher.connected(link)
                dispatcher.allowed(streams, on: link)
            case .send(let request, let link): sent.append((request, link))
            case .cancel(let request, let link):
                sent.removeAll { $0.request === request }
                dispatcher.failed(request, wasRead: true, on: link, at: now)
            case .close(let link): closed.append(link)
            }
        }
    }

    func pass(_ milliseconds: UInt64) {
        now.uptime += milliseconds
        now.wall += milliseconds
        settle()
    }

    /// Answers the oldest request, or that of a message, for all its messages.
    func answer(_ answer: PushAnswer, _ message: Message? = nil) {
        let index = sent.firstIndex { sent in
            message.map { one in sent.request.messages.contains { $0 === one } } ?? true
        }
        guard let index else {
            Issue.record("there is no request to answer")
            return
        }
        let (request, link) = sent.remove(at: index)
        dispatcher.answered(request, request.messages.map { _ in answer }, on: link, at: now)
        settle()
    }

    func fail(wasRead: Bool) {
        guard !sent.isEmpty else {
            Issue.record("there is no request that could fail")
            return
        }
        let (request, link) = sent.removeFirst()
        dispatcher.failed(request, wasRead: wasRead, on: link, at: now)
        settle()
    }

    func lose(_ link: Int) {
        for (request, _) in sent.filter({ $0.link == link }) {
            dispatcher.failed(request, wasRead: true, on: link, at: now)
        }
        sent.removeAll { $0.link == link }
        dispatcher.lost(link, "gone", at: now)
    }

    /// The numbers of the messages that are under way.
    var numbers: [Int] { sent.flatMap { $0.request.messages.map(\.number) } }
    var outcomes: [Outcome] { dispatcher.answers.map(\.outcome) }
}

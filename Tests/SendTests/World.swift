import Testing

@testable import PushcryptSend

let accepted = APNsAnswer(status: 200)
let expiredToken = APNsAnswer(status: 403, reason: "ExpiredProviderToken")
let badToken = APNsAnswer(status: 400, reason: "BadDeviceToken")
let internalError = APNsAnswer(status: 500, reason: "InternalServerError")

/// A dispatcher with a clock and the far end in the hands of a test.
final class World {
    var now = Moment(uptime: 1_000_000, wall: 1_800_000_000_000)
    let dispatcher: Dispatcher
    private(set) var sent: [(delivery: Delivery, link: Int)] = []
    private(set) var opened: [Int] = []
    private(set) var closed: [Int] = []
    private var count = 0
    /// What a connection may have open once it is made; nil to leave it dialling.
    var streams: Int? = 100

    init(_ change: (inout Dispatcher.Settings) -> Void = { _ in }) {
        var settings = Dispatcher.Settings()
        settings.policy = RetryPolicy(random: { 0 })
        change(&settings)
        dispatcher = Dispatcher(settings)
    }

    @discardableResult
    func add(
        token: String = "aa", topic: String = "app", expiration: UInt64 = 0, retryFor: UInt64 = 3_600_000
    ) -> Delivery {
        count += 1
        let delivery = Delivery(
            number: count, request: PushToSend(deviceToken: token, topic: topic, expiration: expiration),
            end: now.uptime + retryFor)
        dispatcher.add(delivery)
        return delivery
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
            case .send(let delivery, let link): sent.append((delivery, link))
            case .cancel(let delivery, let link):
                sent.removeAll { $0.delivery === delivery }
                dispatcher.failed(delivery, wasRead: true, on: link, at: now)
            case .close(let link): closed.append(link)
            }
        }
    }

    func pass(_ milliseconds: UInt64) {
        now.uptime += milliseconds
        now.wall += milliseconds
        settle()
    }

    /// Answers the oldest request, or that of a delivery.
    func answer(_ answer: APNsAnswer, _ delivery: Delivery? = nil) {
        guard let index = sent.firstIndex(where: { delivery == nil || $0.delivery === delivery }) else {
            Issue.record("there is no request to answer")
            return
        }
        let (delivery, link) = sent.remove(at: index)
        dispatcher.answered(delivery, answer, on: link, at: now)
        settle()
    }

    func fail(wasRead: Bool) {
        guard !sent.isEmpty else {
            Issue.record("there is no request that could fail")
            return
        }
        let (delivery, link) = sent.removeFirst()
        dispatcher.failed(delivery, wasRead: wasRead, on: link, at: now)
        settle()
    }

    func lose(_ link: Int) {
        for (delivery, _) in sent.filter({ $0.link == link }) {
            dispatcher.failed(delivery, wasRead: true, on: link, at: now)
        }
        sent.removeAll { $0.link == link }
        dispatcher.lost(link, "gone", at: now)
    }

    var outcomes: [Outcome] { dispatcher.answers.map(\.outcome) }
}

import Seed
import Testing

@testable import PushcryptSend
@testable import Simulated

/// Random orders of messages, answers, faults and steps of the clock.
@Suite struct DispatcherOrderTests {
    @Test func everyMessageIsAnsweredExactlyOnce() {
        let runs = 500
        for most in [1, 3, 45] { for seed in 0..<UInt64(runs) { run(seed, most) } }
        print("interleavings: deliveries to APNs and relays: \(3 * runs)")
    }

    /// Every order of four events with two messages.
    @Test func everyShortOrderEnds() {
        var runs = 0
        let most = 4
        let count = Step.allCases.count
        for code in 0..<Int((0..<most).reduce(1) { total, _ in total * count }) {
            var rest = code
            let steps = (0..<most).map { _ in
                defer { rest /= count }
                return Step.allCases[rest % count]
            }
            check(steps)
            runs += 1
        }
        print("interleavings: short orders of deliveries to APNs: \(runs)")
    }

    private enum Step: CaseIterable { case connect, refuse, accept, busy, login, lose, wait }

    private func check(_ steps: [Step]) {
        let world = World { $0.connections = 2 }
        world.streams = nil
        world.add(token: "aa", retryFor: 20_000)
        world.add(token: "bb", retryFor: 20_000)
        var dialled = 0
        func settle() {
            world.settle()
            #expect(
                Set(world.numbers).count == world.numbers.count,
                "\(steps): a message is under way twice")
        }
        settle()
        for step in steps + [.wait, .wait, .wait] {
            switch step {
            case .connect, .refuse:
                guard dialled < world.opened.count else { break }
                dialled += 1
                if step == .connect {
                    world.dispatcher.connected(dialled)
                    world.dispatcher.allowed(2, on: dialled)
                } else {
                    world.dispatcher.lost(dialled, "no", at: world.now)
                }
            case .accept where !world.sent.isEmpty: world.answer(accepted)
            case .busy where !world.sent.isEmpty: world.answer(internalError)
            case .login where !world.sent.isEmpty: world.answer(PushAnswer(status: 403, reason: "InvalidProviderToken"))
            case .lose where !world.sent.isEmpty: if let link = world.sent.first?.link { world.lose(link) }
            case .wait: world.pass(7000)
            default: break
            }
            settle()
        }
        // A request without an answer ends after three times the timeout.
        world.pass(91_000)
        settle()
        world.pass(300)
        settle()
        #expect(world.dispatcher.unanswered == 0 && world.outcomes.count == 2, "\(steps)")
    }

    private func run(_ seed: UInt64, _ most: Int) {
        var random = Seed(seed)
        let usesToken = Bool.random(using: &random) && most == 1
        let world = World(usesToken: usesToken) {
            $0.mostMessages = most
            $0.connections = Int.random(in: 1...4, using: &random)
        }
        var added: [Int] = []
        var live: [(request: Sent, link: Int)] = []
        var open: Set<Int> = []
        var dialling: Set<Int> = []
        let dispatcher = world.dispatcher
        func act() {
            var actions = 0
            while let action = dispatcher.nextAction(at: world.now) {
                actions += 1
                guard actions < 10_000 else {
                    Issue.record("seed \(seed): the actions do not end")
                    return
                }
                switch action {
                case .connect(let link): dialling.insert(link)
                case .send(let request, let link):
                    #expect(open.contains(link), "seed \(seed)")
                    for message in request.messages {
                        let isLive = live.contains { $0.request.messages.contains { $0 === message } }
                        #expect(!isLive, "seed \(seed): it is under way")
                        let hasEnded = message.number > 0 && world.now.uptime >= message.end
                        #expect(!hasEnded && !dispatcher.hasExpired(message, world.now), "seed \(seed): it is over")
                    }
                    live.append((request, link))
                case .cancel(let request, let link):
                    live.removeAll { $0.request === request }
                    dispatcher.failed(request, wasRead: .random(using: &random), on: link, at: world.now)
                case .close(let link):
                    #expect(!live.contains { $0.link == link }, "seed \(seed): a request is under way")
                    open.remove(link)
                }
            }
        }
        func lose(_ link: Int) {
            for (request, _) in live.filter({ $0.link == link }) {
                dispatcher.failed(request, wasRead: .random(using: &random), on: link, at: world.now)
            }
            live.removeAll { $0.link == link }
            open.remove(link)
            dispatcher.lost(link, "lost", at: world.now)
        }
        let answers = [
            accepted, accepted, accepted, expiredToken, badToken, internalError, PushAnswer(status: 503),
            PushAnswer(status: 429, reason: "TooManyRequests"), PushAnswer(status: 410, reason: "Unregistered"),
            PushAnswer(status: 403, reason: "InvalidProviderToken"), PushAnswer(status: 302),
            PushAnswer(status: 429, reason: "TooManyProviderTokenUpdates", retryAfter: 2000),
            PushAnswer(status: 400, reason: "IdleTimeout"),
        ]
        for _ in 0..<150 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                let seconds = UInt64.random(in: 0...60, using: &random)
                let expiration = Bool.random(using: &random) ? 0 : world.now.wall / 1000 + seconds
                let message = world.add(
                    token: "\(Int.random(in: 0..<5, using: &random))", topic: Bool.random(using: &random) ? "app" : "b",
                    expiration: expiration, retryFor: .random(in: 1...100_000, using: &random))
                message.mayRepeat = Int.random(in: 0..<5, using: &random) > 0
                added.append(message.number)
            case 6..<8:
                guard let link = dialling.randomElement(using: &random) else { break }
                dialling.remove(link)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    dispatcher.lost(
                        link, "no", at: world.now)
                } else {
                    open.insert(link)
                    dispatcher.connected(link)
                    dispatcher.allowed(.random(in: 0...5, using: &random), on: link)
                }
            case 8..<14:
                guard let index = live.indices.randomElement(using: &random) else { break }
                let (request, link) = live.remove(at: index)
                var answer = answers[Int.random(in: 0..<answers.count, using: &random)]
                // Some servers say their time, and some clocks are wrong.
                if Bool.random(using: &random) {
                    answer.time = world.now.wall + (Int.random(in: 0..<8, using: &random) == 0 ? 3_600_000 : 0)
                }
                let said = request.messages.map { _ in answer }
                dispatcher.answered(request, said, on: link, at: world.now)
            case 14:
                guard let index = live.indices.randomElement(using: &random) else { break }
                let (request, link) = live.remove(at: index)
                dispatcher.failed(request, wasRead: .random(using: &random), on: link, at: world.now)
            case 15: if let link = open.randomElement(using: &random) { dispatcher.goingAway(link) }
            case 16: if let link = open.randomElement(using: &random) { lose(link) }
            case 17:
                if let link = open.randomElement(using: &random) {
                    dispatcher.allowed(.random(in: 0...5, using: &random), on: link)
                }
            default:
                world.now.uptime += .random(in: 0...5000, using: &random)
                // The system's clock may be set.
                world.now.wall = UInt64(Int(world.now.wall) + Int.random(in: -10_000...15_000, using: &random))
            }
            act()
        }
        if Bool.random(using: &random) { dispatcher.stop() }
        // The far end is dead from now on: everything ends alone.
        for link in dialling { dispatcher.lost(link, "no", at: world.now) }
        dialling = []
        var rounds = 0
        while dispatcher.unanswered > 0, rounds < 2000 {
            rounds += 1
            for link in dialling { dispatcher.lost(link, "no", at: world.now) }
            dialling = []
            guard let wake = dispatcher.wakeTime(at: world.now) else {
                Issue.record("seed \(seed): it sleeps for good")
                return
            }
            let pause = max(1, wake - min(wake, world.now.uptime))
            world.now.uptime += pause
            world.now.wall += pause
            act()
        }
        #expect(dispatcher.unanswered == 0, "seed \(seed)")
        #expect(dispatcher.answers.map(\.message.number).sorted() == added, "seed \(seed)")
    }
}
